-- Parses brackets and operators. A filter has items; an item is a term, or items in brackets.

-- Parses a term or a group in brackets, with its NOTs.
create function logloom_private.query_parse_item(p_state logloom_private.query_state)
returns logloom_private.query_state
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_token constant text := p_state.texts[p_state."at"];
  v_position constant integer := p_state.positions[p_state."at"];
  v_depth constant integer := p_state.depth;
begin
  p_state := logloom_private.query_spend(p_state, 1);
  if v_token = 'NOT' then
    p_state := logloom_private.query_advance(p_state);
  elsif v_token = '-' then
    p_state."at" := p_state."at" + 1;
    if not logloom_private.query_is_adjacent(p_state, p_state."at")
      or left(p_state.texts[p_state."at"], 1) not in ('(', '"')
    then
      perform logloom_private.refuse_at(v_position, 'query.minus_negates_nothing');
    end if;
  elsif left(v_token, 1) = '-' then
    p_state.texts[p_state."at"] := substr(v_token, 2);
    p_state.positions[p_state."at"] := v_position + 1;
  elsif v_token = '(' then
    p_state := logloom_private.query_deepen(p_state, v_position);
    p_state."at" := p_state."at" + 1;
    p_state := logloom_private.query_parse_items(p_state, 'or');
    if p_state.texts[p_state."at"] <> ')' then
      perform logloom_private.refuse_at(
        p_state.positions[p_state."at"], 'query.bracket_is_not_closed', v_position::text
      );
    end if;
    p_state."at" := p_state."at" + 1;
    p_state.depth := v_depth;
    return p_state;
  elsif v_token in ('', ')', '|', 'AND', 'OR') then
    perform logloom_private.refuse_at(
      v_position,
      case v_token when '' then 'query.term_is_missing_at_the_end' else 'query.term_is_missing' end,
      v_token
    );
  elsif v_token in ('[', ']', '{', '}') then
    perform logloom_private.refuse_at(v_position, 'query.bracket_is_for_ranges', v_token);
  elsif v_token = '""' then
    perform logloom_private.refuse_at(v_position, 'query.quoted_text_is_empty');
  else
    return logloom_private.query_parse_term(p_state);
  end if;

  p_state := logloom_private.query_parse_item(logloom_private.query_deepen(p_state, v_position));
  p_state.node := jsonb_build_object('type', 'not', 'item', p_state.node);
  p_state.depth := v_depth;
  return p_state;
end;
$$;

-- Parses the items of an AND or OR (p_type). The items of an OR are ANDs, because AND binds closer
-- than OR.
create function logloom_private.query_parse_items(
  p_state logloom_private.query_state,
  p_type text
)
returns logloom_private.query_state
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_items jsonb[] := '{}'::jsonb[];
  v_token text;
begin
  loop
    if p_type = 'or' then
      p_state := logloom_private.query_parse_items(p_state, 'and');
    else
      p_state := logloom_private.query_parse_item(p_state);
    end if;
    v_items := v_items || p_state.node;
    v_token := p_state.texts[p_state."at"];
    exit when v_token in (')', '|', '') or (v_token = 'OR') = (p_type = 'and');
    if v_token in ('AND', 'OR') then
      p_state := logloom_private.query_advance(p_state);
    end if;
  end loop;
  if cardinality(v_items) > 1 then
    p_state.node := jsonb_build_object('type', p_type, 'items', to_jsonb(v_items));
  end if;
  return p_state;
end;
$$;

-- Parses a filter: everything before the first bar, or a stage "where".
create function logloom_private.query_parse_filter(p_state logloom_private.query_state)
returns logloom_private.query_state
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  p_state := logloom_private.query_parse_items(p_state, 'or');
  if p_state.texts[p_state."at"] = ')' then
    perform logloom_private.refuse_at(
      p_state.positions[p_state."at"], 'query.bracket_closes_nothing'
    );
  end if;
  return p_state;
end;
$$;
