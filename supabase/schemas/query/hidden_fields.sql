-- A hidden field is the name of a column, attrs for all attributes, or attrs.PATH with dots between
-- the keys. A hidden path also hides all paths below it, and flat keys with dots that name them.

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

-- Returns the name of a field (from query_field) as it is written in lists of hidden fields.
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
    -- Searches token by token, so that the name is not found within a value. A name with quotes is
    -- several tokens: strpos below finds its position.
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

-- True if one of p_reads (from query_reads) is hidden, or may contain a hidden path. Compares only
-- the first keys of attributes, because nested objects and a key with dots can mean the same path.
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

-- Tells what a query may read instead of masked records, although fields are hidden.
--   counts  stored counts, and dictionaries of blocks
--   sizes   sizes of stored records, and the bounds of blocks, which depend on sizes
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

-- Makes the leaves of the field any skip hidden fields. Returns the tree.
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

-- Returns the rows of p_rows without the hidden fields of the query, in the same order. Attributes
-- stay as they are if p_reads (null: all fields) names no hidden field. record_bytes becomes null,
-- because it would tell the size of hidden fields.
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
