-- The range that is asked for, [from, to), by default search_default_range to now. p_first, that of
-- a first page, stands for the bounds that are not given or move with now. PT400.
create function logloom_private.search_range(
  p_ts_from text,
  p_ts_to text,
  p_first tstzrange default null
)
returns tstzrange
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_from timestamptz := logloom_private.time_parameter('p_ts_from', p_ts_from);
  v_to timestamptz := logloom_private.time_parameter('p_ts_to', p_ts_to);
begin
  if p_first is not null then
    v_from := case when p_ts_from ~ '^\s*[^n\s]' then v_from else lower(p_first) end;
    v_to := case when p_ts_to ~ '^\s*[^n\s]' then v_to else upper(p_first) end;
  end if;
  v_to := coalesce(v_to, now());
  if v_from is null then
    v_from := v_to - (select s.search_default_range from logloom_private.settings s);
  end if;
  if not (v_from >= '1970-01-01T00:00:00Z' and v_to <= '9999-12-31T00:00:00Z') then
    perform logloom_private.refuse('search.range_leaves_the_years');
  elsif v_from >= v_to then
    perform logloom_private.refuse('search.range_is_empty');
  end if;
  return tstzrange(v_from, v_to);
end;
$$;

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
  -- A page of all records reads no more than it shows: it takes no turns.
  if p_takes <> 'records' or v_query.tree <> '{"type": "all"}' or v_query.plan ? 'rows' then
    v_query.filter := logloom_private.filter_in_turns(v_query.tree, v_query.filter);
  end if;
  return v_query;
end;
$$;
