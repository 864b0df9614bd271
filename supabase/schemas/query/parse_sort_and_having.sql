-- Parses the stage "sort", and the stage "where" after an aggregate.

-- Parses "sort by n desc, service".
create function logloom_private.query_parse_sort(
  p_state logloom_private.query_state,
  p_plan jsonb
)
returns logloom_private.query_state
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_rows constant boolean := p_plan ?| array['aggregates', 'patterns'];
  v_columns constant text[] := case
    when p_plan ? 'patterns' then array['count', 'first', 'last', 'pattern']
    when not v_rows then array['ts']
    else logloom_private.query_result_names(p_plan)
      || case when p_plan ? 'bucket' then array['ts'] else '{}'::text[] end
      || array(select b ->> 'name' from jsonb_array_elements(p_plan -> 'by') b)
  end;
  v_keys jsonb := '[]';
  v_name text;
begin
  if p_state.texts[2] <> 'by' then
    perform logloom_private.refuse_at(p_state.positions[2], 'stages.sort_needs_by');
  end if;
  p_state."at" := 2;
  loop
    p_state := logloom_private.query_spend(p_state, 1);
    p_state."at" := p_state."at" + 1;
    v_name := p_state.texts[p_state."at"];
    if not v_name = any(v_columns) or (not v_rows and jsonb_array_length(v_keys) > 0) then
      perform logloom_private.refuse_at(
        p_state.positions[p_state."at"],
        case when v_name = '' and v_rows then 'stages.sort_column_is_missing'
          when v_name = '' then 'stages.sort_ts_is_missing'
          when v_rows then 'stages.sort_column_is_unknown'
          else 'stages.records_are_sorted_by_ts' end,
        logloom_private.query_excerpt(v_name),
        array_to_string(v_columns, ', ')
      );
    end if;
    p_state."at" := p_state."at" + 1;
    v_keys := v_keys || jsonb_build_object(
      'name', v_name, 'descending', p_state.texts[p_state."at"] = 'desc'
    );
    if p_state.texts[p_state."at"] in ('asc', 'desc') then
      p_state."at" := p_state."at" + 1;
    end if;
    exit when p_state.texts[p_state."at"] <> ',';
  end loop;
  p_state.node := p_plan || jsonb_build_object('sort', v_keys);
  return p_state;
end;
$$;

-- Parses "where n > 10 AND p95 >= 200".
create function logloom_private.query_parse_having(
  p_state logloom_private.query_state,
  p_plan jsonb
)
returns logloom_private.query_state
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_columns constant text[] := case when p_plan ? 'patterns' then array['count']
    else logloom_private.query_result_names(p_plan) end;
  v_having jsonb := coalesce(p_plan -> 'having', '[]');
  v_operator text;
  v_number text;
begin
  p_state."at" := 1;
  loop
    p_state := logloom_private.query_spend(p_state, 1);
    p_state."at" := p_state."at" + 1;
    if not p_state.texts[p_state."at"] = any(v_columns) then
      perform logloom_private.refuse_at(
        p_state.positions[p_state."at"],
        case p_state.texts[p_state."at"] when '' then 'stages.where_is_empty'
          else 'stages.where_column_is_unknown' end,
        logloom_private.query_excerpt(p_state.texts[p_state."at"]),
        array_to_string(v_columns, ', '),
        coalesce(v_columns[1], 'n')
      );
    end if;
    v_operator := p_state.texts[p_state."at" + 1];
    if v_operator not in ('>', '>=', '<', '<=', '=', '!=') then
      perform logloom_private.refuse_at(
        p_state.positions[p_state."at" + 1], 'stages.comparison_is_missing',
        p_state.texts[p_state."at"]
      );
    end if;
    v_number := p_state.texts[p_state."at" + 2];
    if v_number !~ '^-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,3})?$' then
      perform logloom_private.refuse_at(
        p_state.positions[p_state."at" + 2], 'stages.number_is_missing', v_operator
      );
    end if;
    perform logloom_private.query_check_double(v_number, p_state.positions[p_state."at" + 2]);
    v_having := v_having || jsonb_build_object(
      'name', p_state.texts[p_state."at"], 'operator', v_operator, 'number', v_number
    );
    p_state."at" := p_state."at" + 3;
    exit when p_state.texts[p_state."at"] <> 'AND';
  end loop;
  p_state.node := p_plan || jsonb_build_object('having', v_having);
  return p_state;
end;
$$;
