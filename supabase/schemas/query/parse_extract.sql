-- Parses the stages extract "<method> <path>" from msg and extract_regexp "took (?P<ms>[0-9]+)ms".

-- Splits the pattern of the stage extract into "names", which stand between < and >, and
-- "literals", the texts around them. <_> and <> have the empty name.
create function logloom_private.query_extract_parts(p_pattern text, p_position integer)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_names constant text[] := array(
    select m.match[1]
    from regexp_matches(p_pattern, '<([^<>]*)>', 'g') with ordinality m (match, n)
    order by m.n
  );
  v_literals constant text[] := regexp_split_to_array(p_pattern, '<[^<>]*>');
  v_wrong constant text := (
    select n from unnest(v_names) n where n !~ '^(?:[A-Za-z_][A-Za-z0-9_]{0,59})?$' limit 1
  );
begin
  if v_wrong is not null then
    perform logloom_private.refuse_at(
      p_position, 'stages.extract_name_is_wrong', logloom_private.query_excerpt(v_wrong)
    );
  elsif '' = any(v_literals[2:cardinality(v_names)]) then
    perform logloom_private.refuse_at(p_position, 'stages.extract_names_touch');
  end if;
  return jsonb_build_object('literals', v_literals, 'names', array_replace(v_names, '_', ''));
end;
$$;

-- Adds {"stage", "field", "names"} to the plan's rows. The stage extract also has "literals", the
-- stage extract_regexp the members of a regex test. Returns the state with the plan as node.
create function logloom_private.query_parse_extract(
  p_state logloom_private.query_state,
  p_plan jsonb
)
returns logloom_private.query_state
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_stage constant text := p_state.texts[1];
  v_token constant text := p_state.texts[2];
  v_position constant integer := p_state.positions[2];
  v_parts jsonb;
  v_named text[];
begin
  if v_token !~ '^"(?:[^"\\]|\\.)*"$' then
    perform logloom_private.refuse_at(v_position, 'stages.extract_needs_a_pattern', v_stage);
  elsif v_stage = 'extract' then
    v_parts := logloom_private.query_extract_parts(
      logloom_private.query_text(v_token), v_position
    );
  else
    v_parts := logloom_private.query_regex(v_token, v_position, true);
    p_state := logloom_private.query_spend(p_state, (v_parts -> 'steps')::integer);
    v_parts := v_parts || jsonb_build_object(
      'test', 'regex', 'values', array[v_parts ->> 'pattern']
    );
  end if;
  v_named := array(select n from jsonb_array_elements_text(v_parts -> 'names') n where n <> '');
  if v_named = '{}' then
    perform logloom_private.refuse_at(
      v_position, 'stages.extract_names_nothing', v_stage,
      case v_stage when 'extract' then '"<method> <path>"' else '"took (?P<ms>[0-9]+)ms"' end
    );
  elsif (select count(distinct n) from unnest(v_named) n) < cardinality(v_named) then
    perform logloom_private.refuse_at(v_position, 'stages.extract_names_twice', v_stage);
  end if;
  p_state."at" := 3;
  p_state.node := logloom_private.query_field('msg', v_position);
  if p_state.texts[3] = 'from' then
    p_state."at" := 4;
    p_state := logloom_private.query_text_field(p_state, v_stage);
  end if;
  p_state.node := p_plan || jsonb_build_object('rows', coalesce(p_plan -> 'rows', '[]') || (
    v_parts || jsonb_build_object('stage', v_stage, 'field', p_state.node)
  ));
  return p_state;
end;
$$;
