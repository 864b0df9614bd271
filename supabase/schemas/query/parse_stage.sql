-- Parses stages. A stage has its own tokens: names, numbers and punctuation.

-- The stages of a query make one object, the plan:
--   rows        steps for each record, before anything is counted:
--               {"stage": "json" | "logfmt", "field"}, {"stage": "where", "tree"},
--               or what query_parse_extract returns
--   aggregates  [{"kind", "fraction", "field", "name", "condition"}, …]; condition is a tree
--   by          [field, …]
--   bucket      width in seconds
--   patterns    true if the stage patterns is used
--   math        [{"name", "formula"}, …] (parse_math.sql)
--   having      [{"name", "operator", "number"}, …]
--   sort        [{"name", "descending"}, …]
--   limit       a number
--   fields      [field, …]
--   last        name of the last stage
--   first       {"stage", "position"} of the first stage

-- Parses the next field into node. Raises p_error if there is none.
create function logloom_private.query_stage_field(
  p_state logloom_private.query_state,
  p_error text,
  p_stage text
)
returns logloom_private.query_state
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_token constant text := p_state.texts[p_state."at"];
begin
  if v_token in ('', '(', ')', ',', '|', '<', '>', '=', '!', '<=', '>=', '!=', '"') then
    perform logloom_private.refuse_at(p_state.positions[p_state."at"], p_error, p_stage);
  end if;
  if p_stage = 'by' and p_state.texts[p_state."at" + 1] = '('
    and v_token in ('bin', 'bucket', 'time', '_time', 'span', 'timeslice')
  then
    -- by bin(5m), bin(ts, 5m), time(5m)
    perform logloom_private.refuse_at(
      p_state.positions[p_state."at"],
      'stages.width_is_a_bracket',
      logloom_private.query_excerpt(v_token),
      coalesce(
        (
          select t
          from unnest(p_state.texts[p_state."at" + 2:]) t
          where t ~ '^[1-9][0-9]{0,4}[smhdw]$'
          limit 1
        ),
        '5m'
      )
    );
  end if;
  p_state.node := logloom_private.query_field(
    v_token, p_state.positions[p_state."at"], p_stage
  );
  if v_token = 'any' then
    perform logloom_private.refuse_at(p_state.positions[p_state."at"], 'stages.any_is_for_filters');
  end if;
  p_state."at" := p_state."at" + 1;
  return logloom_private.query_spend(p_state, 1);
end;
$$;

create function logloom_private.query_text_field(
  p_state logloom_private.query_state,
  p_stage text
)
returns logloom_private.query_state
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_position constant integer := p_state.positions[p_state."at"];
begin
  p_state := logloom_private.query_stage_field(p_state, 'stages.needs_a_field', p_stage);
  if p_state.node ->> 'field' in ('ts', 'received_at', 'id', 'level') then
    perform logloom_private.refuse_at(v_position, 'stages.takes_a_text', p_stage);
  end if;
  return p_state;
end;
$$;

-- Raises PT400 if a stage may not follow the stages before it.
create function logloom_private.query_check_order(
  p_plan jsonb,
  p_stage text,
  p_position integer
)
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_rows constant boolean := p_plan ?| array['aggregates', 'patterns'];
  v_cannot boolean;
begin
  v_cannot := case p_stage
    when 'where' then p_plan ?| array['limit', 'fields'] or (p_plan ? 'sort' and not v_rows)
    when 'sort' then p_plan ?| array['sort', 'limit']
    when 'math' then p_plan ?| array['sort', 'limit']
    when 'limit' then p_plan ? 'limit'
    when 'fields' then v_rows or p_plan ? 'fields'
    else v_rows or p_plan ?| array['sort', 'limit', 'fields']
  end;
  if p_stage = 'math' and not p_plan ? 'aggregates' then
    perform logloom_private.refuse_at(p_position, 'stages.math_needs_an_aggregate');
  elsif v_cannot then
    perform logloom_private.refuse_at(
      p_position, 'stages.order_is_wrong', p_stage, p_plan ->> 'last'
    );
  elsif coalesce((p_plan ->> 'count')::integer, 0) >= 10 then
    perform logloom_private.refuse_at(p_position, 'stages.too_many');
  end if;
end;
$$;

-- Parses one stage and adds it to the plan. Returns the state with the plan as node. p_filters: the
-- whole query, split into tokens as for a filter.
create function logloom_private.query_parse_stage(
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
  v_stage constant text := p_state.texts[1];
  v_is_aggregate constant boolean := v_stage not in (
    'json', 'logfmt', 'extract', 'extract_regexp', 'where', 'patterns', 'math', 'sort', 'limit',
    'fields'
  );
  v_fields jsonb := '[]';
begin
  if not v_is_aggregate then
    perform logloom_private.query_check_order(p_plan, v_stage, p_state.positions[1]);
  end if;
  p_state."at" := 2;
  case v_stage
    when 'json', 'logfmt' then
      p_state := logloom_private.query_text_field(p_state, v_stage);
      p_state.node := p_plan || jsonb_build_object('rows', coalesce(p_plan -> 'rows', '[]')
        || jsonb_build_object('stage', v_stage, 'field', p_state.node));
    when 'extract', 'extract_regexp' then
      p_state := logloom_private.query_parse_extract(p_state, p_plan);
    when 'sort' then
      p_state := logloom_private.query_parse_sort(p_state, p_plan);
    when 'limit' then
      if p_state.texts[2] !~ '^[1-9][0-9]{0,5}$' then
        perform logloom_private.refuse_at(p_state.positions[2], 'stages.limit_is_out_of_range');
      end if;
      p_state."at" := 3;
      p_state.node := p_plan || jsonb_build_object('limit', p_state.texts[2]::integer);
    when 'fields' then
      loop
        -- Each field costs time for every record of an export's page.
        if jsonb_array_length(v_fields) >= 50 then
          perform logloom_private.refuse_at(
            p_state.positions[p_state."at"], 'stages.too_many_fields'
          );
        end if;
        p_state := logloom_private.query_stage_field(
          p_state, 'stages.fields_needs_a_field', 'fields'
        );
        v_fields := v_fields || p_state.node;
        exit when p_state.texts[p_state."at"] <> ',';
        p_state."at" := p_state."at" + 1;
      end loop;
      p_state.node := p_plan || jsonb_build_object('fields', v_fields);
    when 'where' then
      p_state := logloom_private.query_parse_having(p_state, p_plan);
    when 'math' then
      p_state := logloom_private.query_parse_math(p_state, p_plan);
    when 'patterns' then
      p_state.node := p_plan || '{"patterns": true}';
    else
      p_state."at" := 1;
      p_state := logloom_private.query_parse_aggregates(p_state, p_plan, p_filters);
  end case;
  if p_state.texts[p_state."at"] <> '' then
    perform logloom_private.refuse_at(
      p_state.positions[p_state."at"],
      case when v_stage = 'fields' or jsonb_array_length(p_state.node -> 'by') > 0
        then 'stages.comma_is_missing' else 'stages.something_follows' end,
      case when v_is_aggregate then 'the aggregate' else v_stage end,
      logloom_private.query_excerpt(p_state.texts[p_state."at"])
    );
  end if;
  p_state.node := p_state.node || jsonb_build_object(
    'last', case when v_is_aggregate then 'an aggregate' else v_stage end
  );
  return p_state;
end;
$$;
