-- Returns SQL for a tenant's newest p_limit records with ts >= p_from and (ts, id) < (p_ts, p_id).
-- p_staged_after: reads only staged records with a higher write_seq. Null: reads all rows and
-- sealed records.
create function logloom_private.alert_piece_sql(
  p_tenant_id text,
  p_from timestamptz,
  p_ts timestamptz,
  p_id uuid,
  p_limit integer,
  p_staged_after bigint
)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_to constant timestamptz := p_ts + interval '1 microsecond';
  v_rows logloom_private.sql_source := logloom_private.tenant_rows_sql(
    p_tenant_id, p_from, v_to,
    concat_ws(
      ' and ', 'l.write_seq > ' || p_staged_after,
      format('(l.ts, l.id) < (%L::timestamptz, %L::uuid)', p_ts, p_id)
    ),
    case when p_staged_after is null then 'logloom.logs' else 'pg_temp.alert_writes' end
  );
begin
  v_rows.order_sql := 'l.ts desc, l.id desc';
  v_rows.max_rows := p_limit;
  if p_staged_after is null and (
    logloom_private.reads_sealed(p_tenant_id, p_from, v_to)
    -- Records that may be sealed before the returned SQL runs.
    or p_from < clock_timestamp() - (select s.seal_after from logloom_private.settings s)
  ) then
    v_rows := logloom_private.with_sealed_sql(v_rows, format(
      'logloom_private.sealed_page(%L, %L, %L, %L, %L, %L, %L, %L)',
      p_tenant_id, p_from, v_to, '{"type": "all"}', p_limit, 'desc', p_ts, p_id
    ));
  end if;
  return 'select l.* ' || logloom_private.source_sql(v_rows);
end;
$$;

-- Reads the records of alert_piece_sql in pieces of about 20 to 80 ms. For each piece, runs the SQL
-- p_use; "found" in it has the records that pass p_filter (SQL with the alias l). is_complete:
-- false if the deadline passed or more than p_max_records were read before the end.
create function logloom_private.read_alert_pieces(
  p_tenant_id text,
  p_from timestamptz,
  p_before_ts timestamptz,
  p_before_id uuid,
  p_filter text,
  p_use text,
  p_deadline timestamptz,
  p_max_records bigint,
  p_staged_after bigint default null
)
returns logloom_private.alert_reading
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_piece_began timestamptz;
  v_ms double precision;
  v_size integer := 16;
  v_records bigint := 0;
  v_reading logloom_private.alert_reading;
begin
  v_reading.first_ts := p_before_ts;
  v_reading.first_id := coalesce(p_before_id, '00000000-0000-0000-0000-000000000000');
  loop
    v_piece_began := clock_timestamp();
    execute 'with piece as materialized (' || logloom_private.alert_piece_sql(
      p_tenant_id, p_from, v_reading.first_ts, v_reading.first_id, v_size, p_staged_after
    )
      || '), found as (select l.* from piece l where (' || p_filter || ')), used as (' || p_use
      || ') select c.records, o.ts, o.id, c.records < ' || v_size
      || ' from (select count(*) as records from piece) c '
      || 'left join (select ts, id from piece order by ts, id limit 1) o on true'
    into v_reading;
    v_records := v_records + v_reading.records;
    exit when v_reading.is_complete
      or clock_timestamp() > p_deadline
      or v_records > p_max_records;
    v_ms := logloom_private.milliseconds_since(v_piece_began);
    v_size := case
      when v_ms < 20 then least(v_size * 4, 4096)
      when v_ms > 80 then greatest(v_size / 4, 1)
      else v_size
    end;
  end loop;
  v_reading.records := v_records;
  return v_reading;
end;
$$;
