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

-- Returns a warning for each comparison with a unit, such as @duration_ms:>1s, if the newest
-- records have plain numbers in this attribute.
create function logloom_private.plain_numbers(
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
  v_bounds jsonb;
  v_name text;
  v_factor numeric;
  v_lower text;
  v_upper text;
  v_is_plain boolean;
begin
  for v_leaf in
    select l
    from jsonb_path_query(p_tree, 'strict $.** ? (@.field == "attrs" && @.bounds.unit != null)') l
    limit 3
  loop
    v_name := v_leaf ->> 'name';
    v_bounds := v_leaf -> 'bounds';
    execute format(
      'select bool_or(jsonb_typeof(%s) = ''number'') from (select l.* %s) l',
      logloom_private.query_value_sql(v_leaf, 'l'),
      logloom_private.source_sql(logloom_private.first_records_sql(
        p_tenant_id, p_scoped, v_max_records, 'desc',
        p_reads => logloom_private.query_reads(v_leaf)
      ))
    )
    into v_is_plain;
    continue when v_is_plain is not true;
    v_factor := case
      when v_bounds ->> 'unit' = 'bytes' then 1
      when v_name ~ '(?:[_.-]ms|@ms|[a-z]Ms|millis|milliseconds)$' then 1e3
      when v_name ~ '(?:[_.-]us|[a-z]Us|micros|microseconds)$' then 1e6
      when v_name ~ '(?:[_.-]ns|[a-z]Ns|nanos|nanoseconds)$' then 1e9
      else 1 end;
    v_lower := trim_scale((v_bounds ->> 'lower')::numeric * v_factor);
    v_upper := trim_scale((v_bounds ->> 'upper')::numeric * v_factor);
    v_warnings := v_warnings || jsonb_build_object(
      'position', greatest(strpos(p_query_dsl, v_name || ':'), 1),
      'message', format('%s holds plain numbers, which have no unit', v_name),
      'suggestion', v_name || ':' || case
        when v_upper is null
          then case when (v_bounds -> 'lower_open')::boolean then '>' else '>=' end || v_lower
        when v_lower is null
          then case when (v_bounds -> 'upper_open')::boolean then '<' else '<=' end || v_upper
        else format('[%s TO %s]', v_lower, v_upper) end
    );
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
    || logloom_private.plain_numbers(p_scope.tenant_id, v_scoped, v_tree, p_query_dsl);
end;
$$;
