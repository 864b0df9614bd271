-- What a tenant has in the queue and not yet in logloom.usage_days, per UTC day. The pointer must
-- come from the same snapshot as the rows of logloom.usage_days that it is added to.
create function logloom_private.unmetered_usage(
  p_tenant_id text,
  p_pointer logloom_private.queue_pointer
)
returns setof public.logloom_usage_day
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_slot smallint;
begin
  foreach v_slot in array array_remove(array[p_pointer.open_slot, p_pointer.closed_slot], null) loop
    -- By the slot's own name: the third slot is never locked, so it can be truncated meanwhile.
    return query execute format(
      $query$
        select (q.received_at at time zone 'UTC')::date, sum(q.events), sum(q.bytes)
        from logloom_private.%I q
        where q.tenant_id = $1 and q.batch_id > $2
        group by 1
      $query$,
      'queue_slot_' || v_slot
    )
    using p_tenant_id, p_pointer.metered_through;
  end loop;
end;
$$;
