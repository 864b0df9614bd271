-- Makes the partitions of past days that the batches need.
create function logloom_private.create_missing_partitions(
  p_slot smallint,
  p_batch_from bigint,
  p_batch_to bigint
)
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_day date;
  v_first_day date;
  v_last_day date;
begin
  execute format(
    'select logloom_private.utc_day(min(q.ts_min)), logloom_private.utc_day(max(q.ts_max))
     from logloom_private.%I q where q.batch_id between $1 and $2',
    'queue_slot_' || p_slot
  )
  into v_first_day, v_last_day
  using p_batch_from, p_batch_to;
  -- Nearly always the days between the outermost events exist; only else is each event looked at.
  if v_last_day - v_first_day < 3 then
    for i in 0..v_last_day - v_first_day loop
      exit when not logloom_private.partition_exists(v_first_day + i);
      if v_first_day + i = v_last_day then
        return;
      end if;
    end loop;
  end if;

  for v_day in
    execute format(
      $query$
        select distinct (coalesce(e.ts, q.received_at) at time zone 'UTC')::date
        from logloom_private.%I q, unnest(q.ts) e (ts)
        where q.batch_id between $1 and $2
      $query$,
      'queue_slot_' || p_slot
    )
    using p_batch_from, p_batch_to
  loop
    perform logloom_private.create_partition(v_day);
  end loop;
end;
$$;

-- What is counted is read from the queue a second time, of the counts' columns alone, and goes to
-- the nodes as it is counted. Keeps counts, days and write sequences of records that
-- insert_records, with the same parameters, sends to nodes.
create function logloom_private.note_spread_range(
  p_slot smallint,
  p_batch_from bigint,
  p_batch_to bigint,
  p_index_from integer,
  p_index_to integer,
  p_write_seq bigint
)
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
set work_mem = '64MB'
as $$
declare
  v_slot constant text := 'queue_slot_' || p_slot;
  v_tenant_ids text[];
  v_days date[];
begin
  -- A batch within a day says itself which day it is.
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
  perform logloom_private.note_spread_days(v_tenant_ids, v_days, p_write_seq);
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
end;
$$;

-- Whether of a tenant's batches one began before another one had ended, by ts: put in order as
-- batches, their events would not be in order.
create function logloom_private.has_batches_that_overlap(
  p_slot smallint,
  p_batch_from bigint,
  p_batch_to bigint
)
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_overlap boolean;
begin
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
    'queue_slot_' || p_slot
  )
  into v_overlap
  using p_batch_from, p_batch_to;
  return v_overlap;
end;
$$;

-- Inserts the events of the batches, of each those from one 1-based index to another.
create function logloom_private.insert_records(
  p_slot smallint,
  p_batch_from bigint,
  p_batch_to bigint,
  p_index_from integer,
  p_index_to integer,
  p_write_seq bigint
)
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
set work_mem = '64MB'
as $$
declare
  v_slot constant text := 'queue_slot_' || p_slot;
  v_names constant text := logloom_private.written_fields_sql('%1$s');
begin
  -- Tenant by tenant, which packs the pages of the primary key, in the order that is cheapest to
  -- make; cast, so that what breaks a rule fails here.
  if not logloom_private.is_spread() then
    execute logloom_private.added_records_sql(format(
      $query$
        insert into logloom.logs as l (
          id, tenant_id, ts, received_at, write_seq, %2$s, record_bytes
        )
        select
          (q.id_prefix || lpad(to_hex(e.i - 1), 4, '0'))::uuid,
          q.tenant_id, coalesce(e.ts, q.received_at) as ts, q.received_at, $5, %3$s, e.record_bytes
        from (
          -- Made once a batch, not once an event: that is what offset 0 is for.
          select b.*, left(b.batch_key::text, 32) as id_prefix
          from logloom_private.%1$I b
          where b.batch_id between $1 and $2
          offset 0
        ) q, unnest(q.ts, %4$s, q.record_bytes) with ordinality e (ts, %2$s, record_bytes, i)
        where e.i between $3 and $4
        order by q.tenant_id collate "C", ts
      $query$,
      v_slot, v_names, logloom_private.written_fields_sql('e.%1$s%2$s'),
      logloom_private.written_fields_sql('q.%1$s')
    ))
    using p_batch_from, p_batch_to, p_index_from, p_index_to, p_write_seq;
    return;
  end if;
  -- One connection a node, not one a shard: each run's are new, and cost more than they save.
  perform set_config('citus.multi_shard_modify_mode', 'sequential', true);
  -- The records first: what Citus copies over a connection that has only read before, it does not
  -- prepare, and a node that is killed while it is told of the commit would lose it. Batches are
  -- put in order, and each event goes straight from its batch to its node, unless the events of
  -- several batches mix: what a search reads in order shall lie in order, page after page.
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
    v_slot, v_names, logloom_private.written_fields_sql('e.%1$s%2$s'),
    logloom_private.written_fields_sql('unnest(q.%1$s) as %1$s'),
    case
      when logloom_private.has_batches_that_overlap(p_slot, p_batch_from, p_batch_to)
        then 'order by e.tenant_id collate "C", coalesce(e.ts, e.received_at)'
      else ''
    end
  )
  using p_batch_from, p_batch_to, p_index_from, p_index_to, p_write_seq;
  perform logloom_private.note_spread_range(
    p_slot, p_batch_from, p_batch_to, p_index_from, p_index_to, p_write_seq
  );
end;
$$;
