-- What a caller asks for

-- The range that is asked for: [from, to), by default search_default_range to now. PT400.
create function logloom_private.search_range(p_ts_from timestamptz, p_ts_to timestamptz)
returns tstzrange
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_to constant timestamptz := coalesce(p_ts_to, now());
  v_from constant timestamptz := coalesce(
    p_ts_from, v_to - (select s.search_default_range from logloom_private.settings s)
  );
begin
  if not (v_from >= '1970-01-01T00:00:00Z' and v_to <= '9999-12-31T00:00:00Z') then
    perform logloom_private.refuse('search.range_leaves_the_years');
  elsif v_from >= v_to then
    perform logloom_private.refuse('search.range_is_empty');
  end if;
  return tstzrange(v_from, v_to);
end;
$$;

-- A relative bound of a further page is that of the first one, which its cursor knows.
-- A bound of a page's range, null where the cursor says it. PT400 where it is no time.
create function logloom_private.page_time(p_name text, p_text text, p_cursor text)
returns timestamptz
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_instant constant timestamptz := logloom_private.time_parameter(p_name, p_text);
begin
  if p_cursor is not null and logloom_private.trim_space(p_text) ~ '^now' then
    return null;
  end if;
  return v_instant;
end;
$$;

grant execute on function logloom_private.page_time(text, text, text)
to authenticated, service_role;

-- The page size of an operation with a cursor: p_limit or the default. PT400 when out of bounds.
create function logloom_private.page_limit(p_limit integer)
returns integer
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_max integer;
  v_default integer;
begin
  select s.list_limit_max, s.list_limit_default into v_max, v_default
    from logloom_private.settings s;
  if p_limit not between 1 and v_max then
    perform logloom_private.refuse('search.page_limit_is_out_of_range', v_max::text);
  end if;
  return coalesce(p_limit, v_default);
end;
$$;

-- What a query may hold that is asked for this: filter, records, rows, series, or any of them.
-- Compiles the query for who takes a filter alone, records (with stages), rows of aggregates,
-- series, or any. PT400 where the query holds what is not taken.
create function logloom_private.search_query(
  p_query_dsl text,
  p_now timestamptz,
  p_takes text
)
returns logloom_private.compiled_query
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_query logloom_private.compiled_query;
  v_makes_rows boolean;
  v_stage text;
begin
  v_query := logloom_private.compile_query(p_query_dsl, p_now);
  v_makes_rows := v_query.plan ?| array['aggregates', 'patterns'];
  if v_makes_rows and p_takes in ('filter', 'records') then
    perform logloom_private.refuse(
      'search.query_gives_no_records', coalesce(v_query.aggregate || '()', 'patterns')
    );
  end if;
  v_stage := case p_takes
    when 'filter' then v_query.plan -> 'first' ->> 'stage'
    when 'rows' then case when v_makes_rows then null
      when v_query.plan ? 'fields' then 'fields'
      when v_query.plan ? 'limit' then 'limit'
      when v_query.plan ? 'sort' then 'sort' end
    when 'series' then case
      when v_query.plan ? 'patterns' then 'patterns'
      when v_query.plan ? 'fields' then 'fields'
      when v_query.plan ? 'limit' then 'limit'
      when v_query.plan ? 'sort' then 'sort'
      when v_query.plan ? 'having' then 'where' end
  end;
  if v_stage is not null then
    perform logloom_private.refuse(
      'search.takes_no_stage',
      case p_takes when 'filter' then 'what acts on all records that are found'
        when 'rows' then 'counting records' else 'a series' end,
      v_stage
    );
  end if;
  v_query.filter := logloom_private.filter_in_turns(v_query.tree, v_query.filter);
  return v_query;
end;
$$;
