-- A piece of a tenant's work for an edge function. It is in progress, or due since due_at.
create type logloom_private.tenant_work as (
  id uuid,
  tenant_id text,
  due_at timestamptz,
  is_under_way boolean
);

-- Chooses the due work that may start now. At most p_open_limit pieces are in progress at a time.
-- The tenant with the fewest pieces in progress comes first. Each tenant leaves as many places free
-- as it takes. So a receiver that hangs does not delay other tenants and cannot take every place.
create function logloom_private.next_turns(
  p_work logloom_private.tenant_work[],
  p_open_limit integer,
  p_limit integer
)
returns uuid[]
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return array(
    with placed as (
      select
        w.*, count(*) filter (where w.is_under_way) over () as under_way,
        count(*) filter (where w.is_under_way) over (partition by w.tenant_id)
          + row_number() over (
            partition by w.tenant_id, w.is_under_way order by w.due_at
          ) as place
      from unnest(p_work) w
    ), numbered as (
      select p.*, row_number() over (order by p.place, p.due_at) as taken
      from placed p
      where not p.is_under_way
    )
    select n.id
    from numbered n
    where n.place + n.taken <= p_open_limit - n.under_way + 1
    order by n.taken
    limit p_limit
  );
end;
$$;

-- Returns how long to wait after p_attempts attempts: each time three times longer, at most
-- p_longest. Varies by 20 % up or down, so work that failed together is not retried together.
create function logloom_private.back_off(p_attempts integer, p_first interval, p_longest interval)
returns interval
language sql
volatile
-- The factor is at most 3^20: the interval does not overflow. By then p_longest applies.
return (0.8 + 0.4 * random()) * least(p_first * power(3, least(p_attempts - 1, 20)), p_longest);
