-- Returns a text as JSON, a long one as what cut_row() keeps of it, and a digest to tell it by.
create function logloom_private.text_value(p_text text)
returns jsonb
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return to_jsonb(
    case when length(p_text) > 2001 then left(p_text, 2001) || md5(p_text) else p_text end
  );
end;
$$;

-- Returns what a statement has to know of the table's columns. The arguments are those of its
-- triggers: the key, the ignored columns, the column with the tenant, the columns to record, the
-- number of each of these columns, and the table. A number stays when its column is renamed. In a
-- restored table, which has another oid, the names decide.
-- Only built-in types become JSON as they are: another type's cast to json is a function of its
-- owner. A long value is cut here, with its digest, so that no value is too long for jsonb. A table
-- without both has no row_source: its rows become JSON as they are.
create function logloom_private.audited_columns(p_table oid, p_arguments text[])
returns logloom_private.audited_statement
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set plan_cache_mode = 'force_generic_plan'
as $$
declare
  v_statement logloom_private.audited_statement;
begin
  select
    array_agg(c.name order by array_position(p_arguments[1]::text[], c.listed))
      filter (where c.is_key),
    coalesce(array_agg(c.name) filter (where not c.is_recorded), '{}'),
    max(c.name) filter (where c.is_tenant),
    case when bool_or(c.has_long_values or c.is_foreign) then coalesce(
      string_agg(c.expression, ', ') filter (where c.is_recorded or c.is_key or c.is_tenant), ''
    ) end,
    count(*) filter (where c.listed = c.name)
      < (select count(*) from jsonb_object_keys(p_arguments[5]::jsonb))
  into v_statement.keys, v_statement.hidden_columns, v_statement.tenant_column,
    v_statement.row_source, v_statement.columns_have_changed
  from (
    select a.attname::text as name, l.key as listed,
      l.key = any (p_arguments[1]::text[]) as is_key, l.key = p_arguments[3] as is_tenant,
      coalesce(l.key <> all (p_arguments[2]::text[]), true) and coalesce(
        p_arguments[4] = '' or l.key = any (nullif(p_arguments[4], '')::text[]), false
      ) as is_recorded,
      f.is_foreign, r.has_long_values,
      format(
        case
          when f.is_foreign
            then 'case when r.%1$I is not null then logloom_private.text_value(concat(r.%1$I)) end'
          when t.oid = 'bytea'::regtype and r.has_long_values
            then 'case when octet_length(r.%1$I) > 100000 then to_jsonb(concat(''\x'', '
              'encode(substr(r.%1$I, 1, 1001), ''hex''), md5(r.%1$I))) else to_jsonb(r.%1$I) end'
          when t.typlen = -1 and r.has_long_values
            then 'case when pg_column_size(r.%1$I) > 100000 '
              'then logloom_private.text_value(r.%1$I::text) else to_jsonb(r.%1$I) end'
          else 'r.%1$I'
        end || ' as %1$I',
        a.attname
      ) as expression
    from pg_catalog.pg_attribute a
    join pg_catalog.pg_type t on t.oid = a.atttypid
    -- A table without TOAST has no long values. Its partitions or children may have some.
    cross join (
      select c.relhassubclass or coalesce(pg_relation_size(nullif(c.reltoastrelid, 0)) > 0, false)
      from pg_catalog.pg_class c
      where c.oid = p_table
    ) r (has_long_values)
    cross join lateral (
      select case t.typtype when 'd' then t.typbasetype else t.oid end >= 16384
    ) f (is_foreign)
    left join jsonb_each_text(p_arguments[5]::jsonb) l
      on case when p_table = p_arguments[6]::oid then l.value = a.attnum::text
        else l.key = a.attname end
    where a.attrelid = p_table and a.attnum > 0 and not a.attisdropped
  ) c;
  return v_statement;
end;
$$;
