-- Moves a tail over the next p_records records, whether they match or not. Called when a search for
-- matching records took too long. more: true if there were any records.
create function logloom_private.examine_log_tail(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_records integer,
  p_last bigint,
  p_tail logloom_private.log_tail
)
returns logloom_private.log_tail
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_all logloom_private.compiled_query;
  v_found public.logloom_log_record[];
  v_first bigint;
  v_id uuid;
begin
  v_all.tree := '{"type": "all"}';
  v_all.filter := 'true';
  execute 'with piece as materialized (select l.*, ' || p_query.filter || ' as is_found '
    || logloom_private.source_sql(logloom_private.log_tail_rows_sql(
      p_tenant_id, v_all, p_records, p_tail.first, p_tail.id, p_last,
      logloom_private.sealed_tail_sql(
        p_tenant_id, v_all, p_records, p_tail.first, p_tail.id, p_last, 9223372036854775807
      )
    ))
    || '), found as materialized ('
    || logloom_private.page_sql(
      p_query,
      logloom_private.masked_sql(
        p_query, logloom_private.rows_from('piece l', 'l.is_found', 'l.write_seq, l.id')
      ),
      p_records, (select s.max_page_bytes from logloom_private.settings s),
      p_others => ', l.write_seq, l.id'
    )
    || ') select array(select f.record from found f where f.record is distinct from null '
    || 'order by f.write_seq, f.id), o.write_seq, o.id '
    || 'from (select 1) _ left join lateral (select p.write_seq, p.id from piece p '
    || 'where (p.write_seq, p.id) < all ('
    || 'select f.write_seq, f.id from found f where f.record is not distinct from null) '
    || 'order by 1 desc, 2 desc limit 1) o on true'
  into v_found, v_first, v_id;
  p_tail.logs := p_tail.logs || v_found;
  p_tail.more := v_first is not null;
  p_tail.first := coalesce(v_first, p_tail.first);
  p_tail.id := v_id;
  return p_tail;
end;
$$;

-- Moves a tail on until it has p_limit matching records or max_page_bytes, or search_page_time
-- ends. Reads more and more writer steps at a time. So one page does not read everything that a
-- client missed.
create function logloom_private.advance_log_tail(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_limit integer,
  p_last bigint,
  p_tail logloom_private.log_tail
)
returns logloom_private.log_tail
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_page_time constant interval := (select s.search_page_time from logloom_private.settings s);
  v_deadline timestamptz := clock_timestamp() + v_page_time;
  v_steps bigint := 4;
  v_step_last bigint;
  v_left bigint;
  v_bytes bigint := (select s.max_page_bytes from logloom_private.settings s);
  v_found public.logloom_log_record[];
  v_write_seqs bigint[];
  v_has_moved boolean := false;
  v_records integer := 4;
  v_began_at timestamptz;
begin
  begin
    while p_tail.first <= p_last loop
      v_step_last := least(p_tail.first + v_steps - 1, p_last);
      v_left := p_limit + 1 - cardinality(p_tail.logs);
      for v_fits in 0..1 loop
        execute 'select coalesce(array_agg(r.record), ''{}''), array_agg(r.write_seq) from ('
          || logloom_private.log_tail_sql(
            p_tenant_id, p_query, v_left::integer, p_tail.first, p_tail.id, v_step_last,
            case v_fits when 0 then v_bytes * v_left / (p_limit + 1)
              else v_bytes - logloom_private.answered_bytes(p_tail.logs) end,
            v_fits = 1
          )
          || ') r'
        into v_found, v_write_seqs;
        exit when array_position(v_found, null) is null;
      end loop;
      v_has_moved := true;
      if array_position(v_found, null) is not null then
        v_found := array_remove(v_found, null);
      end if;
      if cardinality(p_tail.logs) + cardinality(v_found) > p_limit then
        v_found := v_found[1:p_limit - cardinality(p_tail.logs)];
      end if;
      p_tail.logs := case when p_tail.logs = '{}' then v_found else p_tail.logs || v_found end;
      if cardinality(v_found) < cardinality(v_write_seqs) then
        p_tail.more := true;
        -- Continue after the last record that was found in this step. If none fitted in the page,
        -- continue at the same place.
        if cardinality(v_found) > 0 then
          p_tail.first := v_write_seqs[cardinality(v_found)];
          p_tail.id := v_found[cardinality(v_found)].id;
        end if;
        v_found := null;
        return p_tail;
      end if;
      v_found := null;
      p_tail.first := v_step_last + 1;
      p_tail.id := null;
      p_tail.more := p_tail.first <= p_last;
      if clock_timestamp() > v_deadline then
        return p_tail;
      end if;
      v_steps := v_steps * 4;
    end loop;
    return p_tail;
  exception when query_canceled then
    p_tail.more := true;
  end;
  -- The search was cancelled: keep the records found so far. If there are none, read a few records
  -- without a timeout.
  v_deadline := clock_timestamp() + v_page_time;
  while not v_has_moved or (clock_timestamp() < v_deadline and cardinality(p_tail.logs) = 0) loop
    v_began_at := clock_timestamp();
    p_tail := logloom_private.examine_log_tail(
      p_tenant_id, p_query, least(v_records, p_limit), p_last, p_tail
    );
    v_has_moved := true;
    exit when not p_tail.more;
    -- No timeout stops the next read, so it must be small enough to end in time.
    if clock_timestamp() - v_began_at < v_page_time / 8 then
      v_records := least(v_records * 2, p_limit);
    end if;
  end loop;
  return p_tail;
end;
$$;

create type public.logloom_log_tail as (
  logs public.logloom_log_record[],
  next_cursor text,
  more boolean
);

comment on type public.logloom_log_tail is
  'Records in the order in which they became visible. more: true if more records are waiting.';

-- Sequential scans are off: without statistics of a new day the planner does not use the index.
create function logloom_private.read_log_tail(
  p_scope logloom_private.reading_scope,
  p_query_dsl text,
  p_cursor text,
  p_limit integer,
  p_backlog integer
)
returns public.logloom_log_tail
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
set jit = off
set enable_seqscan = off
as $$
-- definer because row-level security would keep filters from using indexes
declare
  v_scope constant logloom_private.reading_scope :=
    logloom_private.checked_scope(p_scope, 'tail_logs');
  v_tenant_id constant text := v_scope.tenant_id;
  v_limit constant integer := logloom_private.list_limit(
    p_limit, 'search.page_limit_is_out_of_range'
  );
  v_query logloom_private.compiled_query;
  v_last bigint;
  v_after text[];
  v_tail logloom_private.log_tail;
begin
  perform logloom_private.take_search_slot(v_scope);
  if p_backlog not between 0 and logloom_private.list_limit_max() then
    perform logloom_private.refuse(
      'search.backlog_is_out_of_range', logloom_private.list_limit_max()::text
    );
  end if;
  v_query := logloom_private.search_query(v_scope, p_query_dsl, now(), 'filter');
  select coalesce(max(a.write_seq), 0) into v_last from logloom_private.log_writes a;
  if p_cursor is null then
    v_tail.first := v_last + 1;
    -- Write sequences and records come from one snapshot. Records that are not visible yet come
    -- after this cursor.
    if p_backlog > 0 then
      v_tail.logs := array(
        select l
        from unnest((
          logloom_private.found_page(
            v_tenant_id, v_query,
            -- The ts of an event may be 24 hours ahead.
            tstzrange(now() - interval '24 hours', now() + interval '25 hours'),
            p_backlog, 'desc', null, null
          )
        ).logs) l
        order by l.ts, l.id
      );
    end if;
  else
    v_after := logloom_private.decode_cursor(
      p_cursor, '^tail (\d{1,18})(?: ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}))?$'
    );
    v_tail.first := v_after[1];
    v_tail.id := v_after[2];
    if v_tail.first > 1 + (select q.last_value from logloom_private.write_seq q) then
      perform logloom_private.refuse('search.cursor_lies_ahead');
    end if;
  end if;
  v_tail.logs := coalesce(v_tail.logs, '{}');
  v_tail.more := false;
  v_tail := logloom_private.advance_log_tail(v_tenant_id, v_query, v_limit, v_last, v_tail);
  if not v_tail.more then
    -- All up to v_last was read. If the newest days were dropped, v_last is before the cursor.
    v_tail.first := greatest(v_last + 1, v_tail.first);
    v_tail.id := null;
  end if;
  return row(
    v_tail.logs,
    logloom_private.encode_cursor(array['tail', v_tail.first::text, v_tail.id::text]), v_tail.more
  )::public.logloom_log_tail;
exception when query_canceled or lock_not_available then
  perform logloom_private.refuse('search.took_too_long');
  return null;
end;
$$;

create function public.tail_logs(
  p_query_dsl text default null,
  p_cursor text default null,
  p_limit integer default null,
  p_backlog integer default null
)
returns public.logloom_log_tail
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
set statement_timeout = '15s'
as $$
begin
  return logloom_private.read_log_tail(null, p_query_dsl, p_cursor, p_limit, p_backlog);
end;
$$;

comment on function public.tail_logs(text, text, integer, integer) is
  'Returns records that match p_query_dsl as they become visible, including late records. Without '
  'p_cursor it returns the current cursor and the newest p_backlog records (0 to 1000, default 0). '
  'These are of the last 24 hours, oldest first, up to 8 MB. p_limit 1 to 1000 (default 100). '
  'Errors: PT400, PT401, PT408.';
