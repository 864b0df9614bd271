-- The test of field:>5 and field:[a TO b}. bounds: lower, lower_open, upper, upper_open; null: no
-- bound. Texts are compared by code point. Attributes are compared as decimals: JSON numbers and
-- strings with a number. Bounds with a unit are compared only with strings that have a quantity.

create function logloom_private.query_check_range_of_numbers(
  p_state logloom_private.query_state,
  p_field jsonb,
  p_range logloom_private.query_range
)
returns logloom_private.query_state
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_lower constant jsonb :=
    logloom_private.query_number(p_range.lower_token, p_range.lower_position);
  v_upper constant jsonb :=
    logloom_private.query_number(p_range.upper_token, p_range.upper_position);
begin
  if v_lower is not null and v_upper is not null and v_lower -> 'unit' <> v_upper -> 'unit' then
    perform logloom_private.refuse_at(p_range.upper_position, 'query.units_differ');
  end if;
  p_state.node := logloom_private.query_leaf(p_field, jsonb_build_object(
    'test', 'range',
    'bounds', jsonb_build_object(
      'lower', v_lower ->> 'value', 'lower_open', p_range.lower_open,
      'upper', v_upper ->> 'value', 'upper_open', p_range.upper_open,
      'unit', coalesce(v_lower ->> 'unit', v_upper ->> 'unit')
    )
  ));
  return p_state;
end;
$$;

create function logloom_private.query_check_range(
  p_state logloom_private.query_state,
  p_field jsonb,
  p_range logloom_private.query_range
)
returns logloom_private.query_state
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_name constant text := p_field ->> 'field';
  v_levels text[] := array['debug', 'info', 'warn', 'error'];
  v_from integer;
  v_to integer;
begin
  if v_name in ('msg', 'id', 'any') then
    perform logloom_private.refuse_at(
      coalesce(p_range.lower_position, p_range.upper_position),
      case v_name when 'id' then 'query.id_is_not_compared' else 'query.text_is_not_compared' end,
      v_name
    );
  elsif logloom_private.query_has_wildcard(coalesce(p_range.lower_token, '')) then
    perform logloom_private.refuse_at(p_range.lower_position, 'query.wildcard_in_comparison');
  elsif logloom_private.query_has_wildcard(coalesce(p_range.upper_token, '')) then
    perform logloom_private.refuse_at(p_range.upper_position, 'query.wildcard_in_comparison');
  elsif v_name in ('ts', 'received_at') then
    return logloom_private.query_check_range_of_times(p_state, p_field, p_range);
  elsif v_name = 'attrs' then
    return logloom_private.query_check_range_of_numbers(p_state, p_field, p_range);
  elsif v_name = 'level' then
    v_from := p_range.lower_open::integer + array_position(
      v_levels, logloom_private.query_require_level(p_range.lower_token, p_range.lower_position)
    );
    v_to := array_position(
      v_levels, logloom_private.query_require_level(p_range.upper_token, p_range.upper_position)
    ) - p_range.upper_open::integer;
    v_levels := v_levels[coalesce(v_from, 1):coalesce(v_to, 4)];
    p_state.node := case when cardinality(v_levels) = 0 then '{"type": "none"}'::jsonb
      else logloom_private.query_leaf(
        p_field, jsonb_build_object('test', 'equal', 'values', v_levels)
      ) end;
    return p_state;
  end if;
  p_state.node := logloom_private.query_leaf(p_field, jsonb_build_object(
    'test', 'range',
    'bounds', jsonb_build_object(
      'lower', logloom_private.query_text(p_range.lower_token), 'lower_open', p_range.lower_open,
      'upper', logloom_private.query_text(p_range.upper_token), 'upper_open', p_range.upper_open
    )
  ));
  return p_state;
end;
$$;

-- Builds the comparisons of a range; null without bounds. p_type: a cast for the bounds.
create function logloom_private.bounds_sql(p_bounds jsonb, p_value text, p_type text default '')
returns text
language sql
stable
return nullif(concat_ws(
  ' and ',
  p_value || case when (p_bounds -> 'lower_open')::boolean then ' > ' else ' >= ' end
    || quote_literal(p_bounds ->> 'lower') || p_type,
  p_value || case when (p_bounds -> 'upper_open')::boolean then ' < ' else ' <= ' end
    || quote_literal(p_bounds ->> 'upper') || p_type
), '');

create function logloom_private.range_sql(
  p_bounds jsonb,
  p_value text,
  p_is_attribute boolean
)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_number constant text := 'logloom_private.text_number(' || p_value || ' #>> ''{}'')';
begin
  if not p_is_attribute then
    return coalesce(
      logloom_private.bounds_sql(p_bounds, p_value || ' collate "C"'), p_value || ' is not null'
    );
  elsif p_bounds ->> 'unit' is not null then
    return logloom_private.bounds_sql(
      p_bounds,
      'logloom_private.quantity(case jsonb_typeof(' || p_value || ') when ''string'' then '
        || p_value || ' #>> ''{}'' end, ' || quote_literal(p_bounds ->> 'unit') || ')',
      '::numeric'
    );
  end if;
  -- jsonb sorts by type before value, so the type is tested first.
  return 'case jsonb_typeof(' || p_value || ') when ''number'' then '
    || coalesce(logloom_private.bounds_sql(p_bounds, p_value), 'true')
    || ' when ''string'' then '
    || coalesce(
      logloom_private.bounds_sql(p_bounds, v_number, '::numeric'), v_number || ' is not null'
    )
    || ' end';
end;
$$;
