-- Per UTC day since p_from, what a tenant sent, the queue included.
create function logloom_private.usage_of(p_tenant_id text, p_from date)
returns setof public.logloom_usage_day
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_state record;
  v_sql text;
begin
  -- One snapshot: a batch is either in usage_days or after metered_through.
  select
    p.open_slot, p.closed_slot, p.metered_through,
    array(
      select row(u.day, u.events, u.bytes)::public.logloom_usage_day
      from logloom.usage_days u
      where u.tenant_id = p_tenant_id and u.day >= p_from
    ) as metered
  into v_state
  from logloom_private.queue_pointer p;
  -- By the slots' own names: the third slot is never locked, so it can be truncated meanwhile.
  v_sql := (
    select string_agg(
      format(
        'union all
         select (q.received_at at time zone ''UTC'')::date, q.events, q.bytes
         from logloom_private.%I q where q.tenant_id = $1 and q.batch_id > $2',
        'queue_slot_' || s.slot
      ),
      ' '
    )
    from unnest(array[v_state.open_slot, v_state.closed_slot]) s (slot)
    where s.slot is not null
  );
  return query execute
    'select u.day, sum(u.events)::bigint, sum(u.bytes)::bigint
     from (select m.day, m.events, m.bytes from unnest($3) m ' || v_sql || ') u
     where u.day >= $4
     group by u.day'
  using p_tenant_id, v_state.metered_through, v_state.metered, p_from;
end;
$$;
