-- Parses aggregates: count() if (level:error) as n, p95(@duration_ms) by (5m), service

-- Parses the condition of an aggregate, such as (level:error). A condition is a filter, so it is
-- read from the tokens of p_filters. Returns its tree in node.
create function logloom_private.query_parse_condition(
  p_state logloom_private.query_state,
  p_filters logloom_private.query_state
)
returns logloom_private.query_state
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_filter logloom_private.query_state := p_state;
begin
  v_filter."at" := array_position(p_filters.positions, p_state.positions[p_state."at"]);
  if p_state.texts[p_state."at"] <> '(' or v_filter."at" is null then
    perform logloom_private.refuse_at(
      p_state.positions[p_state."at"], 'stages.condition_is_missing'
    );
  end if;
  v_filter.texts := p_filters.texts;
  v_filter.positions := p_filters.positions;
  v_filter := logloom_private.query_parse_item(v_filter);
  v_filter.texts := p_state.texts;
  v_filter.positions := p_state.positions;
  v_filter."at" := (
    select min(t.n)
    from unnest(p_state.positions) with ordinality t (position, n)
    where t.position >= p_filters.positions[v_filter."at"]
  );
  return v_filter;
end;
$$;

-- Parses one aggregate, its condition and its name into node.
create function logloom_private.query_parse_aggregate(
  p_state logloom_private.query_state,
  p_filters logloom_private.query_state
)
returns logloom_private.query_state
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_first constant integer := p_state."at";
  v_kind constant text := p_state.texts[v_first];
  v_name text := v_kind;
  v_field jsonb;
  v_condition jsonb;
begin
  if v_kind !~ ('^(?:count|rate|sum|avg|min|max|count_distinct'
    || '|p(?:100|[0-9]{1,2}(?:\.[0-9]{1,4})?))$')
  then
    perform logloom_private.refuse_at(
      p_state.positions[v_first],
      case when v_kind = '' then 'stages.aggregate_is_missing'
        when p_state.texts[v_first + 1] = '(' then 'stages.aggregate_is_unknown'
        else 'stages.stage_is_unknown' end,
      logloom_private.query_excerpt(v_kind)
    );
  end if;
  if p_state.texts[v_first + 1] <> '(' then
    perform logloom_private.refuse_at(
      p_state.positions[v_first + 1], 'stages.bracket_is_missing', v_kind
    );
  end if;
  p_state."at" := v_first + 2;
  if v_kind not in ('count', 'rate') then
    p_state := logloom_private.query_stage_field(p_state, 'stages.aggregate_needs_a_field', v_kind);
    v_field := p_state.node;
    if v_kind <> 'count_distinct' and v_field ->> 'field' <> 'attrs'
      and not (v_kind in ('min', 'max') and v_field ->> 'field' in ('ts', 'received_at'))
    then
      perform logloom_private.refuse_at(
        p_state.positions[v_first + 2], 'stages.takes_an_attribute', v_kind
      );
    end if;
  end if;
  if p_state.texts[p_state."at"] <> ')' then
    perform logloom_private.refuse_at(
      p_state.positions[p_state."at"],
      case when v_field is null then 'stages.takes_no_field'
        else 'stages.aggregate_is_not_closed' end,
      v_kind
    );
  end if;
  p_state."at" := p_state."at" + 1;
  if p_state.texts[p_state."at"] = 'if' then
    p_state."at" := p_state."at" + 1;
    p_state := logloom_private.query_parse_condition(p_state, p_filters);
    v_condition := p_state.node;
  end if;
  if p_state.texts[p_state."at"] = 'as' then
    v_name := p_state.texts[p_state."at" + 1];
    if v_name !~ '^[A-Za-z_][A-Za-z0-9_]{0,59}$' then
      perform logloom_private.refuse_at(
        p_state.positions[p_state."at" + 1], 'stages.name_is_missing'
      );
    end if;
    p_state."at" := p_state."at" + 2;
  end if;
  p_state.node := jsonb_build_object(
    'kind', v_kind, 'fraction', substring(v_kind from '^p([0-9.]+)$')::numeric / 100,
    'field', v_field, 'name', v_name
  ) || jsonb_strip_nulls(jsonb_build_object('condition', v_condition));
  return p_state;
end;
$$;

-- Parses "by (5m), service".
create function logloom_private.query_parse_by(
  p_state logloom_private.query_state,
  p_plan jsonb
)
returns logloom_private.query_state
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_names text[] := array(select a ->> 'name' from jsonb_array_elements(p_plan -> 'aggregates') a);
  v_name text;
  v_width text;
  v_first integer;
begin
  loop
    p_state."at" := p_state."at" + 1;
    v_first := p_state."at";
    if p_state.texts[p_state."at"] = '(' then
      v_width := p_state.texts[p_state."at" + 1];
      if v_width !~ '^[1-9][0-9]{0,4}[smhdw]$' then
        perform logloom_private.refuse_at(
          p_state.positions[p_state."at" + 1], 'stages.width_is_missing'
        );
      elsif p_plan -> 'bucket' is not null then
        perform logloom_private.refuse_at(p_state.positions[p_state."at"], 'stages.two_widths');
      elsif p_state.texts[p_state."at" + 2] <> ')' then
        perform logloom_private.refuse_at(
          p_state.positions[p_state."at" + 2], 'stages.width_is_not_closed'
        );
      end if;
      p_plan := p_plan || jsonb_build_object(
        'bucket',
        rtrim(v_width, 'smhdw')::bigint * logloom_private.seconds_of(right(v_width, 1))::bigint
      );
      v_name := 'ts';
      p_state."at" := p_state."at" + 3;
    else
      if p_state.texts[v_first] ~ '^[1-9][0-9]{0,4}[smhdw]$' then
        perform logloom_private.refuse_at(
          p_state.positions[v_first], 'stages.width_is_a_bracket',
          logloom_private.query_excerpt(p_state.texts[v_first]), p_state.texts[v_first]
        );
      end if;
      p_state := logloom_private.query_stage_field(p_state, 'stages.by_needs_a_field', 'by');
      p_plan := p_plan || jsonb_build_object('by', (p_plan -> 'by') || p_state.node);
      v_name := p_state.node ->> 'name';
    end if;
    if v_name = any(v_names) then
      perform logloom_private.refuse_at(
        p_state.positions[v_first], 'stages.two_columns_of_one_name', v_name
      );
    end if;
    v_names := v_names || v_name;
    exit when p_state.texts[p_state."at"] <> ',';
  end loop;
  p_state.node := p_plan;
  return p_state;
end;
$$;

create function logloom_private.query_parse_aggregates(
  p_state logloom_private.query_state,
  p_plan jsonb,
  p_filters logloom_private.query_state
)
returns logloom_private.query_state
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_aggregates jsonb := '[]';
  v_first integer;
begin
  loop
    v_first := p_state."at";
    p_state := logloom_private.query_parse_aggregate(p_state, p_filters);
    if v_first = 1 then
      perform logloom_private.query_check_order(p_plan, 'an aggregate', p_state.positions[1]);
    elsif v_aggregates @> jsonb_build_array(
      jsonb_build_object('name', p_state.node ->> 'name')
    ) then
      perform logloom_private.refuse_at(
        p_state.positions[v_first], 'stages.two_columns_of_one_name', p_state.node ->> 'name'
      );
    elsif jsonb_array_length(v_aggregates) >= 8 then
      perform logloom_private.refuse_at(p_state.positions[v_first], 'stages.too_many_aggregates');
    end if;
    v_aggregates := v_aggregates || p_state.node;
    exit when p_state.texts[p_state."at"] <> ',';
    p_state."at" := p_state."at" + 1;
  end loop;
  p_state.node := p_plan || jsonb_build_object('aggregates', v_aggregates, 'by', '[]'::jsonb);
  if p_state.texts[p_state."at"] = 'by' then
    return logloom_private.query_parse_by(p_state, p_state.node);
  end if;
  return p_state;
end;
$$;
