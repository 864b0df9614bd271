create type public.logloom_log_tail as (
  logs public.logloom_log_record[],
  next_cursor text,
  more boolean
);

comment on type public.logloom_log_tail is
  'Records in the order in which they became visible; more: whether others wait already.';

-- Without statistics of a new day the planner takes the index for useless: no sequential scans.
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
-- definer because a filter drives an index only where row-level security does not stand between
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
  if p_backlog not between 0 and (select s.list_limit_max from logloom_private.settings s) then
    perform logloom_private.refuse(
      'search.backlog_is_out_of_range',
      (select s.list_limit_max from logloom_private.settings s)::text
    );
  end if;
  v_query := logloom_private.search_query(v_scope, p_query_dsl, now(), 'filter');
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
exception when query_canceled or lock_not_available or connection_exception or admin_shutdown
  or internal_error
then
  if not logloom_private.reads_again(sqlstate, sqlerrm) then
    raise;
  end if;
  return logloom_private.read_log_tail(p_scope, p_query_dsl, p_cursor, p_limit, p_backlog);
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
  'Records that match p_query_dsl as they become visible, late ones included. Without p_cursor: '
  'the newest p_backlog (0 to 1000, default 0) records of the last 24 hours, oldest first, of '
  'large ones as many as make 8 MB, and the cursor of now. p_limit 1 to 1000 (default 100). '
  'Errors: PT400, PT401, PT408.';
