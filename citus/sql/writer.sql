-- Notes counts, days, write sequences and services of the records that insert_records sends to the
-- nodes, in the same transaction. Citus writes an insert twice (to a file, then as rows) if it
-- returns rows or may meet a conflict. So the writer's insert does neither. The columns for the
-- counts are read from the queue again.
create or replace function logloom_citus.note_records(
  p_slot smallint,
  p_batch_from bigint,
  p_batch_to bigint,
  p_index_from integer,
  p_index_to integer,
  p_write_seq bigint
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set work_mem = '64MB'
as $$
declare
  v_slot constant text := 'queue_slot_' || p_slot;
  v_tenant_ids text[];
  v_days date[];
  v_noted_tenant_ids text[];
  v_noted_days date[];
  v_new_tenant_ids text[];
  v_new_days date[];
begin
  -- If a batch is within one day, ts_min gives the day.
  execute format(
    $query$
      select array_agg(d.tenant_id), array_agg(d.day)
      from (
        select q.tenant_id, (q.ts_min at time zone 'UTC')::date as day
        from logloom_private.%1$I q
        where q.batch_id between $1 and $2 and cardinality(q.ts) >= $3
          and (q.ts_min at time zone 'UTC')::date = (q.ts_max at time zone 'UTC')::date
        union
        select q.tenant_id, (coalesce(e.ts, q.received_at) at time zone 'UTC')::date
        from logloom_private.%1$I q, unnest(q.ts[$3:$4]) e (ts)
        where q.batch_id between $1 and $2
          and (q.ts_min at time zone 'UTC')::date < (q.ts_max at time zone 'UTC')::date
      ) d
    $query$,
    v_slot
  )
  into v_tenant_ids, v_days
  using p_batch_from, p_batch_to, p_index_from, p_index_to;
  insert into logloom_private.log_writes (write_seq, day)
  select distinct p_write_seq, d.day
  from unnest(v_days) d (day)
  on conflict do nothing;
  -- This is a separate query, because Citus would write the arrays into the insert as text.
  select array_agg(d.tenant_id), array_agg(d.day) into v_noted_tenant_ids, v_noted_days
  from logloom_private.log_days d
  where d.tenant_id = any (v_tenant_ids) and d.day = any (v_days);
  -- Usually all days are noted already.
  select array_agg(n.tenant_id), array_agg(n.day) into v_new_tenant_ids, v_new_days
  from (
    select a.tenant_id, a.day from unnest(v_tenant_ids, v_days) a (tenant_id, day)
    except
    select d.tenant_id, d.day from unnest(v_noted_tenant_ids, v_noted_days) d (tenant_id, day)
  ) n;
  if v_new_days is not null then
    insert into logloom_private.log_days (tenant_id, day)
    select n.tenant_id, n.day
    from unnest(v_new_tenant_ids, v_new_days) n (tenant_id, day)
    order by 1, 2
    on conflict do nothing;
  end if;
  execute 'insert into logloom_private.log_counts '
    || '(tenant_id, minute, service, level, is_other, events) '
    || logloom_private.added_counts_sql(format(
      $query$
        (
          select
            e.tenant_id, date_bin('1 minute', coalesce(e.ts, e.received_at), 'epoch') as minute,
            e.service, e.level, count(*) as events
          from (
            select
              q.tenant_id, q.received_at, generate_series(1, cardinality(q.ts)) as i,
              unnest(q.ts) as ts, unnest(q.service) as service, unnest(q.level) as level
            from logloom_private.%I q
            where q.batch_id between $1 and $2
          ) e
          where e.i between $3 and $4
          group by 1, 2, 3, 4
        )
      $query$,
      v_slot
    ))
  using p_batch_from, p_batch_to, p_index_from, p_index_to;
  execute format(
    $query$
      select logloom_private.count_services(array(
        select (
          q.tenant_id, q.received_at at time zone 'UTC', e.service, count(*), sum(e.bytes)
        )::logloom_private.service_count
        from logloom_private.%I q
        cross join unnest(q.ts[$3:$4], q.service[$3:$4], q.record_bytes[$3:$4])
          e (ts, service, bytes)
        where q.batch_id between $1 and $2
        group by q.tenant_id, q.received_at, e.service
      ))
    $query$,
    v_slot
  )
  using p_batch_from, p_batch_to, p_index_from, p_index_to;
end;
$$;

-- Citus inserts by COPY, and COPY uses two-phase commit.
create or replace function logloom_citus.insert_records(
  p_slot smallint,
  p_batch_from bigint,
  p_batch_to bigint,
  p_index_from integer,
  p_index_to integer,
  p_write_seq bigint
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set work_mem = '64MB'
as $$
declare
  v_slot constant text := 'queue_slot_' || p_slot;
  v_overlap boolean;
begin
  -- One connection for each node, not for each shard, because every run opens new connections.
  perform set_config('citus.multi_shard_modify_mode', 'sequential', true);
  -- Finds out whether batches of a tenant overlap in ts. If they do, sorted batches do not give
  -- sorted events.
  execute format(
    $query$
      select exists (
        select
        from (
          select q.ts_min, max(q.ts_max) over (
            partition by q.tenant_id collate "C" order by q.ts_min, q.batch_id
            rows between unbounded preceding and 1 preceding
          ) as ts_before
          from logloom_private.%I q
          where q.batch_id between $1 and $2
        ) b
        where b.ts_min < b.ts_before
      )
    $query$,
    v_slot
  )
  into v_overlap
  using p_batch_from, p_batch_to;
  -- Inserts the records before anything else. Citus does not use two-phase commit on a connection
  -- that has only read. A node killed during the commit would lose the records. Batches are sorted
  -- and their events go straight to the nodes. If batches overlap, the events are sorted: a search
  -- then reads consecutive pages.
  execute format(
    $query$
      insert into logloom.logs (
        id, tenant_id, ts, received_at, write_seq, %2$s, record_bytes
      )
      select
        (e.id_prefix || lpad(to_hex(e.i - 1), 4, '0'))::uuid,
        e.tenant_id, coalesce(e.ts, e.received_at), e.received_at, $5, %3$s, e.record_bytes
      from (
        select
          q.id_prefix, q.tenant_id, q.received_at, generate_series(1, cardinality(q.ts)) as i,
          unnest(q.ts) as ts, %4$s, unnest(q.record_bytes) as record_bytes
        from (
          select b.*, left(b.batch_key::text, 32) as id_prefix
          from logloom_private.%1$I b
          where b.batch_id between $1 and $2
          order by b.tenant_id collate "C", b.ts_min
          offset 0
        ) q
      ) e
      where e.i between $3 and $4
      %5$s
    $query$,
    v_slot, logloom_private.written_fields_sql('%1$s'),
    logloom_private.written_fields_sql('e.%1$s%2$s'),
    logloom_private.written_fields_sql('unnest(q.%1$s) as %1$s'),
    case when v_overlap then 'order by e.tenant_id collate "C", coalesce(e.ts, e.received_at)' end
  )
  using p_batch_from, p_batch_to, p_index_from, p_index_to, p_write_seq;
  perform logloom_citus.note_records(
    p_slot, p_batch_from, p_batch_to, p_index_from, p_index_to, p_write_seq
  );
end;
$$;
