-- Removes Logloom and all of its logs from a project, and nothing else. Run it as the role
-- postgres, with npm run uninstall or psql --file. Each step can be repeated. First turn off the
-- token hook (Authentication, Hooks) if it is Logloom's: without the function that it calls, nobody
-- can sign in. If your own hook calls Logloom's function, remove that call.

-- step: nothing of the project depends on it
-- For all steps: no object of the project and no temporary type may replace PostgreSQL's own.
-- Names are printed without needless quotes, because the steps compare printed names.
set search_path = pg_catalog, pg_temp;
set quote_all_identifiers = off;
do $$
declare
  v_owner text;
  v_uses text;
  v_dependents text;
begin
  if to_regclass('logloom_private.installation') is null then
    return;
  end if;
  select string_agg(distinct n.nspowner::regrole::text, ', ') into v_owner
  from pg_catalog.pg_namespace n
  where n.nspname in ('logloom', 'logloom_private')
    and not pg_catalog.pg_has_role(n.nspowner, 'usage');
  if v_owner is not null then
    raise exception using
      errcode = 'insufficient_privilege',
      message = format(
        'Logloom is not removed: it is owned by %s, not by %s', v_owner, current_user
      ),
      hint = format('Connect as %s, then run this again.', v_owner);
  end if;

  -- The body of a function or a job is text, so no dependency shows that it uses something of our
  -- schemas, or an operation or type in public.
  select format(
    '(?<![\w/@.-])"?logloom(_private)?"?\."?[\w%%'']|(?<![\w."$])("?public"?\.)?"?(%s)"?\s*\('
      '|(?<![\w."$])"?public"?\."?(%s)"?\s*\(|(?<![\w."$])("?public"?\.)?"?(%s)"?(?!\w)',
    string_agg(o.name, '|') filter (where not o.is_elsewhere), string_agg(o.name, '|'), t.names
  )
  into v_uses
  from (
    select
      n.name,
      exists (
        select
        from pg_catalog.pg_proc p
        where p.proname = n.name and p.pronamespace <> 'public'::regnamespace
      ) as is_elsewhere
    from unnest(logloom_private.operations()) n (name)
  ) o
  cross join (
    select string_agg(t.typname, '|') as names
    from pg_catalog.pg_type t
    left join pg_catalog.pg_class c on c.oid = t.typrelid
    where t.typnamespace = 'public'::regnamespace and t.typname like 'logloom\_%'
      and (t.typtype in ('d', 'e') or c.relkind = 'c')
  ) t
  group by t.names;

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
    union all
    select 'pg_type'::regclass, i.oid
    from pg_catalog.pg_type t
    left join pg_catalog.pg_class c on c.oid = t.typrelid
    cross join unnest(array[t.oid, t.typarray]) i (oid)
    where t.typnamespace = 'public'::regnamespace and t.typname like 'logloom\_%'
      and (t.typtype in ('d', 'e') or c.relkind = 'c')
  ), dependents as (
    select i.type || ' ' || i.identity as name
    from ours o
    join pg_catalog.pg_depend d on d.refclassid = o.classid and d.refobjid = o.objid
    left join pg_catalog.pg_rewrite r
      on d.classid = 'pg_rewrite'::regclass and r.oid = d.objid and r.rulename = '_RETURN'
    -- Names the view instead of its rule.
    cross join lateral pg_catalog.pg_identify_object(
      case when r.oid is null then d.classid else 'pg_class'::regclass end,
      coalesce(r.ev_class, d.objid),
      case when r.oid is null then d.objsubid else 0 end
    ) i
    where d.deptype in ('n', 'a')
      and not exists (select from ours x where x.classid = d.classid and x.objid = d.objid)
      and coalesce(i.schema, '') not in ('logloom', 'logloom_private', 'logloom_citus')
      and i.identity !~ ' on logloom(_private)?\.'
      and i.identity !~ '^(for )?logloom(_private)?\.'
      -- The triggers of logloom.audit_table() go with their function.
      and not (
        d.classid = 'pg_trigger'::regclass and d.refclassid = 'pg_proc'::regclass
        and d.refobjid::regproc::text = 'logloom_private.audit_changes'
      )
    union
    select format('trigger %I on %s', t.tgname, t.tgrelid::regclass)
    from pg_catalog.pg_trigger t
    join ours o on o.classid = 'pg_class'::regclass and o.objid = t.tgrelid
    where not t.tgisinternal and t.tgparentid = 0
      and not exists (select from ours x where x.objid = t.tgfoid)
    union
    select 'function ' || p.oid::regprocedure
    from pg_catalog.pg_proc p
    where p.prosrc ~* v_uses
      and p.pronamespace::regnamespace::text not in (
        'pg_catalog', 'information_schema', 'logloom_citus'
      )
      and not exists (select from ours x where x.objid = p.oid)
      and not exists (
        select from pg_catalog.pg_depend x where x.objid = p.oid and x.deptype = 'e'
      )
    union
    select format('the job %s of pg_cron', coalesce(quote_ident(j.jobname), j.jobid::text))
    from cron.job j
    where j.command ~* v_uses
      and (j.jobname like 'logloom\_%' and strpos(j.command, 'logloom_private.') > 0) is not true
  )
  select string_agg(d.name, e'\n  ' order by d.name) into v_dependents from dependents d;
  if v_dependents is not null then
    raise exception using
      errcode = 'dependent_objects_still_exist',
      message = e'Logloom is not removed, because these objects of the project use it:\n  '
        || v_dependents,
      hint = 'Change or remove them, then run this again.';
  end if;
end;
$$;

-- step: no file of the archive is forgotten
do $$
declare
  v_files bigint;
begin
  if to_regclass('logloom.archive_parts') is null
    or current_setting('logloom.archive_is_kept', true) = 'on'
  then
    return;
  end if;
  execute 'select (select count(*) from logloom.archive_parts) '
    || '+ (select count(*) from logloom_private.archive_garbage)'
  into v_files;
  if v_files > 0 then
    raise exception using
      errcode = 'dependent_objects_still_exist',
      message = format('Logloom is not removed: its archive has %s files', v_files),
      hint = 'npm run uninstall deletes them with --delete-archive, or leaves them where they are '
        'with --keep-archive; in psql: set logloom.archive_is_kept = ''on''.';
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
  if to_regprocedure('logloom_citus.leave_nodes()') is not null then
    perform logloom_citus.leave_nodes();
  end if;
  -- The setting can exist for the role and for the database.
  perform logloom_private.set_pre_request(i.host_pre_request, s.setdatabase <> 0)
  from logloom_private.installation i
  cross join pg_catalog.pg_db_role_setting s
  where s.setrole = 'authenticator'::regrole
    and s.setdatabase in (
      0, (select d.oid from pg_catalog.pg_database d where d.datname = current_database())
    )
    and 'pgrst.db_pre_request=logloom_private.check_request' = any (s.setconfig);
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
  v_uses text;
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
  drop schema if exists logloom_citus cascade;
  drop schema logloom, logloom_private cascade;

  -- Leaves out the row types of the project's own tables.
  select string_agg(t.oid::regtype::text, ', ') into v_name
  from pg_catalog.pg_type t
  left join pg_catalog.pg_class c on c.oid = t.typrelid
  where t.typnamespace = 'public'::regnamespace and t.typname like 'logloom\_%'
    and (t.typtype in ('d', 'e') or c.relkind = 'c');
  if v_name is not null then
    execute 'drop type ' || v_name;
  end if;

  -- Drops the extensions that the installation created, unless the project uses them now. No
  -- dependency shows which functions a function or job calls in its text. net.http_get( is no call
  -- of the extension http. A name that PostgreSQL has, too, counts only with its schema.
  foreach v_name in array v_installation.created_extensions loop
    continue when not exists (select from pg_catalog.pg_extension e where e.extname = v_name);
    select format(
      '(?<![\w$])"?%s"?\s*\.\s*"?(%s)"?\s*\('
        '|(?<![\w$."]|\.\s+)"?(%s)"?\s*\(',
      min(n.nspname), string_agg(distinct p.proname, '|'),
      string_agg(distinct p.proname, '|') filter (
        where not exists (
          select
          from pg_catalog.pg_proc b
          where b.proname = p.proname and b.pronamespace = 'pg_catalog'::regnamespace
        )
      )
    )
    into v_uses
    from pg_catalog.pg_extension e
    join pg_catalog.pg_depend d
      on d.refclassid = 'pg_extension'::regclass and d.refobjid = e.oid and d.deptype = 'e'
        and d.classid = 'pg_proc'::regclass
    join pg_catalog.pg_proc p on p.oid = d.objid
    join pg_catalog.pg_namespace n on n.oid = p.pronamespace
    where e.extname = v_name;
    v_is_used := exists (
      select
      from pg_catalog.pg_proc h
      where h.prosrc ~* v_uses and h.pronamespace <> 'pg_catalog'::regnamespace
        and not exists (
          select from pg_catalog.pg_depend x where x.objid = h.oid and x.deptype = 'e'
        )
    );
    if to_regclass('cron.job') is not null then
      v_is_used := v_is_used or exists (select from cron.job j where j.command ~* v_uses);
    end if;
    if v_name = 'pg_cron' then
      v_is_used := v_is_used or exists (select from cron.job);
    elsif v_name = 'pg_partman' then
      v_is_used := v_is_used or exists (select from partman.part_config);
    end if;
    if not v_is_used then
      begin
        execute format('drop extension %I', v_name);
      exception
        when dependent_objects_still_exist then
          v_is_used := true;
        when insufficient_privilege then
          raise warning 'The extension % stays: % may not drop it.', v_name, current_user;
      end;
    end if;
    if v_is_used then
      raise warning 'The extension % stays: the project uses it.', v_name;
    end if;
  end loop;
  foreach v_name in array v_installation.created_schemas loop
    begin
      execute format('drop schema if exists %I', v_name);
    exception
      when dependent_objects_still_exist then
        raise warning 'The schema % stays: there are other things in it.', v_name;
      when insufficient_privilege then
        raise warning 'The schema % stays: % may not drop it.', v_name, current_user;
    end;
  end loop;

  if to_regclass('supabase_migrations.schema_migrations') is not null then
    -- Each of our migrations ends with this call. A migration of the project may have a name like
    -- ours.
    delete from supabase_migrations.schema_migrations m
    where m.name like 'logloom\_%'
      and strpos(to_jsonb(m) ->> 'statements', 'logloom_private.finish_migration()') > 0;
  end if;
  notify pgrst, 'reload schema';
end;
$$;
