-- Hints for a query that found nothing. Finding hints means reading records, so only an empty
-- answer has hints. The functions read the records of the scope in the last day of the range.

-- Returns a warning for each service in a filter that does not exist, such as service:chekout, if
-- there is a service with a similar name.
create function logloom_private.near_services(
  p_tenant_id text,
  p_scoped logloom_private.compiled_query,
  p_tree jsonb,
  p_query_dsl text
)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_names constant text[] := array(
    select n #>> '{}'
    from jsonb_path_query(
      p_tree, 'strict $.** ? (@.field == "service" && @.test == "equal").values[*]'
    ) n
    limit 10
  );
  v_counts logloom_private.sql_source;
  v_services text[];
begin
  if cardinality(v_names) = 0 then
    return '[]';
  end if;
  p_scoped.aggregate := 'count';
  p_scoped.by_fields := '{service}';
  v_counts := logloom_private.counted_rows_sql(
    p_tenant_id, p_scoped, p_scoped.ts_from, p_scoped.ts_to
  );
  if v_counts.from_sql is null then
    return '[]';
  end if;
  v_counts.max_rows := 20000;
  execute format(
    'select array(select distinct l.service from (select l.service %s) l '
      || 'where length(l.service) <= 60 limit 500)',
    logloom_private.source_sql(v_counts)
  )
  into v_services;
  return (
    select coalesce(jsonb_agg(jsonb_build_object(
      'position', greatest(strpos(p_query_dsl, n.name), 1),
      'message', format('There is no service %s: did you mean %s?', n.name, s.name),
      'suggestion', logloom_private.query_meant_comparison('service=' || s.name)
    )), '[]')
    from unnest(v_names) n (name)
    cross join lateral (
      select u.name
      from unnest(v_services) u (name)
      cross join lateral logloom_private.query_distance(lower(n.name), lower(u.name)) d
      where abs(length(u.name) - length(n.name)) <= 2
        and d <= case when length(u.name) < 5 then 1 else 2 end and d < length(u.name)
      order by d, u.name
      limit 1
    ) s
    where n.name <> all (v_services) and length(n.name) <= 60
  );
end;
$$;

-- Suggests a comparison with a plain number instead of one with a unit: @duration_ms:>1s.
create function logloom_private.plain_comparison(p_leaf jsonb)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_name constant text := p_leaf ->> 'name';
  v_bounds constant jsonb := p_leaf -> 'bounds';
  v_factor constant numeric := case
    when v_bounds ->> 'unit' = 'bytes' then 1
    when v_name ~ '(?:[_.-]ms|@ms|[a-z]Ms|millis|milliseconds)$' then 1e3
    when v_name ~ '(?:[_.-]us|[a-z]Us|micros|microseconds)$' then 1e6
    when v_name ~ '(?:[_.-]ns|[a-z]Ns|nanos|nanoseconds)$' then 1e9
    else 1 end;
  v_lower constant text := trim_scale((v_bounds ->> 'lower')::numeric * v_factor);
  v_upper constant text := trim_scale((v_bounds ->> 'upper')::numeric * v_factor);
begin
  return v_name || ':' || case
    when v_upper is null
      then case when (v_bounds -> 'lower_open')::boolean then '>' else '>=' end || v_lower
    when v_lower is null
      then case when (v_bounds -> 'upper_open')::boolean then '<' else '<=' end || v_upper
    else format('[%s TO %s]', v_lower, v_upper) end;
end;
$$;

-- Returns the message and suggestion for a leaf whose value no record has, or null. p_source: the
-- records to look at.
create function logloom_private.value_hint(p_leaf jsonb, p_source text)
returns text[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_name constant text := p_leaf ->> 'name';
  v_value constant text := p_leaf -> 'values' ->> 0;
  v_field constant text := p_leaf -> 'path' ->> 0;
  v_events bigint;
  v_is_there boolean;
  v_is_number boolean;
  v_other_case text;
  v_is_pattern boolean;
  v_is_part boolean;
begin
  execute format(
    $query$
      select
        count(r.text) as events,
        bool_or(r.text = %1$L) as is_there,
        bool_or(jsonb_typeof(r.value) = 'number') as is_number,
        min(r.text) filter (where lower(r.text) = lower(%1$L)) as other_case,
        bool_or(r.text like %2$L) as is_pattern,
        bool_or(strpos(r.text, %1$L) > 0) as is_part
      from (select to_jsonb(%3$s) as value, %4$s as text from (select l.* %5$s) l) r
    $query$,
    v_value, case when v_value ~ '[*?]' then logloom_private.query_like(v_value) end,
    logloom_private.query_value_sql(p_leaf, 'l'), logloom_private.query_group_sql(p_leaf, 'l'),
    p_source
  )
  into v_events, v_is_there, v_is_number, v_other_case, v_is_pattern, v_is_part;
  return case
    when v_value is null then case when v_is_number then array[
      format('%s holds plain numbers, which have no unit', v_name),
      logloom_private.plain_comparison(p_leaf)
    ] end
    when v_is_there then null
    when v_events = 0 and v_field = any (logloom_private.query_field_names()) then array[
      format('%s is an attribute, and no event has it: %s is a field', v_name, v_field),
      logloom_private.query_meant_comparison(v_field || '=' || v_value)
    ]
    when v_other_case is not null then array[
      format('%s has another letter case: %s', v_name, v_other_case),
      logloom_private.query_meant_comparison(v_name || '=' || v_other_case)
    ]
    when v_is_pattern and v_value ~ '^[[:alnum:]_./*?-]+$' then array[
      'In quotes, * and ? are characters', v_name || ':' || v_value
    ]
    when v_is_part and v_value <> '' then array[
      format('%s is compared with the whole value', v_name),
      v_name || ':*' || regexp_replace(v_value, '([^[:alnum:]_./-])', '\\\1', 'g') || '*'
    ]
  end;
end;
$$;

-- Returns a warning for each term whose value no record has, but something similar. It looks at the
-- newest records.
create function logloom_private.near_values(
  p_tenant_id text,
  p_scoped logloom_private.compiled_query,
  p_tree jsonb,
  p_query_dsl text
)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_max_records constant integer := 1000;
  v_warnings jsonb := '[]';
  v_leaf jsonb;
  v_hint text[];
begin
  for v_leaf in
    -- Terms below NOT find more if their value is wrong.
    with recursive nodes (node) as (
      select p_tree
      union all
      select jsonb_array_elements(n.node -> 'items') from nodes n where n.node ? 'items'
    )
    select n.node
    from nodes n
    where n.node -> 'bounds' ->> 'unit' is not null
      or n.node ->> 'test' = 'equal' and jsonb_array_length(n.node -> 'values') = 1
        and n.node ->> 'field' in ('attrs', 'env', 'host', 'route', 'user_id', 'req_id')
    limit 3
  loop
    v_hint := logloom_private.value_hint(
      v_leaf, logloom_private.source_sql(logloom_private.first_records_sql(
        p_tenant_id, p_scoped, v_max_records, 'desc',
        p_reads => logloom_private.query_reads(v_leaf)
      ))
    );
    if v_hint[2] is not null then
      v_warnings := v_warnings || jsonb_build_object(
        'position', greatest(strpos(p_query_dsl, v_leaf ->> 'name' || ':'), 1),
        'message', v_hint[1], 'suggestion', left(v_hint[2], 200)
      );
    end if;
  end loop;
  return v_warnings;
end;
$$;

-- Returns the hints for a query that found nothing in p_range, as warnings.
create function logloom_private.hints_for_nothing(
  p_scope logloom_private.reading_scope,
  p_query_dsl text,
  p_range tstzrange
)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tree constant jsonb := (logloom_private.parse_query(p_query_dsl)).tree;
  v_scoped constant logloom_private.compiled_query := logloom_private.bound_query(
    p_scope.tenant_id, logloom_private.query_of_scope(p_scope),
    p_range * tstzrange(upper(p_range) - interval '1 day', null)
  );
begin
  -- A slow answer must not time out because of its hints.
  if clock_timestamp() > statement_timestamp() + interval '5 seconds' then
    return '[]';
  end if;
  return logloom_private.near_services(p_scope.tenant_id, v_scoped, v_tree, p_query_dsl)
    || logloom_private.near_values(p_scope.tenant_id, v_scoped, v_tree, p_query_dsl);
end;
$$;
