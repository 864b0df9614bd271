-- A leaf over the message as one over its template.

-- A text that all hold in which a regular expression is found, the longest that stands in it; ''
-- where none does.
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

-- A regular expression or LIKE pattern in which each digit is 0, and whether it decides or only
-- leaves out. A leaf over the message as one over its template, with sure: whether it decides, or
-- only leaves out. Null where there is none.
create function logloom_private.template_leaf(p_leaf jsonb)
returns jsonb
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_pattern constant text := p_leaf ->> 'pattern';
  v_part text;
  v_template text := '';
  v_sure boolean := true;
begin
  case p_leaf ->> 'test'
    when 'exists' then
      return p_leaf || '{"sure": true}';
    when 'contains', 'like' then
      v_template := logloom_private.template_of(v_pattern);
      return p_leaf || jsonb_build_object('pattern', v_template, 'sure', v_pattern !~ '[0-9]');
    when 'equal' then
      return p_leaf || jsonb_build_object(
        'values', (
          select jsonb_agg(logloom_private.template_of(v #>> '{}'))
          from jsonb_array_elements(p_leaf -> 'values') v
        ),
        'sure', (p_leaf ->> 'values') !~ '[0-9]'
      );
    when 'regex' then
      foreach v_part in array array(
        select m.match[1]
        from regexp_matches(
          v_pattern, '\\.|\[(?:[^]\\]|\\.)*\]|\{[0-9,]*\}|.', 'g'
        ) with ordinality as m (match, n)
        order by m.n
      ) loop
        if left(v_part, 1) = '[' then
          -- A class that tells digits apart.
          if replace(v_part, '0-9', '') ~ '[0-9]' then
            v_sure := false;
            v_part := case when left(v_part, 2) = '[^' then '.' else left(v_part, -1) || '0]' end;
          end if;
        elsif v_part ~ '^\\?[0-9]$' then
          v_sure := false;
          v_part := '0';
        end if;
        v_template := v_template || v_part;
      end loop;
      return p_leaf || jsonb_build_object('pattern', v_template, 'sure', v_sure);
    else
      return null;
  end case;
end;
$$;

-- Whether the leaf is decided on templates in lower case.
-- Whether a leaf of template_leaf is tested on templates in lower case.
create function logloom_private.template_is_folded(p_leaf jsonb)
returns boolean
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return p_leaf ->> 'test' = 'contains'
    or p_leaf ->> 'test' = 'regex' and coalesce((p_leaf ->> 'fold')::boolean, false);
end;
$$;

-- A text that each template holds, in lower case where the leaf is tested so, that passes a leaf of
-- template_leaf; empty where there is none.
create function logloom_private.template_literal(p_leaf jsonb)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_pattern constant text := p_leaf ->> 'pattern';
  v_inner constant text := substr(v_pattern, 2, greatest(length(v_pattern) - 2, 0));
begin
  return case
    when p_leaf ->> 'test' = 'regex' then logloom_private.regex_literal(v_pattern)
    when p_leaf ->> 'test' = 'contains' and regexp_replace(v_inner, '\\.', '', 'g') !~ '[_%]'
      then regexp_replace(v_inner, '\\(.)', '\1', 'g')
    else ''
  end;
end;
$$;

-- A leaf of template_leaf as SQL over the alias l: msg is a template, folded the same in lower
-- case.
create function logloom_private.template_test_sql(p_leaf jsonb)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_text constant text :=
    case when logloom_private.template_is_folded(p_leaf) then 'l.folded' else 'l.msg' end;
  v_literal constant text := logloom_private.template_literal(p_leaf);
  v_sql text;
begin
  case p_leaf ->> 'test'
    when 'contains' then
      return v_text || ' like ' || quote_literal(p_leaf ->> 'pattern');
    when 'regex' then
      v_sql := v_text || ' collate "C" ~ ' || quote_literal(p_leaf ->> 'pattern');
      -- A plain text is found far quicker.
      return case
        when v_literal = '' then '(' || v_sql || ')'
        else format(
          'case when strpos(%s, %L) > 0 then %s else false end', v_text, v_literal, v_sql
        )
      end;
    else
      return logloom_private.query_sql(p_leaf, 'l');
  end case;
end;
$$;
