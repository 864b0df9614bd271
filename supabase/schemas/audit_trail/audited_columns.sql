-- Returns a text as JSON. Of a long text: the beginning, and a digest of the whole text.
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

-- Returns SQL that selects the columns of a row, or null if all of them can become JSON. Types that
-- are not built in become texts, because their casts to json are functions of their owners. Long
-- values are cut here, before they are too long for jsonb.
create function logloom_private.row_source(
  p_table oid, p_statement logloom_private.audited_statement, p_has_long_values boolean
)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select case when p_has_long_values or bool_or(f.is_foreign) then coalesce(
      string_agg(
        format(
          case
            when f.is_foreign
              then 'case when r.%1$I is not null then logloom_private.text_value(concat(r.%1$I)) '
                'end'
            when t.oid = 'bytea'::regtype and p_has_long_values
              then 'case when octet_length(r.%1$I) > 100000 then to_jsonb(concat(''\x'', '
                'encode(substr(r.%1$I, 1, 1001), ''hex''), md5(r.%1$I))) else to_jsonb(r.%1$I) end'
            when t.typlen = -1 and p_has_long_values
              then 'case when pg_column_size(r.%1$I) > 100000 '
                'then logloom_private.text_value(r.%1$I::text) else to_jsonb(r.%1$I) end'
            else 'r.%1$I'
          end || ' as %1$I',
          a.attname
        ),
        ', '
      ) filter (
        where a.attname <> all (p_statement.hidden_columns)
          or a.attname = any (p_statement.keys || p_statement.tenant_column)
      ),
      ''
    ) end
    from pg_catalog.pg_attribute a
    join pg_catalog.pg_type t on t.oid = a.atttypid
    cross join lateral (
      select case t.typtype when 'd' then t.typbasetype else t.oid end >= 16384
    ) f (is_foreign)
    where a.attrelid = p_table and a.attnum > 0 and not a.attisdropped
  );
end;
$$;

-- Returns what a statement has to know of the table's columns. p_arguments: those of the table's
-- triggers, which are key, ignored columns, tenant's column, recorded columns, their names and
-- numbers, and the table. A column that is renamed keeps its number.
create function logloom_private.audited_columns(p_table oid, p_arguments text[])
returns logloom_private.audited_statement
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set plan_cache_mode = 'force_generic_plan'
as $$
declare
  v_keys constant text[] := p_arguments[1];
  v_ignored constant text[] := p_arguments[2];
  v_recorded constant text[] := nullif(p_arguments[4], '');
  v_names constant text[] := p_arguments[5];
  v_numbers constant smallint[] := p_arguments[6];
  v_statement logloom_private.audited_statement;
  v_has_own_types boolean;
  v_has_long_values boolean;
begin
  -- 1. Usually no column was renamed.
  select
    count(*) filter (where a.attname = v_names[array_position(v_numbers, a.attnum)])
      < cardinality(v_names) or p_table <> p_arguments[7]::oid,
    v_ignored || array_agg(a.attname::text) filter (where a.attname <> all (v_recorded)),
    bool_or(a.atttypid >= 16384),
    -- A table without TOAST has no long values. Its partitions or children may have some.
    (
      select t.relhassubclass or coalesce(pg_relation_size(nullif(t.reltoastrelid, 0)) > 0, false)
      from pg_catalog.pg_class t
      where t.oid = p_table
    )
  into v_statement.columns_have_changed, v_statement.hidden_columns, v_has_own_types,
    v_has_long_values
  from pg_catalog.pg_attribute a
  where a.attrelid = p_table and a.attnum > 0 and not a.attisdropped;
  v_statement.keys := v_keys;
  v_statement.tenant_column := p_arguments[3];

  -- 2. Finds renamed columns by number, and those of a restored table (another oid) by name.
  if v_statement.columns_have_changed then
    select
      array_agg(c.name order by array_position(v_keys, c.listed)) filter (
        where c.listed = any (v_keys)
      ),
      coalesce(
        array_agg(c.name) filter (
          where c.listed = any (v_ignored) or (c.listed = any (v_recorded)) is not true
            and v_recorded is not null
        ),
        '{}'
      ),
      max(c.name) filter (where c.listed = p_arguments[3]),
      count(*) filter (where c.listed = c.name) < cardinality(v_names)
    into v_statement.keys, v_statement.hidden_columns, v_statement.tenant_column,
      v_statement.columns_have_changed
    from (
      select a.attname::text as name,
        case
          when p_table = p_arguments[7]::oid then v_names[array_position(v_numbers, a.attnum)]
          when a.attname = any (v_names) then a.attname::text
        end as listed
      from pg_catalog.pg_attribute a
      where a.attrelid = p_table and a.attnum > 0 and not a.attisdropped
    ) c;
  end if;
  if v_has_own_types or v_has_long_values then
    v_statement.row_source :=
      logloom_private.row_source(p_table, v_statement, v_has_long_values);
  end if;
  return v_statement;
end;
$$;
