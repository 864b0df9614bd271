-- The parser of brackets and operators. Each rule calls the next and the last calls the first.

create function logloom_private.query_parse_primary(p_state logloom_private.query_state)
returns logloom_private.query_state
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_token constant text := p_state.texts[p_state."at"];
  v_position constant integer := p_state.positions[p_state."at"];
  v_depth constant integer := p_state.depth;
begin
  p_state := logloom_private.query_spend(p_state, 1);
  if v_token = '(' then
    p_state := logloom_private.query_deepen(p_state, v_position);
    p_state."at" := p_state."at" + 1;
    p_state := logloom_private.query_parse_or(p_state);
    if p_state.texts[p_state."at"] <> ')' then
      perform logloom_private.query_refuse(
        p_state.positions[p_state."at"],
        'A closing bracket is missing',
        format('Close the bracket that position %s opens.', v_position)
      );
    end if;
    p_state."at" := p_state."at" + 1;
    p_state.depth := v_depth;
    return p_state;
  elsif v_token in ('', ')', '|', 'AND', 'OR') then
    perform logloom_private.query_refuse(
      v_position,
      'A term is missing'
        || case when v_token = '' then ' at the end' else ' before ' || v_token end,
      'AND, OR and NOT stand between terms and brackets hold terms; quote the text to search '
        || 'for it.'
    );
  elsif v_token in ('[', ']', '{', '}') then
    perform logloom_private.query_refuse(
      v_position,
      v_token || ' stands in a range of a field only',
      'Write field:[a TO b], or quote the text. {app="x"} of other languages is service:x here.'
    );
  elsif v_token = '""' then
    perform logloom_private.query_refuse(
      v_position,
      'A quoted text to search for is empty',
      'Write a text, or field:"" for an empty field.'
    );
  elsif left(v_token, 1) = '"' then
    return logloom_private.query_parse_free(p_state);
  end if;
  return logloom_private.query_parse_word(p_state);
end;
$$;

revoke all on function logloom_private.query_parse_primary(logloom_private.query_state) from public;

create function logloom_private.query_parse_not(p_state logloom_private.query_state)
returns logloom_private.query_state
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_token constant text := p_state.texts[p_state."at"];
  v_position constant integer := p_state.positions[p_state."at"];
  v_depth constant integer := p_state.depth;
begin
  p_state := logloom_private.query_spend(p_state, 1);
  if v_token = 'NOT' then
    p_state := logloom_private.query_go_on(p_state);
  elsif v_token = '-' then
    p_state."at" := p_state."at" + 1;
    if not logloom_private.query_is_adjacent(p_state, p_state."at")
      or left(p_state.texts[p_state."at"], 1) not in ('(', '"')
    then
      perform logloom_private.query_refuse(
        v_position,
        '- negates a term that follows at once',
        'Write -term, or "-" for the character itself.'
      );
    end if;
  elsif left(v_token, 1) = '-' then
    p_state.texts[p_state."at"] := substr(v_token, 2);
    p_state.positions[p_state."at"] := v_position + 1;
  else
    return logloom_private.query_parse_primary(p_state);
  end if;

  p_state := logloom_private.query_parse_not(logloom_private.query_deepen(p_state, v_position));
  p_state.node := jsonb_build_object('type', 'not', 'item', p_state.node);
  p_state.depth := v_depth;
  return p_state;
end;
$$;

revoke all on function logloom_private.query_parse_not(logloom_private.query_state) from public;

create function logloom_private.query_parse_and(p_state logloom_private.query_state)
returns logloom_private.query_state
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_items jsonb[] := '{}'::jsonb[];
begin
  loop
    p_state := logloom_private.query_parse_not(p_state);
    v_items := v_items || p_state.node;
    exit when p_state.texts[p_state."at"] in ('OR', ')', '|', '');
    if p_state.texts[p_state."at"] = 'AND' then
      p_state := logloom_private.query_go_on(p_state);
    end if;
  end loop;
  if cardinality(v_items) > 1 then
    p_state.node := jsonb_build_object('type', 'and', 'items', to_jsonb(v_items));
  end if;
  return p_state;
end;
$$;

revoke all on function logloom_private.query_parse_and(logloom_private.query_state) from public;

create function logloom_private.query_parse_or(p_state logloom_private.query_state)
returns logloom_private.query_state
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_items jsonb[] := '{}'::jsonb[];
begin
  loop
    p_state := logloom_private.query_parse_and(p_state);
    v_items := v_items || p_state.node;
    exit when p_state.texts[p_state."at"] <> 'OR';
    p_state := logloom_private.query_go_on(p_state);
  end loop;
  if cardinality(v_items) > 1 then
    p_state.node := jsonb_build_object('type', 'or', 'items', to_jsonb(v_items));
  end if;
  return p_state;
end;
$$;

revoke all on function logloom_private.query_parse_or(logloom_private.query_state) from public;
