-- Seam: inserts the events of the batches, of each those from one 1-based index to another, with
-- their counts, days and write sequences.
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
begin
  -- Tenant by tenant in the order of ts, which packs the pages of the primary key: by one number,
  -- since a second key is read from the record again at each comparison. Cast, so that what breaks
  -- a rule fails here.
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
          -- Made once a batch, not once an event: that is what offset 0 is for.
          select
            b.*, left(b.batch_key::text, 32) as id_prefix,
            -- Three years apart: with thousands of tenants still exact to 0.1 ms.
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
  ))
  using p_batch_from, p_batch_to, p_index_from, p_index_to, p_write_seq;
end;
$$;
