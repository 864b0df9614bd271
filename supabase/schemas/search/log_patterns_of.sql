-- Patterns: messages by their shape. What differs from event to event, numbers, ids, addresses and
-- times, is <*>.

-- The shape of a message in two steps. The first is quick and is done for every record: from a
-- digit to the last one of its run, hexadecimal letters and what stands inside times, addresses
-- and paths of numbers included. The second looks at each different result of the first only: the
-- letters that stick to it are those of an id, of a zone or of a month.
create function logloom_private.rough_shape_sql(p_value text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return 'regexp_replace(left(' || p_value || ', 1000) collate "C", '
    || '''[0-9](?:[0-9a-fA-F.:,/+T-]*[0-9])?'', ''<*>'', ''g'')';
end;
$$;

create function logloom_private.shape(p_rough text)
returns text
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_shape text := p_rough;
begin
  if strpos(v_shape, '<*>') = 0 then
    return v_shape;
  end if;
  -- Ids: hexadecimal letters around digits, or letters between them.
  v_shape := regexp_replace(
    v_shape collate "C",
    '(?:\m[a-fA-F]{1,16}-?)?<\*>(?:[A-Za-z_-]{0,16}<\*>)+(?:-?[a-fA-F]{1,16}\M)?'
      || '|\m[a-fA-F]{1,16}<\*>(?:-?[a-fA-F]{1,16}\M)?|<\*>-?[a-fA-F]{1,16}\M|<\*>Z\M',
    '<*>', 'g'
  );
  -- Addresses of IPv6, dates with the name of the month, lists of numbers.
  v_shape := regexp_replace(
    v_shape collate "C",
    '(?:[a-fA-F]{0,4}:{1,2})*<\*>(?::{1,2}(?:[a-fA-F]{1,4}|<\*>))+'
      || '|(?:<\*>[ /-])?\m(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\M[ /-]{1,2}<\*>'
      || '|<\*>(?:, ?<\*>)+',
    '<*>', 'g'
  );
  return v_shape;
end;
$$;

-- The shapes of the messages that a query finds, of the newest search_stage_records.
create function logloom_private.log_patterns_of(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_range tstzrange,
  p_limit integer
)
returns setof public.logloom_log_stat
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_bound constant integer := (
    select s.search_stage_records from logloom_private.settings s
  );
  v_columns constant jsonb := jsonb_build_object(
    'count', 'p.count', 'first', 'p.first', 'last', 'p.last', 'pattern', 'p.pattern collate "C"'
  );
  v_time constant text := 'to_char(p.%s, ''YYYY-MM-DD"T"HH24:MI:SS.US"Z"'')';
  v_rows text;
begin
  -- The newest, for there may be more than can be looked at.
  v_rows := logloom_private.first_records_sql(
    p_tenant_id, logloom_private.bound_query(p_tenant_id, p_query, p_range), v_bound + 1, 'desc',
    p_reads => case when p_query.plan ? 'rows' then null else array['msg'] end
  );
  return query execute
    'with records as (select l.ts, l.msg '
      || logloom_private.staged_sql(p_query, 'from (select l.* ' || v_rows || ') l')
    || '), rough as (select ' || logloom_private.rough_shape_sql('r.msg') || ' as shape, '
      || 'count(*) as count, min(r.ts) as first, max(r.ts) as last, '
      || 'min(left(r.msg, 1000) collate "C") as example from records r group by 1'
    || '), patterns as (select logloom_private.shape(r.shape) as pattern, '
      || 'sum(r.count)::double precision as count, min(r.first) as first, max(r.last) as last, '
      || 'min(r.example) as example from rough r group by 1) '
    || 'select jsonb_build_object(''pattern'', p.pattern), p.count, jsonb_build_object('
      || '''count'', p.count, ''first'', ' || format(v_time, 'first') || ', ''last'', '
      || format(v_time, 'last') || ', ''example'', p.example), count(*) over (), '
      || 'case when (select sum(c.count) from patterns c) > $2 then $1 || row($3, $4, $5)'
      || '::public.logloom_query_warning else $1 end from patterns p '
    || logloom_private.chosen_rows_sql(
      p_query.plan, v_columns, 'p.count desc, p.pattern collate "C"', p_limit
    )
  using
    array(
      select w
      from jsonb_populate_recordset(null::public.logloom_query_warning, p_query.warnings) w
    ),
    v_bound,
    (p_query.plan -> 'first' -> 'position')::integer,
    format('patterns reached its limit of %s records: these are the newest', v_bound),
    'Narrow the filter or the range of time.';
end;
$$;
