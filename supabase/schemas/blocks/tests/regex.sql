-- A text that stands in all in which a regular expression of the query language, in PostgreSQL's
-- dialect, is found; empty where none is plain to see.
create function logloom_private.regex_literal(p_pattern text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_part text;
  v_run text := '';
  v_longest text := '';
  v_depth integer := 0;
begin
  foreach v_part in array array(
    select m.match[1]
    from regexp_matches(
      p_pattern, '\\.|\[(?:[^]\\]|\\.)*\]|\{[0-9,]*\}|.', 'g'
    ) with ordinality as m (match, n)
    order by m.n
  ) loop
    if v_depth = 0 and v_part ~ '^(?:[^\\(){}|*+?.^$[\]]|\\[^A-Za-z0-9])$' then
      v_run := v_run || right(v_part, 1);
      continue;
    elsif v_depth = 0 and v_part = '|' then
      return '';
    end if;
    v_depth := v_depth + case v_part when '(' then 1 when ')' then -1 else 0 end;
    -- What may be absent is not needed; what repeats ends the run.
    if v_part in ('*', '?') or left(v_part, 1) = '{' then
      v_run := left(v_run, -1);
    end if;
    if length(v_run) > length(v_longest) then
      v_longest := v_run;
    end if;
    v_run := '';
  end loop;
  return case when length(v_run) > length(v_longest) then v_run else v_longest end;
end;
$$;

-- Each digit of the regular expression is 0.
create function logloom_private.regex_template(p_values jsonb)
returns jsonb
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_part text;
  v_template text := '';
  v_decides boolean := true;
begin
  foreach v_part in array array(
    select m.match[1]
    from regexp_matches(
      p_values ->> 0, '\\.|\[(?:[^]\\]|\\.)*\]|\{[0-9,]*\}|.', 'g'
    ) with ordinality as m (match, n)
    order by m.n
  ) loop
    if left(v_part, 1) = '[' then
      -- A class that tells digits apart.
      if replace(v_part, '0-9', '') ~ '[0-9]' then
        v_decides := false;
        v_part := case when left(v_part, 2) = '[^' then '.' else left(v_part, -1) || '0]' end;
      end if;
    elsif v_part ~ '^\\?[0-9]$' then
      v_decides := false;
      v_part := '0';
    end if;
    v_template := v_template || v_part;
  end loop;
  return jsonb_build_object(
    'by', 'regex', 'values', array[v_template], 'decides', v_decides,
    'literal', logloom_private.regex_literal(v_template)
  );
end;
$$;
