create type public.logloom_log_tail as (
  logs public.logloom_log_record[],
  next_cursor text,
  more boolean
);

comment on type public.logloom_log_tail is
  'Records in the order in which they became visible; more: whether others wait already.';

-- Records of the write sequences from p_first to p_last, of the first one those after p_id where it
-- is given, in the order in which they became visible. Large ones are null, or with p_fits those
-- after p_bytes.
create function logloom_private.log_tail_sql(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_limit integer,
  p_first bigint,
  p_id uuid,
  p_last bigint,
  p_bytes bigint,
  p_fits boolean
)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_days timestamptz[];
  v_filter text;
  v_write_seqs text;
  v_rows text;
  v_is_sealed boolean;
begin
  select array_agg(distinct a.day::timestamp at time zone 'UTC') into v_days
  from logloom_private.log_writes a
  where a.write_seq >= p_first;
  v_write_seqs := format('l.write_seq between %s and %s and ', p_first, p_last);
  if p_id is not null then
    v_write_seqs := v_write_seqs
      || format('(l.write_seq > %s or l.id > %L::uuid) and ', p_first, p_id);
  end if;
  v_filter := v_write_seqs;
  -- Day by day, so that one late event does not bring in all days between. A client that was away
  -- for so long that there are many of them reads from the first to the last.
  if cardinality(v_days) <= 31 then
    v_filter := v_filter || '(' || (
      select string_agg(
        format('l.ts >= %L::timestamptz and l.ts < %L::timestamptz', d.day, d.day + '24 hours'),
        ' or '
      )
      from unnest(v_days) d (day)
    ) || ') and ';
  end if;
  v_rows := logloom_private.rows_sql(
    p_tenant_id, v_days[1], v_days[cardinality(v_days)] + interval '24 hours',
    v_filter || p_query.filter, null
  );
  -- What a client that was away for long missed may be sealed by now.
  v_is_sealed := exists (
    select
    from logloom_private.blocks c
    where c.tenant_id = p_tenant_id and c.last_write_seq >= p_first and c.first_write_seq <= p_last
  );
  v_rows := case when v_is_sealed then
        'from (select l.* ' || v_rows
        || ' union all select ' || logloom_private.sized_columns_sql()
        || ' from logloom_private.sealed_write_seqs('
        || format(
          '%s, %L, %L, %L, %L, %L, %L, %L',
          logloom_private.scanned_tenant_sql(quote_literal(p_tenant_id)), p_first, p_id, p_last,
          logloom_private.kept_from(p_tenant_id), p_query.tree, p_limit, p_bytes
        )
        || ') l) l'
      else
        v_rows
      end
    || ' order by l.write_seq, l.id limit ' || p_limit;
  return case when p_fits
    then logloom_private.fitting_sql(
      logloom_private.log_columns_sql(), ', l.write_seq, l.id', v_rows, 'l.write_seq, l.id', p_bytes
    )
    else logloom_private.small_sql(
      logloom_private.log_columns_sql(), ', l.write_seq, l.id', v_rows, p_limit, p_bytes
    ) end;
end;
$$;

-- Without statistics of a new day the planner takes the index for useless: no sequential scans.
create function logloom_private.read_log_tail(
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
-- definer because a filter drives an index only where row-level security does not stand between
declare
  v_tenant_id constant text := logloom_private.resolve_tenant();
  v_limit constant integer := logloom_private.page_limit(p_limit);
  v_query logloom_private.compiled_query;
  v_last bigint;
  v_after text[];
  v_tail logloom_private.log_tail;
begin
  perform logloom_private.take_search_slot(v_tenant_id);
  if p_backlog not between 0 and (select s.list_limit_max from logloom_private.settings s) then
    perform logloom_private.refuse(
      'search.backlog_is_out_of_range',
      (select s.list_limit_max from logloom_private.settings s)::text
    );
  end if;
  v_query := logloom_private.search_query(p_query_dsl, now(), 'filter');
  select coalesce(max(a.write_seq), 0) into v_last from logloom_private.log_writes a;
  if p_cursor is null then
    v_tail.first := v_last + 1;
    -- Write sequences and records are of one snapshot: what is not here yet comes after this
    -- cursor.
    if p_backlog > 0 then
      v_tail.logs := array(
        select l
        from unnest((
          logloom_private.found_page(
            v_tenant_id, v_query,
            -- An event lies 24 hours ahead at most.
            tstzrange(
              now() - (select s.tail_backlog_span from logloom_private.settings s),
              now() + interval '25 hours'
            ),
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
    -- All of the last write sequence was seen. The days of later ones may be gone.
    v_tail.first := greatest(v_last + 1, v_tail.first);
    v_tail.id := null;
  end if;
  return row(
    v_tail.logs,
    logloom_private.encode_cursor(array['tail', v_tail.first::text, v_tail.id::text]), v_tail.more
  )::public.logloom_log_tail;
exception
when query_canceled or lock_not_available then
  perform logloom_private.refuse_slow_search();
  return null;
when connection_exception or admin_shutdown or internal_error then
  if not logloom_private.reads_again(sqlstate, sqlerrm) then
    raise;
  end if;
  return logloom_private.read_log_tail(p_query_dsl, p_cursor, p_limit, p_backlog);
end;
$$;

grant execute on function logloom_private.read_log_tail(text, text, integer, integer)
to authenticated, service_role;

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
  return logloom_private.read_log_tail(p_query_dsl, p_cursor, p_limit, p_backlog);
end;
$$;

comment on function public.tail_logs(text, text, integer, integer) is
  'Records that match p_query_dsl as they become visible, late ones included. Without p_cursor: '
  'the newest p_backlog (0 to 1000, default 0) records of the last 24 hours, oldest first, of '
  'large ones as many as make 8 MB, and the cursor of now. p_limit 1 to 1000 (default 100). '
  'Errors: PT400, PT401, PT408.';
