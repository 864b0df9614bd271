-- Lists the fields of an event except ts, separated by commas. p_format formats each of them: %1$s
-- is the name, %2$s a cast. The cast is to a type with the rules of logloom.logs, so a bad value
-- fails while it is read.
create function logloom_private.written_fields_sql(p_format text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select string_agg(
      format(
        p_format, f.name,
        case f.name
          when 'level' then '::logloom_private.log_level'
          when 'attrs' then '::logloom_private.log_attrs'
        end
      ),
      ', ' order by f.ordinality
    )
    from unnest(logloom_private.record_fields()) with ordinality f
    where f.sent and f.name <> 'ts'
  );
end;
$$;

-- True if an error means that the event cannot be written. False if the database cannot write it at
-- the moment.
create function logloom_private.is_data_error(p_sqlstate text)
returns boolean
language sql
immutable
-- These classes of errors have other causes than the event, so the step is repeated later:
-- connection, rollback, access rule, resources, object state, operator, system, internal.
return left(p_sqlstate, 2) not in ('08', '25', '40', '42', '53', '55', '57', '58', 'XX');

-- Seam: inserts events of the batches p_batch_from to p_batch_to, with their counts, days and write
-- sequences, and counts them by service. Takes the events p_index_from to p_index_to (from 1) of
-- each batch.
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
set search_path = pg_catalog, pg_temp
set work_mem = '64MB'
as $$
declare
  v_slot constant text := 'queue_slot_' || p_slot;
  v_services logloom_private.service_count[];
begin
  -- Sorts by tenant and ts, which packs the pages of the primary key. Both are combined into one
  -- number: a second sort key would be read from the record at each comparison. The casts of level
  -- and attrs (written_fields_sql) make a bad value fail here.
  execute logloom_private.added_records_sql(format(
    $query$
      insert into logloom.logs as l (
        id, tenant_id, ts, received_at, write_seq, %2$s, record_bytes
      )
      select
        (e.id_prefix || lpad(to_hex(e.i - 1), 4, '0'))::uuid,
        e.tenant_id, coalesce(e.ts, e.received_at), e.received_at, $5, %3$s, e.record_bytes
      from (
        select
          q.id_prefix, q.tenant_seconds, q.tenant_id, q.received_at,
          generate_series(1, cardinality(q.ts)) as i,
          unnest(q.ts) as ts, %4$s, unnest(q.record_bytes) as record_bytes
        from (
          -- "offset 0" computes this once for each batch, not for each event.
          select
            b.*, left(b.batch_key::text, 32) as id_prefix,
            -- Each tenant's offset is 1e8 seconds (three years) above the one before: its records
            -- stay together. With 10,000 tenants a double is still exact to 0.1 ms.
            dense_rank() over (order by b.tenant_id collate "C") * 1e8::float8 as tenant_seconds
          from logloom_private.%1$I b
          where b.batch_id between $1 and $2
          offset 0
        ) q
      ) e
      where e.i between $3 and $4
      order by e.tenant_seconds + date_part('epoch', coalesce(e.ts, e.received_at))
    $query$,
    v_slot, logloom_private.written_fields_sql('%1$s'),
    logloom_private.written_fields_sql('e.%1$s%2$s'),
    logloom_private.written_fields_sql('unnest(q.%1$s) as %1$s')
  ), $result$
    array_agg((
      a.tenant_id, a.received_day at time zone 'UTC', a.service, a.events, a.record_bytes
    )::logloom_private.service_count)
  $result$)
  into v_services
  using p_batch_from, p_batch_to, p_index_from, p_index_to, p_write_seq;
  perform logloom_private.count_services(v_services);
end;
$$;

-- Calls insert_records. If an event makes it fail, tries the two halves, and so on until each
-- failing event is alone. Puts these events into dead_letters.
create function logloom_private.write_range(
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
as $$
declare
  v_code text;
  v_message text;
  v_batch_middle bigint;
  v_index_middle integer;
begin
  begin
    perform logloom_private.insert_records(
      p_slot, p_batch_from, p_batch_to, p_index_from, p_index_to, p_write_seq
    );
    return;
  exception when others then
    if not logloom_private.is_data_error(sqlstate) then
      raise;
    end if;
    v_code := sqlstate;
    v_message := sqlerrm;
  end;

  if p_batch_from < p_batch_to then
    v_batch_middle := (p_batch_from + p_batch_to) / 2;
    perform logloom_private.write_range(
      p_slot, p_batch_from, v_batch_middle, p_index_from, p_index_to, p_write_seq
    );
    perform logloom_private.write_range(
      p_slot, v_batch_middle + 1, p_batch_to, p_index_from, p_index_to, p_write_seq
    );
  elsif p_index_from < p_index_to then
    v_index_middle := (p_index_from + p_index_to) / 2;
    perform logloom_private.write_range(
      p_slot, p_batch_from, p_batch_to, p_index_from, v_index_middle, p_write_seq
    );
    perform logloom_private.write_range(
      p_slot, p_batch_from, p_batch_to, v_index_middle + 1, p_index_to, p_write_seq
    );
  else
    execute format(
      $query$
        with letter as (
          insert into logloom_private.dead_letters (
            id, tenant_id, ts, received_at, %2$s, error_code, error_message
          )
          select
            (left(q.batch_key::text, 32) || lpad(to_hex($2 - 1), 4, '0'))::uuid,
            q.tenant_id, coalesce(q.ts[$2], q.received_at), q.received_at,
            %3$s, $3, $4
          from logloom_private.%1$I q
          where q.batch_id = $1
        )
        select logloom_private.count_services(array[(
          q.tenant_id, q.received_at at time zone 'UTC', q.service[$2], 1, q.record_bytes[$2]
        )::logloom_private.service_count])
        from logloom_private.%1$I q
        where q.batch_id = $1
      $query$,
      'queue_slot_' || p_slot, logloom_private.written_fields_sql('%1$s'),
      logloom_private.written_fields_sql('q.%1$s[$2]')
    )
    using p_batch_from, p_index_from, v_code, v_message;
  end if;
end;
$$;
