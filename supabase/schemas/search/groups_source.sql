-- Rows of the fields that a bound query groups by, and events: for how many records a row stands.
-- Sealed ones come from columns of blocks. Null where a field that it groups by is none of these.
-- The tenant has rows from p_rows_from on.
create function logloom_private.groups_source(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_rows_from timestamptz
)
returns logloom_private.counted_source
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_by constant jsonb := p_query.plan -> 'by';
  v_fields constant text[] := array(
    select distinct f ->> 'field' from jsonb_array_elements(v_by) f order by 1
  );
  v_keys constant text[] := array(
    select distinct concat_ws('.', f ->> 'field', f -> 'path' ->> 0)
    from jsonb_array_elements(v_by) f
    order by 1
  );
  v_attributes constant text := (
    select string_agg(
      format('jsonb_build_object(%L::text, g.keys[%s]::jsonb)', substr(k.name, 7), k.n), ' || '
    )
    from unnest(v_keys) with ordinality k (name, n)
    where k.name like 'attrs.%'
  );
  v_sql text;
begin
  if jsonb_path_exists(v_by, '$[*] ? (@.path.size() > 1)')
    or not v_fields <@ (logloom_private.column_fields() || array['attrs', 'level', 'service'])
  then
    return null;
  end if;
  v_sql := 'select ' || (
    select string_agg(
      case f.name when 'attrs' then v_attributes || ' as attrs'
        else format('g.keys[%s] as %I', array_position(v_keys, f.name), f.name) end,
      ', ' order by f.n
    )
    from unnest(v_fields) with ordinality f (name, n)
  ) || ', g.events from (select s.keys, sum(s.events) as events '
    || 'from logloom_private.sealed_groups(' || format(
      '%s, %L, %L, %L, %L',
      logloom_private.scanned_tenant_sql(quote_literal(p_tenant_id)),
      p_query.ts_from, p_query.ts_to, p_query.tree, v_keys
    ) || ') s group by s.keys) g';
  if p_rows_from < p_query.ts_to then
    v_sql := v_sql || ' union all select l.' || array_to_string(v_fields, ', l.') || ', 1 '
      || logloom_private.rows_sql(
        p_tenant_id, p_rows_from, p_query.ts_to, p_query.filter, v_keys
      );
  end if;
  return (
    'from (' || v_sql || ') l', 'coalesce(sum(l.events), 0)::double precision', null, null
  )::logloom_private.counted_source;
end;
$$;
