-- Returns whether the stream has not sent all of these rows.
create function logloom_private.lacks_rows(
  p_stream logloom.log_streams,
  p_rows logloom_private.sql_source
)
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_lacks_rows boolean;
begin
  p_rows.where_sql := p_rows.where_sql || format(
    ' and (l.write_seq > %s or l.write_seq = %s and l.id > %L::uuid)',
    p_stream.position_seq - (p_stream.position_id is null)::integer, p_stream.position_seq,
    p_stream.position_id
  );
  execute 'select exists (select ' || logloom_private.source_sql(p_rows) || ')' into v_lacks_rows;
  return v_lacks_rows;
end;
$$;

-- Returns the stream's query, or all records if the query no longer works in its view.
create function logloom_private.query_or_all(p_stream logloom.log_streams)
returns logloom_private.compiled_query
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return logloom_private.stream_query(p_stream);
exception
  when sqlstate 'PT400' or sqlstate 'PT403' then
    p_stream.query_dsl := null;
    p_stream.view_id := null;
    return logloom_private.stream_query(p_stream);
end;
$$;

-- Records a gap for each of these days. Called before their records are deleted.
create function logloom_private.add_gaps(
  p_stream logloom.log_streams,
  p_from date,
  p_through date
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into logloom.log_stream_failures (stream_id, tenant_id, kind, ts_from, ts_to, error)
  select
    p_stream.stream_id, p_stream.tenant_id, 'gap', logloom_private.day_start(p_from + d.n),
    logloom_private.day_start(p_from + d.n + 1),
    'Retention deleted records of this day before they were sent'
  from generate_series(0, p_through - p_from) d (n)
  on conflict do nothing;
end;
$$;

-- Called before retention deletes a day. Records a gap if the stream's query finds records of the
-- day that were not sent. Looks for unsent records without the query first, because most streams
-- have none. A damaged block counts as a gap, because its records cannot be read.
create function logloom_private.note_gap(p_stream logloom.log_streams, p_day date)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_from constant timestamptz := logloom_private.day_start(p_day);
  v_to constant timestamptz := logloom_private.day_start(p_day + 1);
  v_block logloom_private.blocks;
  v_lacks boolean := logloom_private.lacks_rows(
    p_stream, logloom_private.tenant_rows_sql(p_stream.tenant_id, v_from, v_to, 'true')
  ) and logloom_private.lacks_rows(
    p_stream,
    logloom_private.tenant_rows_sql(
      p_stream.tenant_id, v_from, v_to, (logloom_private.query_or_all(p_stream)).filter
    )
  );
begin
  if not v_lacks then
    for v_block in
      select b.*
      from logloom_private.blocks b
      where b.tenant_id = p_stream.tenant_id and b.last_ts >= v_from and b.first_ts < v_to
        and b.last_write_seq >= p_stream.position_seq
    loop
      v_lacks := v_block.damaged_at is not null or not logloom_private.block_is_intact(v_block)
        or bit_count(logloom_private.block_bits(
          v_block, (logloom_private.query_or_all(p_stream)).tree, v_from, v_to
        )) > 0;
      exit when v_lacks;
    end loop;
  end if;
  if v_lacks then
    perform logloom_private.add_gaps(p_stream, p_day, p_day);
  end if;
end;
$$;

-- Records gaps for the days that the tenant's retention has passed since the stream last read.
create function logloom_private.note_gaps_of_stream(p_stream logloom.log_streams)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_first_kept constant date := logloom_private.first_kept_day(
    p_stream.tenant_id, logloom_private.utc_day(now())
  );
begin
  -- A gap in the audit trail shows in the positions of the events around it.
  if p_stream.source = 'audit' or p_stream.kept_day = v_first_kept then
    return;
  end if;
  perform logloom_private.note_gap(p_stream, d::date)
  from generate_series(p_stream.kept_day, v_first_kept - 1, interval '1 day') d;
  update logloom.log_streams s set kept_day = v_first_kept where s.stream_id = p_stream.stream_id;
end;
$$;

-- Records gaps for a day that retention deletes: for p_tenant_ids, or, if a partition is dropped,
-- for all tenants with records of the day.
create function logloom_private.note_stream_gaps(
  p_day date,
  p_today date,
  p_tenant_ids text[] default null
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform logloom_private.note_gap(s, p_day)
  from logloom.log_streams s
  where s.source = 'logs' and s.position_seq <= logloom_private.last_write_seq()
    and (
      s.tenant_id = any (p_tenant_ids)
      or p_tenant_ids is null
      and (
        p_day < logloom_private.first_kept_day(s.tenant_id, p_today)
        or exists (select from logloom_private.storage t where t.limit_day = p_day)
      )
    );
end;
$$;
