-- Removes Logloom and all of its logs from a project, and nothing else. As the role postgres, by
-- npm run uninstall, or by psql --file. Each step stands by itself and may be run again.
--
-- First switch off the token hook (Authentication, Hooks) where it is Logloom's: Auth stops signing
-- in without the function that it calls. Then remove the function calls from your own hook, if it
-- calls Logloom's.

-- step: nothing of the project depends on it
do $$
declare
  v_dependents text;
begin
  if to_regclass('logloom_private.installation') is null then
    return;
  end if;
  with ours as (
    select 'pg_class'::regclass::oid as classid, c.oid as objid
    from pg_catalog.pg_class c
    join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    where n.nspname in ('logloom', 'logloom_private')
      or n.nspname = 'public' and c.relkind = 'c' and c.relname like 'logloom\_%'
    union all
    select 'pg_proc'::regclass, p.oid
    from pg_catalog.pg_proc p
    join pg_catalog.pg_namespace n on n.oid = p.pronamespace
    where n.nspname in ('logloom', 'logloom_private')
      or n.nspname = 'public' and p.proname = any (logloom_private.operations())
        and strpos(p.prosrc, 'logloom_private.') > 0
    union all
    select 'pg_type'::regclass, t.oid
    from pg_catalog.pg_type t
    join pg_catalog.pg_namespace n on n.oid = t.typnamespace
    where n.nspname in ('logloom', 'logloom_private')
      or n.nspname = 'public' and ltrim(t.typname, '_') like 'logloom\_%'
  ), dependents as (
    select i.type || ' ' || i.identity as name
    from ours o
    join pg_catalog.pg_depend d on d.refclassid = o.classid and d.refobjid = o.objid
    cross join lateral pg_catalog.pg_identify_object(d.classid, d.objid, d.objsubid) i
    where d.deptype in ('n', 'a')
      and not exists (select from ours x where x.classid = d.classid and x.objid = d.objid)
      and coalesce(i.schema, '') not in ('logloom', 'logloom_private')
      and i.identity !~ ' on logloom(_private)?\.'
      and i.identity !~ '^(for )?logloom(_private)?\.'
    union
    select 'function ' || p.oid::regprocedure
    from pg_catalog.pg_proc p
    where p.prosrc ~ '\mlogloom(_private)?\.'
      and not exists (select from ours x where x.objid = p.oid)
  )
  select string_agg(d.name, e'\n  ' order by d.name) into v_dependents from dependents d;
  if v_dependents is not null then
    raise exception using
      errcode = 'dependent_objects_still_exist',
      message = e'Logloom is not removed, since these of the project use it:\n  ' || v_dependents,
      hint = 'Change or remove them, then run this again.';
  end if;
end;
$$;

-- step: nothing new begins
do $$
declare
  v_operation regprocedure;
begin
  if to_regclass('logloom_private.installation') is null then
    return;
  end if;
  if (logloom_private.pre_request_setting()).function = 'logloom_private.check_request' then
    perform logloom_private.set_pre_request(
      i.host_pre_request, (logloom_private.pre_request_setting()).of_database
    )
    from logloom_private.installation i;
  end if;
  perform cron.unschedule(j.jobid)
  from cron.job j
  where j.jobname like 'logloom\_%' and strpos(j.command, 'logloom_private.') > 0;
  for v_operation in
    select p.oid::regprocedure
    from pg_catalog.pg_proc p
    where p.pronamespace = 'public'::regnamespace
      and p.proname = any (logloom_private.operations())
      and strpos(p.prosrc, 'logloom_private.') > 0
  loop
    execute format(
      'revoke all on function %s from public, anon, authenticated, service_role', v_operation
    );
  end loop;
end;
$$;

-- step: what runs has ended, and PostgREST has read its settings again
do $$
begin
  if to_regclass('logloom_private.installation') is null then
    return;
  end if;
  perform pg_sleep(2);
  for i in 1..300 loop
    perform pg_stat_clear_snapshot();
    exit when not exists (
      select
      from pg_catalog.pg_stat_activity a
      where a.pid <> pg_backend_pid() and a.datname = current_database() and a.state <> 'idle'
        and strpos(a.query, 'logloom_private.') > 0
    );
    perform pg_sleep(0.1);
  end loop;
end;
$$;

-- step: the days of logs, a transaction each, so that no number of them fills the table of locks
do $$
declare
  v_partition text;
begin
  perform set_config('lock_timeout', '10s', false);
  for v_partition in
    select c.oid::regclass::text
    from pg_catalog.pg_class c
    join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    where n.nspname in ('logloom', 'logloom_private') and c.relispartition and c.relkind = 'r'
    order by c.oid
  loop
    execute 'drop table ' || v_partition;
    commit;
  end loop;
end;
$$;

-- step: everything else, in one transaction
do $$
declare
  v_installation record;
  v_operations text[];
  v_name text;
  v_is_used boolean;
begin
  if to_regclass('logloom_private.installation') is null then
    return;
  end if;
  perform set_config('lock_timeout', '10s', true);
  perform set_config('client_min_messages', 'warning', true);
  select i.* into v_installation from logloom_private.installation i;
  v_operations := logloom_private.operations();

  delete from cron.job_run_details d where strpos(d.command, 'logloom_private.') > 0;

  for v_name in
    select c.template_table from partman.part_config c
    where c.parent_table ~ '^logloom(_private)?\.' and c.template_table is not null
  loop
    execute format(
      'drop table if exists %I.%I', split_part(v_name, '.', 1), split_part(v_name, '.', 2)
    );
  end loop;
  delete from partman.part_config c where c.parent_table ~ '^logloom(_private)?\.';

  for v_name in
    select p.oid::regprocedure::text
    from pg_catalog.pg_proc p
    where p.pronamespace = 'public'::regnamespace
      and p.proname = any (v_operations)
      and strpos(p.prosrc, 'logloom_private.') > 0
  loop
    execute 'drop function ' || v_name;
  end loop;
  drop schema logloom, logloom_private cascade;

  select string_agg(t.oid::regtype::text, ', ') into v_name
  from pg_catalog.pg_type t
  where t.typnamespace = 'public'::regnamespace and t.typname like 'logloom\_%';
  if v_name is not null then
    execute 'drop type ' || v_name;
  end if;

  -- An extension that was not there before goes, unless the project has begun to use it: functions
  -- name another's functions in their text, where no dependency shows it.
  foreach v_name in array v_installation.created_extensions loop
    continue when not exists (select from pg_catalog.pg_extension e where e.extname = v_name);
    select exists (
      select
      from pg_catalog.pg_extension e
      join pg_catalog.pg_depend d
        on d.refclassid = 'pg_extension'::regclass and d.refobjid = e.oid and d.deptype = 'e'
        and d.classid = 'pg_proc'::regclass
      join pg_catalog.pg_proc p on p.oid = d.objid
      join pg_catalog.pg_proc h on h.prosrc ~ ('\m' || p.proname || '\s*\(')
      where e.extname = v_name
        and h.pronamespace <> 'pg_catalog'::regnamespace
        and not exists (
          select from pg_catalog.pg_depend x where x.objid = h.oid and x.deptype = 'e'
        )
    ) into v_is_used;
    if v_name = 'pg_cron' then
      v_is_used := v_is_used or exists (select from cron.job);
    elsif v_name = 'pg_partman' then
      v_is_used := v_is_used or exists (select from partman.part_config);
    end if;
    if not v_is_used then
      begin
        execute format('drop extension %I', v_name);
      exception when dependent_objects_still_exist then
        v_is_used := true;
      end;
    end if;
    if v_is_used then
      raise warning 'The extension % stays: the project uses it.', v_name;
    end if;
  end loop;
  foreach v_name in array v_installation.created_schemas loop
    begin
      execute format('drop schema if exists %I', v_name);
    exception when dependent_objects_still_exist then
      raise warning 'The schema % stays: there are other things in it.', v_name;
    end;
  end loop;

  if to_regclass('supabase_migrations.schema_migrations') is not null then
    delete from supabase_migrations.schema_migrations m where m.name ~ '^logloom(_|$)';
  end if;
  notify pgrst, 'reload schema';
end;
$$;
