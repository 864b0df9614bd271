create function logloom.unaudit_table(p_table regclass)
returns void
language plpgsql
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_name text;
begin
  for v_name in
    select t.tgname
    from pg_catalog.pg_trigger t
    where t.tgrelid = p_table and t.tgfoid = 'logloom_private.audit_changes'::regproc
  loop
    execute format('drop trigger %I on %s', v_name, p_table);
  end loop;
end;
$$;

comment on function logloom.unaudit_table(regclass) is
  'Removes the triggers of logloom.audit_table(). The events stay.';

create function logloom.audit_table(
  p_table regclass,
  columns text[] default null,
  ignore text[] default '{}',
  tenant text default null
)
returns void
language plpgsql
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_unknown text;
  v_keys text[];
  v_names text[];
  v_numbers smallint[];
  v_trigger record;
begin
  if not exists (
    select from pg_catalog.pg_class c where c.oid = p_table and c.relkind in ('r', 'p')
  ) then
    perform logloom_private.refuse('audit.table_is_invalid');
  end if;
  select n.name into v_unknown
  from unnest(columns || ignore || tenant) n (name)
  where n.name is not null and not exists (
    select
    from pg_catalog.pg_attribute a
    where a.attrelid = p_table and a.attname = n.name and a.attnum > 0 and not a.attisdropped
  );
  if found then
    perform logloom_private.refuse(
      'audit.column_is_unknown', p_table::text, left(v_unknown, 100)
    );
  end if;
  v_keys := array(
    select a.attname::text
    from pg_catalog.pg_index i
    cross join unnest(i.indkey) with ordinality k (attnum, n)
    join pg_catalog.pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.attnum
    where i.indrelid = p_table and i.indisprimary and a.attname <> all (coalesce(ignore, '{}'))
    order by k.n
  );
  select coalesce(array_agg(a.attname::text), '{}'), coalesce(array_agg(a.attnum), '{}')
  into v_names, v_numbers
  from pg_catalog.pg_attribute a
  where a.attrelid = p_table and a.attname = any (v_keys || columns || ignore || tenant);
  perform logloom.unaudit_table(p_table);
  for v_trigger in
    values
      ('insert', 'after insert', 'referencing new table as new_rows'),
      ('update', 'after update', 'referencing old table as old_rows new table as new_rows'),
      ('delete', 'after delete', 'referencing old table as old_rows'),
      ('truncate', 'before truncate', '')
  loop
    execute format(
      'create trigger logloom_audit_%s %s on %s %s for each statement '
        'execute function logloom_private.audit_changes(%L, %L, %L, %L, %L, %L, %L)',
      v_trigger.column1, v_trigger.column2, p_table, v_trigger.column3,
      v_keys, coalesce(ignore, '{}'), coalesce(tenant, ''), coalesce(columns::text, ''),
      v_names, v_numbers, p_table::oid
    );
  end loop;
end;
$$;

comment on function logloom.audit_table(regclass, text[], text[], text) is
  'Records each insert, update, delete and truncate of a table in the audit trail, by triggers. '
  'The table''s owner calls it. A second call replaces the first. columns: the columns whose '
  'values are recorded (default: all). ignore: columns that are never recorded. tenant: the column '
  'with a row''s tenant. Without it, or if it is null, the tenant of the token counts. A change '
  'without a tenant is not recorded. Errors: PT400.';
