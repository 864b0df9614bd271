-- Roles, schemas, extensions and grants of a hosted Supabase project before its first migration.
-- Run as the superuser supabase_admin. Migrations run as postgres, who is no superuser.

create role anon nologin noinherit;
create role authenticated nologin noinherit;
create role service_role nologin noinherit bypassrls;
create role authenticator login noinherit password 'postgres';
create role supabase_auth_admin login noinherit createrole password 'postgres';
create role postgres login createdb createrole replication bypassrls password 'postgres';

alter database postgres owner to postgres;

grant anon, authenticated, service_role to authenticator;
grant anon, authenticated, service_role to postgres with admin option;
grant authenticator to postgres with admin option, inherit false, set false;
grant supabase_auth_admin to postgres with admin option, inherit false, set false;
grant pg_monitor, pg_read_all_data, pg_signal_backend to postgres;
grant set on parameter "pgrst.db_pre_request" to postgres;
grant set on parameter session_replication_role to postgres;

alter role anon set statement_timeout to '3s';
alter role authenticated set statement_timeout to '8s';
alter role authenticator set statement_timeout to '8s';
alter role authenticator set lock_timeout to '8s';
-- The server's statement timeout does not apply to the superuser.
alter role supabase_admin set statement_timeout to 0;
alter role postgres set search_path to "$user", public, extensions;

-- By default nobody gets rights on new objects in public, as on hosted projects since 30 October
-- 2026.
grant usage on schema public to anon, authenticated, service_role;
grant all on schema public to postgres;

create schema extensions;
grant usage on schema extensions to anon, authenticated, service_role;
grant all on schema extensions to postgres;
create extension pgcrypto with schema extensions;
create extension "uuid-ossp" with schema extensions;
create extension pg_stat_statements with schema extensions;
create extension http with schema extensions;
create extension pgtap with schema extensions;
create extension plpgsql_check with schema extensions;

create schema partman;
create extension pg_partman with schema partman;
grant all on schema partman to postgres;
grant all on all tables in schema partman to postgres;
grant all on all sequences in schema partman to postgres;
grant execute on all routines in schema partman to postgres;

create extension pg_cron;
grant usage on schema cron to postgres with grant option;
grant all on all functions in schema cron to postgres with grant option;
grant all on all tables in schema cron to postgres with grant option;
revoke all on cron.job from postgres;
grant select on cron.job to postgres with grant option;

-- Supabase's image has a function of this name. It grants access to pg_net when that extension is
-- created.
create function extensions.grant_pg_net_access()
returns event_trigger
language plpgsql
as $$
begin
  if exists (
    select
    from pg_event_trigger_ddl_commands() c
    join pg_catalog.pg_extension e on e.oid = c.objid
    where e.extname = 'pg_net'
  ) then
    grant usage on schema net to postgres, anon, authenticated, service_role;
    alter function net.http_get(url text, params jsonb, headers jsonb, timeout_milliseconds integer)
    security definer;
    alter function net.http_post(
      url text, body jsonb, params jsonb, headers jsonb, timeout_milliseconds integer
    )
    security definer;
  end if;
end
$$;
create event trigger issue_pg_net_access on ddl_command_end
when tag in ('CREATE EXTENSION')
execute function extensions.grant_pg_net_access();

-- With this trigger PostgREST reads new functions without a restart.
create function extensions.pgrst_ddl_watch()
returns event_trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  notify pgrst, 'reload schema';
end
$$;
create event trigger pgrst_ddl_watch on ddl_command_end
execute function extensions.pgrst_ddl_watch();
create event trigger pgrst_drop_watch on sql_drop
execute function extensions.pgrst_ddl_watch();

-- The advisors read which schemas the API shows.
alter database postgres set pgrst.db_schemas to 'public';
