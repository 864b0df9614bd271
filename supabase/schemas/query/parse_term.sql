-- Parses terms: free terms, and fields with values.

-- Parses a free term: a word or a quoted text.
create function logloom_private.query_parse_free(p_state logloom_private.query_state)
returns logloom_private.query_state
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_token constant text := p_state.texts[p_state."at"];
  v_position constant integer := p_state.positions[p_state."at"];
begin
  p_state := logloom_private.query_count_leaf(p_state, v_position);
  if left(v_token, 1) <> '"' or logloom_private.query_is_escaped_in_vain(v_token) then
    p_state := logloom_private.query_warn_free(p_state);
  end if;
  if v_token = '*' then
    -- Matches every record, even one without a message. Stored counts can answer this leaf.
    p_state.node := '{"type": "all"}';
  else
    p_state := logloom_private.query_check_contains(
      p_state, logloom_private.query_field('msg', 1), v_token, v_position
    );
  end if;
  return logloom_private.query_advance(p_state);
end;
$$;

-- Parses field:value, or a free term. The name ends at the first colon. If an attribute's path has
-- quoted segments, the name is several tokens.
create function logloom_private.query_parse_term(p_state logloom_private.query_state)
returns logloom_private.query_state
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_first constant integer := p_state."at";
  v_at integer := v_first;
  v_name text := '';
  v_head text;
  v_operator text;
  v_field jsonb;
  v_colon integer;
begin
  if left(p_state.texts[v_first], 1) = '"' then
    return logloom_private.query_parse_free(p_state);
  end if;
  loop
    p_state := logloom_private.query_spend(p_state, 1);
    v_head := p_state.texts[v_at];
    if strpos(v_head, ':') > 0 and left(v_head, 1) <> '"' then
      v_head := coalesce(substring(v_head from '^(?:[^:\\]|\\.)+'), '');
    end if;
    v_name := v_name || v_head;
    exit when v_head <> p_state.texts[v_at];
    if v_at = v_first and (v_head !~ '^(?:@|(?:attrs|@.*)\.|attrs\..*\.)$'
      or left(p_state.texts[v_at + 1], 1) <> '"'
      or not logloom_private.query_is_adjacent(p_state, v_at + 1))
    then
      v_at := null;
      exit;
    end if;
    v_at := v_at + 1;
    if not logloom_private.query_is_adjacent(p_state, v_at)
      or not logloom_private.query_is_term(p_state.texts[v_at])
    then
      perform logloom_private.refuse_at(p_state.positions[v_at], 'query.colon_is_missing');
    end if;
  end loop;

  v_operator := left(v_name, 1);
  if v_name = '' then
    perform logloom_private.refuse_at(p_state.positions[v_first], 'query.field_is_missing');
  elsif v_operator in ('<', '>', '~') then
    perform logloom_private.refuse_at(
      p_state.positions[v_first], 'query.operator_is_for_values', v_operator
    );
  elsif v_at is null then
    -- The token has no colon.
    return logloom_private.query_parse_free(p_state);
  end if;
  v_field := logloom_private.query_field(v_name, p_state.positions[v_first]);

  v_colon := p_state.positions[v_at] + char_length(v_head);
  p_state."at" := v_at;
  p_state := logloom_private.query_take(p_state, v_head || ':');
  if p_state.texts[p_state."at"] in ('', ')', ']', '}', '|')
    or p_state.positions[p_state."at"] <> v_colon + 1
  then
    perform logloom_private.refuse_at(
      v_colon + 1, 'query.value_is_missing', logloom_private.query_excerpt(v_name || ':')
    );
  end if;
  return logloom_private.query_parse_value(p_state, v_field);
end;
$$;

-- Removes p_head (a field with its colon, or a sign) from the current token. Goes to the next token
-- if nothing is left.
create function logloom_private.query_take(
  p_state logloom_private.query_state,
  p_head text
)
returns logloom_private.query_state
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_state.texts[p_state."at"] = p_head then
    p_state."at" := p_state."at" + 1;
  else
    p_state.texts[p_state."at"] := substr(p_state.texts[p_state."at"], char_length(p_head) + 1);
    p_state.positions[p_state."at"] := p_state.positions[p_state."at"] + char_length(p_head);
  end if;
  return p_state;
end;
$$;
