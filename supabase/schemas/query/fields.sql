-- The fields that a query can name.

-- Lists the text columns, in the order in which "any" searches them.
create function logloom_private.query_text_columns()
returns text[]
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return array(
    select f.name
    from unnest(logloom_private.record_fields()) with ordinality f
    where f.sent and f.type = 'text'
    order by f.kind = 'level', f.ordinality
  );
end;
$$;

create function logloom_private.query_field_names()
returns text[]
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return array(
    select f.name
    from unnest(logloom_private.record_fields()) with ordinality f
    where f.kind <> 'attrs'
    order by f.ordinality
  ) || 'any'::text;
end;
$$;

-- Returns the edit distance of two names: how many letters are added, removed or replaced.
create function logloom_private.query_distance(p_from text, p_to text)
returns integer
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_row integer[] := array(select generate_series(0, char_length(p_to)));
  v_above integer;
  v_left integer;
begin
  for v_i in 1 .. char_length(p_from) loop
    v_left := v_row[1];
    v_row[1] := v_i;
    for v_j in 1 .. char_length(p_to) loop
      v_above := v_row[v_j + 1];
      v_row[v_j + 1] := least(
        v_above + 1,
        v_row[v_j] + 1,
        v_left + (substr(p_from, v_i, 1) <> substr(p_to, v_j, 1))::integer
      );
      v_left := v_above;
    end loop;
  end loop;
  return v_row[char_length(p_to) + 1];
end;
$$;

-- Returns the name that p_text misspells, or null. One letter may be wrong, two in a longer name,
-- or two swapped.
create function logloom_private.typo_of(p_text text, p_names text[])
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select n.name
    from unnest(p_names) with ordinality n (name, place)
    cross join lateral logloom_private.query_distance(p_text, n.name) d
    where left(p_text, 1) = left(n.name, 1) and d < char_length(p_text)
      and abs(char_length(p_text) - char_length(n.name)) <= 2
      and (d <= case when char_length(n.name) < 5 then 1 else 2 end or d = 2 and (
        select array_agg(a order by a) = array_agg(b order by b)
        from unnest(string_to_array(p_text, null), string_to_array(n.name, null)) u (a, b)
      ))
    order by d, n.place
    limit 1
  );
end;
$$;

-- Returns the field that a user who writes p_name probably means, or null.
create function logloom_private.query_near_field(p_name text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_name constant text := lower(p_name collate "C");
begin
  if char_length(v_name) not between 3 and 16 and v_name <> '*' then
    return null;
  end if;
  return coalesce(
    case when v_name in ('_all', '*') then 'any' end,
    (select f.name from unnest(logloom_private.record_fields()) f where v_name = any(f.near)),
    logloom_private.typo_of(v_name, logloom_private.query_field_names() || 'attrs'::text)
  );
end;
$$;

-- Resolves a name to an object. @name is attrs.name. p_stage: the stage or aggregate that names the
-- field; null in a filter. The object has:
--   field   the column
--   name    the name as written
--   reads   the columns and attrs.KEY that must be read
--   path    for an attribute: its keys
--   joined  for an attribute: the flat key to try if path finds nothing, so a.b also finds
--           {"a.b": 1}. Null for a path with one key, or with a quoted segment, which is exact.
create function logloom_private.query_field(
  p_name text,
  p_position integer,
  p_stage text default null
)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_path text[];
  v_joined text;
  v_rest text;
  v_near text;
begin
  if p_name = any(logloom_private.query_field_names()) then
    return jsonb_build_object(
      'field', p_name, 'name', p_name,
      'reads', case p_name when 'any' then logloom_private.query_text_columns() || 'attrs'::text
        else array[p_name] end
    );
  elsif left(p_name, 1) = '@' and p_name <> '@timestamp' then
    v_rest := '.' || substr(p_name, 2);
  elsif left(p_name, 6) = 'attrs.' then
    v_rest := substr(p_name, 6);
  elsif p_name = 'attrs' then
    perform logloom_private.refuse_at(p_position, 'query.attribute_is_missing');
  else
    v_near := logloom_private.query_near_field(p_name);
    if p_stage ~ '^(?:sum|avg|min|max|p[0-9].*)$' and v_near <> 'ts' then
      -- These aggregates take attributes, so no other field is suggested.
      v_near := null;
    end if;
    perform logloom_private.refuse_at(
      p_position,
      case when p_stage is null then 'query.field_is_unknown' else 'stages.field_is_unknown' end,
      logloom_private.query_excerpt(p_name),
      coalesce('Did you mean ' || v_near || '? ', '')
        || case when p_name collate "und-x-icu" !~ '^[[:alpha:]_][[:alpha:][:digit:]_.-]*$' then ''
          when p_stage is null
            then format('An attribute is written @%s: (short for attrs.%1$s:). ', left(p_name, 60))
          else format('An attribute is written @%s. ', left(p_name, 60)) end,
      array_to_string(logloom_private.query_field_names(), ', ')
    );
  end if;

  -- Uses ICU's classes, because they have the letters and digits of every script.
  if v_rest collate "und-x-icu" !~
    '^(?:\.(?:[[:alpha:][:digit:]_-]+|"(?:[^"\\]|\\.)*"))+$'
  then
    perform logloom_private.refuse_at(p_position, 'query.path_is_malformed');
  end if;

  if strpos(v_rest, '"') = 0 then
    v_path := string_to_array(substr(v_rest, 2), '.');
    v_joined := case when cardinality(v_path) > 1 then substr(v_rest, 2) end;
  else
    select array_agg(logloom_private.query_text(substr(m.match[1], 2)) order by m.n)
    into v_path
    from regexp_matches(v_rest, '\.(?:"(?:[^"\\]|\\.)*"|[^."]+)', 'g')
      with ordinality as m (match, n);
  end if;
  if cardinality(v_path) > 32 then
    perform logloom_private.refuse_at(p_position, 'query.path_is_too_long');
  end if;
  return jsonb_build_object(
    'field', 'attrs', 'name', p_name, 'path', v_path, 'joined', v_joined,
    'reads', array_remove(array['attrs.' || v_path[1], 'attrs.' || v_joined], null)
  );
end;
$$;
