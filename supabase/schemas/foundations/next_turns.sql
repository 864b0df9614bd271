-- A piece of work for an edge function. It is in progress, or due since due_at. customer: the
-- tenant's customer whose work it is; null: it is the tenant's own.
create type logloom_private.tenant_work as (
  id uuid,
  tenant_id text,
  due_at timestamptz,
  is_under_way boolean,
  customer text
);

-- Chooses the due work that may start now. At most p_open_limit pieces are in progress at a time.
-- The tenant with the fewest pieces in progress comes first. Each tenant leaves as many places free
-- as it takes. So a receiver that hangs does not delay other tenants and cannot take every place. A
-- tenant's own work does not wait for its customers' work. The customers take turns.
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
    with turns as (
      select
        w.*, count(*) filter (where w.is_under_way) over () as under_way,
        count(*) filter (where w.is_under_way) over (partition by w.tenant_id, w.customer)
          + row_number() over (
            partition by w.tenant_id, w.customer, w.is_under_way order by w.due_at
          ) as own_place
      from unnest(p_work) w
    ), placed as (
      select t.*, case
        when t.customer is null then t.own_place
        else count(*) filter (where t.is_under_way) over (partition by t.tenant_id)
          + row_number() over (
            partition by t.tenant_id, t.is_under_way
            order by t.customer is not null, t.own_place, t.due_at
          )
      end as place
      from turns t
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
-- The factor is at most 3^20, so the interval does not overflow. p_longest is shorter anyway.
return (0.8 + 0.4 * random()) * least(p_first * power(3, least(p_attempts - 1, 20)), p_longest);
