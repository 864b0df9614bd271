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

-- A tree that holds for every record for which p_tree holds once something is hidden of it: what
-- looks through any text could find what is hidden, and is left out.
create function logloom_private.tree_without_any(p_tree jsonb)
returns jsonb
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if not jsonb_path_exists(p_tree, 'strict $.** ? (@.field == "any")') then
    return p_tree;
  elsif p_tree ->> 'type' <> 'and' then
    return '{"type": "all"}';
  end if;
  return jsonb_build_object('type', 'and', 'items', (
    select jsonb_agg(logloom_private.tree_without_any(i.item) order by i.n)
    from jsonb_array_elements(p_tree -> 'items') with ordinality i (item, n)
  ));
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

-- SQL from "from" on: the rows of logloom.logs that p_rows, SQL of the same kind, yields, as a
-- query reads them: without its hidden fields, and of these what it asks of them. The size of what
-- is stored says something of what is hidden, and is not there either.
create function logloom_private.masked_sql(
  p_query logloom_private.compiled_query,
  p_rows text
)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_paths constant text[] := array(
    select substr(h, 7) from unnest(p_query.hidden_fields) h where starts_with(h, 'attrs.')
  );
begin
  if p_query.hidden_fields is null then
    return p_rows;
  end if;
  return 'from (select ' || (
    select string_agg(
      case
        when f.name = 'record_bytes' or f.name = any(p_query.hidden_fields)
          then format('null::%s as %I', f.type, f.name)
        when f.name = 'attrs' and v_paths <> '{}' then format(
          'nullif(logloom_private.masked_attrs(l.attrs, %L), ''{}'') as attrs', v_paths
        )
        else 'l.' || f.name
      end,
      ', ' order by f.ordinality
    )
    from unnest(logloom_private.record_fields()) with ordinality f
  ) || format(
    ' %s) l where %s', p_rows,
    case when p_query.masked_tree is null then 'true'
      else logloom_private.query_sql(p_query.masked_tree, 'l') end
  );
end;
$$;
