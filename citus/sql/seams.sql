-- The functions of logloom_private that have another body where records are sharded: the one of the
-- same name here.
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
    'last_sealed()', 'read_page(text)', 'reads_again(text,text)',
    'relation_bytes(regclass)',
    'reads_sealed(text,timestamptz,timestamptz)', 'require_streams()', 'scanned_tenant_sql(text)'
  ];
end;
$$;

-- Every function of the core that is another where records are sharded, as it is to be: the seams,
-- and those that need a setting of this server.
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
  select p.oid::regprocedure::text, regexp_replace(
    pg_get_functiondef(p.oid), '\nAS \$', format(e'\n SET %I TO %L\nAS $', s.name, s.value)
  )
  from (
    values
      -- An operation that only reads has one snapshot, however many statements it sends to a node.
      -- Sealing moves records from one table to another, and a search reads both; a node has a
      -- snapshot for each statement, unless the transaction keeps the first. PostgREST begins the
      -- transaction of an operation as its settings say.
      ('default_transaction_isolation', 'repeatable read'),
      -- Nodes have no PostgREST, and would refuse its setting.
      ('citus.enable_alter_role_set_propagation', 'off')
  ) s (name, value)
  join pg_catalog.pg_proc p on case s.value
    when 'off' then p.oid = 'logloom_private.set_pre_request(text, boolean)'::regprocedure
    else p.pronamespace = 'public'::regnamespace and p.provolatile = 's'
      and p.proname = any (logloom_private.operations())
  end
  -- Without Citus only a superuser may name a setting of it.
  where current_setting(s.name, true) is not null
    and coalesce(array_to_string(p.proconfig, ' '), '') !~ s.name;
end;
$$;

-- Puts the replacements in place and keeps what is the core's; once more after a migration has
-- brought some of it anew.
create or replace function logloom_citus.replace_functions()
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_replacement record;
  v_is text;
begin
  for v_replacement in select r.* from logloom_citus.replacements() r loop
    if to_regprocedure(v_replacement.signature) is null then
      raise exception using
        errcode = 'object_not_in_prerequisite_state',
        message = format('%s is not there to be replaced', v_replacement.signature),
        hint = 'Run citus/install.psql of the version of these migrations, then try again.';
    end if;
    v_is := pg_get_functiondef(to_regprocedure(v_replacement.signature));
    continue when v_is = v_replacement.definition;
    -- What an earlier version of this layer put there is not the core's.
    insert into logloom_citus.core_functions as f (signature, core, replaced_by)
    values (v_replacement.signature, v_is, v_replacement.definition)
    on conflict (signature) do update
    set core = case when f.replaced_by = v_is then f.core else v_is end,
      replaced_by = excluded.replaced_by;
    execute v_replacement.definition;
  end loop;
end;
$$;
