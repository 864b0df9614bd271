-- Splits a query into tokens.

-- Splits a text into tokens, without white space. The text begins at p_position of the query. A
-- character that p_pattern does not match becomes a token of its own.
create function logloom_private.query_split(
  p_state logloom_private.query_state,
  p_text text,
  p_position integer,
  p_pattern text
)
returns logloom_private.query_state
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  select array_agg(t.text order by t.n), array_agg(t.position order by t.n)
  into p_state.texts, p_state.positions
  from (
    select
      m.match[2] as text,
      m.n,
      (p_position + sum(char_length(m.match[1]) + char_length(m.match[2])) over (order by m.n)
        - char_length(m.match[2]))::integer as position
    from regexp_matches(p_text, '([ \t\r\n\u00a0]*)(' || p_pattern || '|.|$)', 'g')
      with ordinality as m (match, n)
  ) t;
  p_state."at" := 1;
  return logloom_private.query_spend(p_state, cardinality(p_state.texts));
end;
$$;

-- Returns the state at the first token.
create function logloom_private.query_tokenize(p_query_dsl text, p_now timestamptz)
returns logloom_private.query_state
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_state logloom_private.query_state;
  v_stray integer;
  -- msg:/Failed password for (root|admin)/
  v_slashes constant text[] := regexp_match(
    p_query_dsl,
    '(?:^|[ (-])((?:msg|any|@[A-Za-z_][A-Za-z0-9_.]*):)'
      || '(/((?:[^/\\"]|\\.)*[ (|[{](?:[^/\\"]|\\.)*)/)(?:$|[ )])'
  );
begin
  v_state.depth := 0;
  v_state.leaves := 0;
  v_state.searched := 0;
  v_state.steps := 0;
  v_state."now" := p_now;
  v_state.names_now := false;
  v_state.warnings := '[]';
  v_state.node := '{"type": "all"}';
  -- Matches a quoted text, a bracket or bar, or a word.
  v_state := logloom_private.query_split(
    v_state, p_query_dsl, 1,
    '"(?:[^"\\]|\\.)*"|[][(){}|]|(?:[^] \t\r\n\u00a0[(){}|"\\]|\\.)+'
  );
  v_stray := least(array_position(v_state.texts, '"'), array_position(v_state.texts, '\'));
  if v_stray is not null then
    perform logloom_private.refuse_at(
      v_state.positions[v_stray],
      case v_state.texts[v_stray] when '"' then 'query.quote_is_not_closed'
        else 'query.backslash_escapes_nothing' end
    );
  elsif v_slashes[3] ~ '[(|[{]' then
    perform logloom_private.refuse_at(
      strpos(p_query_dsl, v_slashes[1] || v_slashes[2]) + char_length(v_slashes[1]),
      'query.slashes_are_text', v_slashes[1] || '~"' || v_slashes[3] || '"'
    );
  end if;
  return logloom_private.query_warn(
    v_state, strpos(p_query_dsl, v_slashes[1] || v_slashes[2]) + char_length(v_slashes[1]),
    'Slashes do not mark a regular expression: ' || v_slashes[2] || ' is read as a text'
  );
end;
$$;

-- True for a word or a quoted text.
create function logloom_private.query_is_term(p_token text)
returns boolean
language sql
immutable
return left(p_token, 1) not in ('', '(', ')', '[', ']', '{', '}', '|');

create function logloom_private.query_is_adjacent(
  p_state logloom_private.query_state,
  p_at integer
)
returns boolean
language sql
immutable
return p_at > 1
  and p_state.positions[p_at - 1] + char_length(p_state.texts[p_at - 1])
    = p_state.positions[p_at];

-- Goes to the next token. Two terms that touch are an error, because languages differ: some read
-- time"out" as one term.
create function logloom_private.query_advance(p_state logloom_private.query_state)
returns logloom_private.query_state
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  p_state."at" := p_state."at" + 1;
  if logloom_private.query_is_adjacent(p_state, p_state."at")
    and logloom_private.query_is_term(p_state.texts[p_state."at"])
  then
    perform logloom_private.refuse_at(
      p_state.positions[p_state."at"], 'query.white_space_is_missing',
      logloom_private.query_excerpt(p_state.texts[p_state."at"])
    );
  end if;
  return p_state;
end;
$$;

-- Returns the text of a word or a quoted token, without quotes and escapes.
create function logloom_private.query_text(p_token text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_text text := p_token;
begin
  if left(v_text, 1) = '"' then
    v_text := substr(v_text, 2, char_length(v_text) - 2);
  end if;
  if strpos(v_text, '\') > 0 then
    v_text := regexp_replace(v_text, '\\(.)', '\1', 'g');
  end if;
  return v_text;
end;
$$;

create function logloom_private.query_has_wildcard(p_token text)
returns boolean
language sql
immutable
return left(p_token, 1) <> '"' and translate(p_token, '*?', '') <> p_token
  and p_token ~ '^(?:[^\\*?]|\\.)*[*?]';

-- Returns a LIKE pattern that matches exactly this text.
create function logloom_private.query_like_text(p_text text)
returns text
language sql
immutable
return regexp_replace(p_text, '([\\%_])', '\\\1', 'g');

-- Returns a token as a LIKE pattern: * and ? become % and _; % and _ are escaped.
create function logloom_private.query_like(p_token text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if left(p_token, 1) = '"' then
    return logloom_private.query_like_text(logloom_private.query_text(p_token));
  elsif strpos(p_token, '\') = 0 then
    return translate(replace(replace(p_token, '%', '\%'), '_', '\_'), '*?', '%_');
  end if;
  return (
    select string_agg(
      case
        when left(m.match[1], 1) <> '\' then
          translate(replace(replace(m.match[1], '%', '\%'), '_', '\_'), '*?', '%_')
        when substr(m.match[1], 2) in ('%', '_', '\') then m.match[1]
        else substr(m.match[1], 2)
      end,
      '' order by m.n
    )
    from regexp_matches(p_token, '\\.|[^\\]+', 'g') with ordinality as m (match, n)
  );
end;
$$;

-- Returns a LIKE pattern for a whole record as one text, in ASCII lower case. The pattern matches
-- every record that has a text like p_pattern (when folded), and some other records. Characters
-- that JSON escapes become %. Non-ASCII characters become _. The letters i and k also become _,
-- because the non-ASCII İ and Kelvin sign fold to i and k.
create function logloom_private.query_like_record(p_pattern text)
returns text
language sql
immutable
return '%' || regexp_replace(
  regexp_replace(p_pattern, '\\[\\_]|["_\x01-\x1f\x7f]', '%', 'g'),
  '[ik\x80-\U0010ffff]', '_', 'g'
) || '%';
