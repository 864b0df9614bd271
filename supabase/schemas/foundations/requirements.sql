-- Refuses to install over Logloom before 1.0.0: it has other tables under the same names.
do $$
begin
  if to_regclass('logloom_private.installation') is not null then
    raise exception using
      errcode = 'object_not_in_prerequisite_state',
      message = 'This database already has a Logloom, and 1.0.0 upgrades none: export what you '
        'want to keep, uninstall it, then install again',
      hint = 'Nothing was changed. docs/upgrade.md shows the commands.';
  end if;
end;
$$;

-- Refuses to install if an extension is missing or too old.
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

-- Refuses to install if another role owns an extension and has not granted us its use.
do $$
declare
  v_unusable record;
begin
  select e.extname as name, n.nspname as schema, e.extowner::regrole::text as owner,
    quote_ident(current_user) as role
  into v_unusable
  from (
    values
      ('pg_cron', 'cron', array['usage'], array['select']),
      ('pg_partman', 'partman', array['usage', 'create'],
        array['select', 'insert', 'update', 'delete'])
  ) w (name, schema, of_schema, of_tables)
  join pg_catalog.pg_extension e on e.extname = w.name
  join pg_catalog.pg_namespace n on n.nspname = w.schema
  where exists (
      select from unnest(w.of_schema) p (name) where not has_schema_privilege(n.oid, p.name)
    )
    or exists (
      select
      from pg_catalog.pg_depend d
      left join pg_catalog.pg_class c
        on d.classid = 'pg_class'::regclass and c.oid = d.objid and c.relkind = 'r'
      left join pg_catalog.pg_proc f on d.classid = 'pg_proc'::regclass and f.oid = d.objid
      cross join unnest(w.of_tables) p (name)
      where d.refclassid = 'pg_extension'::regclass and d.refobjid = e.oid and d.deptype = 'e'
        and false in (has_table_privilege(c.oid, p.name), has_function_privilege(f.oid, 'execute'))
    )
  limit 1;
  if v_unusable is not null then
    raise exception using
      errcode = 'insufficient_privilege',
      message = pg_catalog.format(
        'Logloom cannot be installed: %s belongs to %s, who has to grant %s all on the schema %s, '
          'its tables and its routines',
        v_unusable.name, v_unusable.owner, v_unusable.role, v_unusable.schema
      ),
      hint = pg_catalog.format(
        'grant all on schema %1$s to %2$s; grant all on all tables in schema %1$s to %2$s; '
          'grant execute on all routines in schema %1$s to %2$s;',
        v_unusable.schema, v_unusable.role
      );
  end if;
end;
$$;

-- Refuses to install if the project already uses one of our names.
do $$
declare
  v_jobs text[];
  v_taken text;
begin
  -- If the project has a job of our name, pg_cron would change that job instead of adding ours. Our
  -- own jobs, left from an installation whose schemas were dropped, do not count.
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
      message = 'Logloom cannot be installed, these are there already:  ' || v_taken,
      hint = 'Rename or remove them, then install again.';
  end if;
end;
$$;
