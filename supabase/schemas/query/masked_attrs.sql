-- Removes the paths p_hidden from attributes. The path a.b hides the value in {"a": {"b": 1}}, in
-- {"a.b": 1}, and in each object of an array: {"a": [{"b": 1}]}.
create function logloom_private.masked_attrs(p_attrs jsonb, p_hidden text[])
returns jsonb
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  if jsonb_typeof(p_attrs) = 'array' then
    return (
      select coalesce(
        jsonb_agg(logloom_private.masked_attrs(e.value, p_hidden) order by e.n), '[]'
      )
      from jsonb_array_elements(p_attrs) with ordinality e (value, n)
    );
  elsif jsonb_typeof(p_attrs) is distinct from 'object' then
    return p_attrs;
  end if;
  return (
    select coalesce(
      jsonb_object_agg(
        m.key,
        case when b.below = '{}' then m.value
          else logloom_private.masked_attrs(m.value, b.below) end
      ),
      '{}'
    )
    from jsonb_each(p_attrs) m
    cross join lateral (
      select array(
        select substr(h, length(m.key) + 2)
        from unnest(p_hidden) h
        where jsonb_typeof(m.value) in ('object', 'array') and starts_with(h, m.key || '.')
      ) as below
    ) b
    where not exists (
      select from unnest(p_hidden) h where m.key = h or starts_with(m.key, h || '.')
    )
  );
end;
$$;

-- Builds a regex over attributes as text. It matches attributes in which a hidden path may exist in
-- another form than nested objects or one flat key:
-- - in an array: {"a": [{"b": 1}]} for a.b
-- - below a flat key: {"a.b.c": 1} for a.b
-- - partly joined: {"a.b": {"c": 1}} for a.b.c
-- Null if the regex would be long or match nearly everything.
create function logloom_private.odd_paths_pattern(p_paths text[])
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if '' = any(p_paths) or (
    select sum((length(p) - length(replace(p, '.', '')) + 1) ^ 2) from unnest(p_paths) p
  ) > 200 then
    return null;
  end if;
  return (
    select string_agg(
      distinct regexp_replace(
        left(to_jsonb(k.key)::text, -1), '([][\\.*+?(){}|^$])', '\\\1', 'g'
      ) || case
        when k.last < k.keys and k.first = k.last then '": \['
        when k.last < k.keys then '": [[{]'
        when k.first in (1, k.last) then '\.'
        else '(?:\.|": )'
      end,
      '|'
    )
    from (
      select f.first, l.last, s.keys, array_to_string(s.path[f.first:l.last], '.') as key
      from (
        select string_to_array(p, '.') as path, cardinality(string_to_array(p, '.')) as keys
        from unnest(p_paths) p
      ) s
      cross join lateral generate_series(1, s.keys) f (first)
      cross join lateral generate_series(f.first, s.keys) l (last)
    ) k
  );
end;
$$;

-- Builds SQL that removes p_paths from the expression p_attrs. Only attributes that match
-- odd_paths_pattern go to masked_attrs, which is fifty times as slow as - and #-.
create function logloom_private.masked_attrs_sql(p_attrs text, p_paths text[])
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_odd constant text := logloom_private.odd_paths_pattern(p_paths);
  v_sql text := format('logloom_private.masked_attrs(%s, %L)', p_attrs, p_paths);
begin
  if v_odd is not null then
    v_sql := format(
      'case when %1$s::text collate "C" ~ %2$L then %3$s else %1$s - %4$L::text[]%5$s end',
      p_attrs, v_odd, v_sql, p_paths,
      (
        select string_agg(format(' #- %L', string_to_array(p, '.')), '')
        from unnest(p_paths) p
        where strpos(p, '.') > 0
      )
    );
  end if;
  return 'nullif(' || v_sql || ', ''{}'')';
end;
$$;

-- Returns the paths of hidden attributes: a.b for attrs.a.b.
create function logloom_private.hidden_paths(p_hidden text[])
returns text[]
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return array(select substr(h, 7) from unnest(p_hidden) h where starts_with(h, 'attrs.'));
end;
$$;
