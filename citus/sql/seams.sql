-- Lists the functions of logloom_private that functions of this schema replace if records are
-- sharded.
create or replace function logloom_citus.seams()
returns text[]
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return array[
    'after_migration()', 'archive_reads_records()', 'expired_days(text[],date,integer)',
    'forget_tenants_day(text[],date)',
    'hold_writers()', 'insert_records(smallint,bigint,bigint,integer,integer,bigint)',
    'last_sealed()', 'read_page(text)', 'relation_bytes(regclass)',
    'reads_sealed(text,timestamptz,timestamptz)', 'require_streams()', 'scanned_tenant_sql(text)'
  ];
end;
$$;

-- Returns the core's definition of a function, even if it is replaced.
create or replace function logloom_citus.core_definition(p_function regprocedure)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_is constant text := pg_get_functiondef(p_function);
begin
  return coalesce(
    (
      select f.core
      from logloom_citus.core_functions f
      where f.signature = p_function::text and f.replaced_by = v_is
    ),
    v_is
  );
end;
$$;

-- Lists all functions of the core that sharding replaces, with their new definitions.
create or replace function logloom_citus.replacements()
returns table (signature text, definition text)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select 'logloom_private.' || s.seam, regexp_replace(
    pg_get_functiondef(to_regprocedure('logloom_citus.' || s.seam)),
    '^CREATE OR REPLACE FUNCTION logloom_citus\.', 'CREATE OR REPLACE FUNCTION logloom_private.'
  )
  from unnest(logloom_citus.seams()) s (seam);
  return query
  select p.oid::regprocedure::text, case
    when s.name is null then r.definition
    else regexp_replace(
      r.definition, '\nAS \$', format(e'\n SET %I TO %L\nAS $', s.name, s.value)
    )
  end
  from (
    values
      -- A search reads two tables, and sealing moves records from one to the other. So a reading
      -- operation needs one snapshot for all its statements on a node. Only a repeatable read
      -- transaction has one. PostgREST reads this setting of an operation when it begins the
      -- transaction.
      ('default_transaction_isolation', 'repeatable read'),
      -- Nodes have no PostgREST and would refuse its setting.
      ('citus.enable_alter_role_set_propagation', 'off')
  ) s (name, value)
  right join pg_catalog.pg_proc p on case s.value
    when 'off' then p.oid = 'logloom_private.set_pre_request(text, boolean)'::regprocedure
    else p.pronamespace = 'public'::regnamespace and p.provolatile = 's'
      and p.proname = any (logloom_private.operations())
  end
  -- Without Citus only a superuser can set this.
  and current_setting(s.name, true) is not null
  cross join lateral (
    select case
      when p.proname = any (logloom_citus.readings())
      then logloom_citus.with_second_try(p.oid, logloom_citus.core_definition(p.oid))
      else logloom_citus.core_definition(p.oid)
    end
  ) r (definition)
  where p.pronamespace in ('logloom_private'::regnamespace, 'public'::regnamespace)
    and (s.name is not null or p.proname = any (logloom_citus.readings()));
end;
$$;

-- Replaces the functions and keeps the core's definitions. Called again after each migration.
create or replace function logloom_citus.replace_functions()
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_replacement record;
  v_is text;
begin
  -- disable() must not restore functions that a migration dropped.
  delete from logloom_citus.core_functions f where to_regprocedure(f.signature) is null;
  for v_replacement in select r.* from logloom_citus.replacements() r loop
    if to_regprocedure(v_replacement.signature) is null then
      raise exception using
        errcode = 'object_not_in_prerequisite_state',
        message = format('%s does not exist', v_replacement.signature),
        hint = 'Run citus/install.psql of the version of these migrations, then try again.';
    end if;
    v_is := pg_get_functiondef(to_regprocedure(v_replacement.signature));
    continue when v_is = v_replacement.definition;
    -- The replacement of an earlier version is not the core's definition.
    insert into logloom_citus.core_functions as f (signature, core, replaced_by)
    values (v_replacement.signature, v_is, v_replacement.definition)
    on conflict (signature) do update
    set core = case when f.replaced_by = v_is then f.core else v_is end,
      replaced_by = excluded.replaced_by;
    execute v_replacement.definition;
  end loop;
end;
$$;
