-- Hidden fields: names of columns, attrs for all attributes, and attrs.PATH with the keys of a path
-- between dots. What lies below a hidden path is hidden, also where flat keys hold it.

create function logloom_private.is_hidden(p_name text, p_hidden text[])
returns boolean
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return exists (
    select from unnest(p_hidden) h where p_name = h or starts_with(p_name, h || '.')
  );
end;
$$;

-- A field that query_field made, as hidden fields name it.
create function logloom_private.hidden_name(p_field jsonb)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return concat_ws(
    '.', p_field ->> 'field',
    (
      select string_agg(k.key, '.' order by k.n)
      from jsonb_array_elements_text(p_field -> 'path') with ordinality k (key, n)
    )
  );
end;
$$;

-- PT400 where a query names a hidden field.
create function logloom_private.refuse_hidden_fields(
  p_query logloom_private.compiled_query,
  p_query_dsl text,
  p_hidden text[]
)
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_name text;
  v_tokens logloom_private.query_state;
  v_position integer;
begin
  if p_hidden is null then
    return;
  end if;
  select coalesce(f ->> 'name', f ->> 'field') into v_name
  from (
    select jsonb_path_query(
      jsonb_build_array(p_query.tree, p_query.plan), 'strict $.** ? (@.field.type() == "string")'
    ) as f
    union all
    select '{"field": "msg"}' where p_query.plan ? 'patterns'
  ) named
  where logloom_private.is_hidden(logloom_private.hidden_name(f), p_hidden)
  limit 1;
  if found then
    -- Where it stands as a name; one that is quoted in part is several tokens.
    v_tokens := logloom_private.query_tokenize(coalesce(p_query_dsl, ''), now());
    select min(t.position + n."at" - 1) into v_position
    from unnest(v_tokens.texts, v_tokens.positions) t (text, position)
    cross join lateral strpos(t.text, v_name) n ("at")
    where n."at" > 0
      and left(t.text, 1) <> '"'
      and (n."at" = 1 or substr(t.text, n."at" - 1, 1) in ('-', ','))
      and substr(t.text, n."at" + length(v_name), 1) in ('', ':', ',');
    perform logloom_private.refuse_at(
      greatest(coalesce(v_position, strpos(p_query_dsl, v_name)), 1), 'search.field_is_hidden',
      logloom_private.query_excerpt(v_name)
    );
  end if;
end;
$$;

-- Whether one of p_reads, as query_reads names them, is hidden or has something hidden below it.
-- Keys with a dot may be of the same path, so the first key of attributes decides.
create function logloom_private.reads_hidden(p_reads text[], p_hidden text[])
returns boolean
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return exists (
    select
    from unnest(p_reads) r (name)
    cross join unnest(p_hidden) h (name)
    where r.name = h.name
      or split_part(r.name, '.', 1) = 'attrs' and split_part(h.name, '.', 1) = 'attrs'
      and (
        'attrs' in (r.name, h.name) or split_part(r.name, '.', 2) = split_part(h.name, '.', 2)
      )
  );
end;
$$;

-- What may answer a query in place of records without its hidden fields. counts: counts of records
-- as they are stored, and dictionaries of blocks. sizes: the sizes of stored records, and where
-- blocks begin and end, since it follows from them.
create function logloom_private.short_cuts(
  p_query logloom_private.compiled_query,
  out counts boolean,
  out sizes boolean
)
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  counts := not logloom_private.reads_hidden(
    p_query.by_fields || logloom_private.query_reads(p_query.plan), p_query.hidden_fields
  );
  sizes := p_query.hidden_fields is null;
end;
$$;

-- A tree whose leaves over any text look through what p_hidden leaves of a record.
create function logloom_private.tree_without(p_tree jsonb, p_hidden text[])
returns jsonb
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  case
    when p_tree ->> 'type' in ('and', 'or') then
      return p_tree || jsonb_build_object('items', (
        select jsonb_agg(logloom_private.tree_without(i.item, p_hidden) order by i.n)
        from jsonb_array_elements(p_tree -> 'items') with ordinality i (item, n)
      ));
    when p_tree ->> 'type' = 'not' then
      return p_tree || jsonb_build_object(
        'item', logloom_private.tree_without(p_tree -> 'item', p_hidden)
      );
    when p_tree ->> 'field' = 'any' then
      return p_tree || jsonb_build_object('hidden', p_hidden);
    else
      return p_tree;
  end case;
end;
$$;

-- Attributes without those at the paths p_hidden: keys between dots, of which one key of an object
-- may hold several. Objects in an array are looked through as if they were in its place.
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

-- A pattern of attributes, as text, that may hold a hidden path neither nested nor as one flat
-- key: in an array ({"a": [{"b": 1}]} for a.b), below it ({"a.b.c": 1}), or partly joined
-- ({"a.b": {"c": 1}} for a.b.c). Null where the pattern would be long or match nearly all.
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

-- SQL: the attributes of p_attrs, an expression, without p_paths. masked_attrs walks through all
-- that attributes hold, which takes fifty times as long, so only odd ones are given to it.
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

-- Names of hidden fields that are attributes, as paths of attrs.
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

-- The rows of logloom.logs that p_rows yields, in their order, as a query reads them: without its
-- hidden fields. Attributes of which p_reads (null: all) names none that is hidden are as they are
-- stored. The size of what is stored says something of what is hidden, and is not there either.
create function logloom_private.masked_sql(
  p_query logloom_private.compiled_query,
  p_rows logloom_private.sql_source,
  p_reads text[] default null
)
returns logloom_private.sql_source
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_paths constant text[] := logloom_private.hidden_paths(p_query.hidden_fields);
  v_masked logloom_private.sql_source := p_rows;
begin
  if p_query.hidden_fields is null then
    return p_rows;
  end if;
  v_masked.where_sql := 'true';
  v_masked.from_sql := '(select ' || (
    select string_agg(
      case
        when f.name = 'record_bytes' or f.name = any(p_query.hidden_fields)
          then format('null::%s as %I', f.type, f.name)
        when f.name = 'attrs' and v_paths <> '{}' and (
          p_reads is null or logloom_private.reads_hidden(p_reads, p_query.hidden_fields)
        ) then logloom_private.masked_attrs_sql('l.attrs', v_paths) || ' as attrs'
        else 'l.' || f.name
      end,
      ', ' order by f.ordinality
    )
    from unnest(logloom_private.record_fields()) with ordinality f
  ) || ' ' || logloom_private.source_sql(p_rows) || ') l';
  return v_masked;
end;
$$;
