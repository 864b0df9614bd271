-- Before anything is made: what a project has to offer.
do $$
declare
  v_missing text;
begin
  select string_agg(
    case
      when a.name is null then w.name
      else pg_catalog.format('%s %s or newer (%s is there)', w.name, w.least, a.version)
    end,
    ', ' order by w.name
  )
  into v_missing
  from (
    values ('http', 1.0), ('pg_cron', 1.5), ('pg_partman', 5.0), ('pgcrypto', 1.0)
  ) w (name, least)
  left join (
    select e.name, coalesce(e.installed_version, e.default_version) as version
    from pg_catalog.pg_available_extensions e
  ) a on a.name = w.name
  where a.name is null or substring(a.version from '^\d+(?:\.\d+)?')::numeric < w.least;
  if v_missing is not null then
    raise exception using
      errcode = 'feature_not_supported',
      message = 'Logloom cannot be installed, extensions are missing: ' || v_missing,
      hint = 'pg_partman 5 comes with Supabase''s images from late 2025: upgrade the project''s '
        'Postgres (Project Settings, Infrastructure), then install again.';
  end if;
end;
$$;

-- A guest goes in only where there is room for it, and says what is in the way.
do $$
declare
  v_jobs text[];
  v_taken text;
begin
  -- pg_cron would take ours for a change of theirs. Those that an installation left, whose schemas
  -- somebody dropped, are ours.
  if to_regclass('cron.job') is not null then
    execute $jobs$
      select array_agg(j.jobname)
      from cron.job j
      where j.jobname like 'logloom\_%'
        and (j.username = current_user and strpos(j.command, 'logloom_private.') > 0) is not true
    $jobs$
    into v_jobs;
  end if;
  select string_agg(t.name, ', ' order by t.name) into v_taken
  from (
    select pg_catalog.format('schema %I', n.nspname)
    from pg_catalog.pg_namespace n
    where n.nspname in ('logloom', 'logloom_private')
    union all
    select pg_catalog.format('type public.%I', t.typname)
    from pg_catalog.pg_type t
    where t.typnamespace = 'public'::regnamespace and t.typname like 'logloom\_%'
    union all
    select 'job ' || j.name
    from unnest(v_jobs) j (name)
  ) t (name);
  if v_taken is not null then
    raise exception using
      errcode = 'duplicate_object',
      message = 'Logloom cannot be installed, these are there already: ' || v_taken,
      hint = 'Rename or remove them, then install again.';
  end if;
end;
$$;

-- What another role made is used by grants of that role.
do $$
declare
  v_owner text;
begin
  select e.extowner::regrole::text into v_owner
  from pg_catalog.pg_extension e
  where e.extname = 'pg_partman'
    and (
      not has_schema_privilege(e.extnamespace, 'usage')
      or not has_schema_privilege(e.extnamespace, 'create')
      or exists (
        select
        from pg_catalog.pg_depend d
        join pg_catalog.pg_class c on c.oid = d.objid and c.relkind = 'r'
        cross join unnest(array['select', 'insert', 'update', 'delete']) w (privilege)
        where d.refclassid = 'pg_extension'::regclass and d.refobjid = e.oid and d.deptype = 'e'
          and d.classid = 'pg_class'::regclass and not has_table_privilege(c.oid, w.privilege)
      )
      or exists (
        select
        from pg_catalog.pg_depend d
        where d.refclassid = 'pg_extension'::regclass and d.refobjid = e.oid and d.deptype = 'e'
          and d.classid = 'pg_proc'::regclass and not has_function_privilege(d.objid, 'execute')
      )
    );
  if v_owner is not null then
    raise exception using
      errcode = 'insufficient_privilege',
      message = pg_catalog.format(
        'Logloom cannot be installed: pg_partman belongs to %s, who has to grant %s all on the schema '
          'partman, its tables and its routines',
        v_owner, quote_ident(current_user)
      ),
      hint = pg_catalog.format(
        'As %1$s: grant all on schema partman to %2$s; grant all on all tables in schema partman '
          'to %2$s; grant execute on all routines in schema partman to %2$s; then install again.',
        v_owner, quote_ident(current_user)
      );
  end if;
end;
$$;
