-- Translates our regular expressions to PostgreSQL's, part by part. No other syntax of PostgreSQL
-- gets through.

-- Returns how often PostgreSQL copies the repeated atom: {least, most}. {n,} gives {n, n + 1}, `*`
-- and `?` give {0, 1}, `+` gives {1, 1}.
create function logloom_private.query_regex_bounds(p_quantifier text, p_position integer)
returns integer[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_bounds constant text[] := regexp_match(
    p_quantifier, '^\{([0-9]{1,3})(,([0-9]{0,3}))?\}$'
  );
  v_least constant integer := v_bounds[1]::integer;
  v_most constant integer := case
    when v_bounds[2] is null then v_least
    when v_bounds[3] = '' then greatest(v_least, 100)
    else v_bounds[3]::integer
  end;
begin
  if p_quantifier in ('*', '?') then
    return array[0, 1];
  elsif p_quantifier = '+' then
    return array[1, 1];
  elsif v_bounds is null or v_least > 100 or v_most > 100 then
    perform logloom_private.refuse_at(p_position, 'regex.repeat_is_out_of_range');
  elsif v_least > v_most then
    perform logloom_private.refuse_at(p_position, 'regex.repeat_runs_backwards');
  end if;
  return array[v_least, case when v_bounds[3] = '' then v_least + 1 else v_most end];
end;
$$;

-- Translates one atom: a character, an escape or a class.
create function logloom_private.query_regex_atom(
  p_part text,
  p_position integer,
  p_fold boolean
)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_set constant text := logloom_private.query_regex_set(p_part, p_fold);
begin
  if p_part = '.' then
    return '.';
  elsif p_part = '[' then
    perform logloom_private.refuse_at(p_position, 'regex.class_is_not_closed');
  elsif left(p_part, 1) = '[' then
    return logloom_private.query_regex_class(p_part, p_position, p_fold);
  elsif v_set is not null then
    return '[' || v_set || ']';
  elsif p_part ~ '^\\[1-9]' then
    perform logloom_private.refuse_at(p_position, 'regex.has_a_back_reference');
  elsif p_part ~ '^\\[0A-Za-z]' then
    perform logloom_private.refuse_at(p_position, 'regex.not_an_escape', p_part);
  end if;
  return logloom_private.query_regex_literal(
    case when p_fold then logloom_private.folded_text(substr(p_part, 2)) else substr(p_part, 2) end
  );
end;
$$;

-- Translates a quoted token to {"pattern", "fold", "size", "position", "steps"}.
--
-- PostgreSQL matches a regular expression in limited time, but compiling may take long. It copies
-- the body of a bounded repeat and connects all optional parts. v_sizes adds up the measured cost:
-- 1 for a character or class, 3 more for an optional copy, 50 for \b. At 1000, compiling takes 60
-- ms at worst. The ? of a lazy repeat is dropped, because only the length of a match depends on
-- the ?, never whether there is a match.
--
-- With p_captures, groups may be named, (?P<ms>[0-9]+), and "names" has these names in order. Lazy
-- repeats are refused then: PostgreSQL takes the longest match of the whole expression.
create function logloom_private.query_regex(
  p_token text,
  p_position integer,
  p_captures boolean default false
)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_fold constant boolean := substr(p_token, 2, 4) = '(?i)';
  v_source text := substr(p_token, 2, char_length(p_token) - 2);
  v_position integer := p_position + 1;
  v_part text;
  v_sql text := '';
  v_bounds integer[];
  v_depth integer := 1;
  -- For each depth of groups: the size so far, and the size of the last atom (null: it cannot be
  -- repeated).
  v_sizes integer[] := array[0];
  v_atoms integer[] := array[null::integer];
  v_opened integer[] := array[0];
  v_steps integer := char_length(p_token);
  v_names text[] := '{}';
begin
  if char_length(v_source) > 256 then
    perform logloom_private.refuse_at(v_position + 256, 'regex.too_long');
  end if;
  if v_fold then
    v_source := substr(v_source, 5);
    v_position := v_position + 4;
  end if;

  foreach v_part in array array(
    select m.match[1]
    from regexp_matches(
      v_source,
      '\\.|\[(?:\[:[a-z]+:\]|[^]\\]|\\.)*\]|\(\?.?|\(\?P?<[A-Za-z_][A-Za-z0-9_]{0,59}>'
        || '|(?:\{[^}]*\}|[*+?])\??'
        || '|[^][\\(){}|*+?.^$]+(?![*+?{])|.', 'g'
    ) with ordinality as m (match, n)
    order by m.n
  ) loop
    case
      when strpos('\[().*+?{|^$', left(v_part, 1)) = 0 then
        v_atoms[v_depth] := char_length(v_part);
        v_sizes[v_depth] := v_sizes[v_depth] + v_atoms[v_depth];
        v_sql := v_sql
          || case when v_fold then logloom_private.folded_text(v_part) else v_part end;
      when left(v_part, 1) in ('*', '+', '?', '{') then
        if v_atoms[v_depth] is null then
          perform logloom_private.refuse_at(v_position, 'regex.nothing_to_repeat', v_part);
        elsif p_captures and v_part like '_%?' then
          perform logloom_private.refuse_at(v_position, 'regex.lazy_repeat_in_extract', v_part);
        end if;
        v_bounds := logloom_private.query_regex_bounds(
          left(v_part, 1) || rtrim(substr(v_part, 2), '?'), v_position
        );
        v_sizes[v_depth] := v_sizes[v_depth] + v_atoms[v_depth] * (greatest(v_bounds[2], 1) - 1)
          + 3 * (v_bounds[2] - v_bounds[1]);
        v_atoms[v_depth] := null;
        v_sql := v_sql || left(v_part, 1) || rtrim(substr(v_part, 2), '?');
      when v_part in ('(', '(?:') or p_captures and v_part ~ '^\(\?P?<.+>$' then
        v_depth := v_depth + 1;
        v_sizes[v_depth] := 1;
        v_atoms[v_depth] := null;
        v_opened[v_depth] := v_position;
        v_sql := v_sql || case when right(v_part, 1) = '>' then '(' else '(?:' end;
        if right(v_part, 1) = '>' then
          v_names := v_names || substring(v_part from '<(.*)>');
        end if;
      when v_part = ')' then
        if v_depth = 1 then
          perform logloom_private.refuse_at(v_position, 'regex.bracket_closes_nothing');
        end if;
        v_depth := v_depth - 1;
        v_sizes[v_depth] := v_sizes[v_depth] + v_sizes[v_depth + 1];
        v_atoms[v_depth] := v_sizes[v_depth + 1];
        v_sql := v_sql || ')';
      when v_part in ('|', '^', '$', '\b') then
        v_sizes[v_depth] := v_sizes[v_depth] + case v_part when '\b' then 50 else 1 end;
        v_atoms[v_depth] := null;
        v_sql := v_sql || case v_part when '\b' then '\y' else v_part end;
      when left(v_part, 2) = '(?' then
        perform logloom_private.refuse_at(v_position, 'regex.has_lookaround');
      else
        -- Folded ranges cost more steps: query_regex_range compares each with letter_cases.
        if v_fold and left(v_part, 1) = '[' then
          v_steps := v_steps + 125 * (char_length(v_part) - char_length(replace(v_part, '-', '')));
        end if;
        v_sql := v_sql || logloom_private.query_regex_atom(v_part, v_position, v_fold);
        v_atoms[v_depth] := 1;
        v_sizes[v_depth] := v_sizes[v_depth] + 1;
    end case;
    if v_sizes[v_depth] > 1000 then
      perform logloom_private.refuse_at(v_position, 'regex.too_complex');
    end if;
    v_position := v_position + char_length(v_part);
  end loop;

  if v_depth > 1 then
    perform logloom_private.refuse_at(v_opened[v_depth], 'regex.group_is_not_closed');
  end if;
  return jsonb_build_object(
    'pattern', v_sql, 'fold', v_fold, 'size', v_sizes[1], 'position', p_position + 1,
    'steps', v_steps, 'names', v_names
  );
end;
$$;
