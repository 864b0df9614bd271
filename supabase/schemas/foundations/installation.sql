create table logloom_private.installation (
  singleton boolean primary key default true,
  installed_at timestamptz not null default now(),
  created_extensions text[] not null,
  created_schemas text[] not null,
  host_pre_request text,
  own_oid oid not null,
  migrated_at timestamptz not null default now(),
  cursor_key bytea not null default
    uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()),
  project_url text,
  other_url text,
  constraint installation_has_one_row check (singleton)
);

comment on table logloom_private.installation is
  'The changes that the installation made in the project. Uninstalling undoes them. One row.';

comment on column logloom_private.installation.created_extensions is
  'Extensions that installing created. Uninstalling removes them unless the project uses them now.';

comment on column logloom_private.installation.created_schemas is
  'Schemas for extensions that installing created.';

comment on column logloom_private.installation.own_oid is
  'The oid of this table when it was created. If it differs now, the database was restored from a '
  'dump.';

comment on column logloom_private.installation.cursor_key is
  'The key that seals the cursors of tenants.';
comment on column logloom_private.installation.project_url is
  'SUPABASE_URL of the first edge function that asked this database for work. A copy of the '
  'database keeps this URL, so the copy gives no work to functions of another project.';

comment on column logloom_private.installation.other_url is
  'SUPABASE_URL of the last edge function health that called. Null if it equals project_url.';

comment on column logloom_private.installation.host_pre_request is
  'The name of the project''s own pre-request function, from pgrst.db_pre_request. Our function '
  'calls it first.';

insert into logloom_private.installation (own_oid, created_extensions, created_schemas)
select
  'logloom_private.installation'::regclass,
  array(
    select e.name
    from unnest(array['http', 'pg_cron', 'pg_partman', 'pgcrypto']) e (name)
    where not exists (select from pg_catalog.pg_extension x where x.extname = e.name)
  ),
  array(
    select s.name
    from unnest(array['extensions', 'partman']) s (name)
    where not exists (select from pg_catalog.pg_namespace n where n.nspname = s.name)
  );

create schema if not exists extensions;
create schema if not exists partman;
create extension if not exists pgcrypto with schema extensions;
create extension if not exists http with schema extensions;
create extension if not exists pg_partman with schema partman;
create extension if not exists pg_cron;

do $$
declare
  v_elsewhere text;
begin
  select string_agg(format('%s in %I', x.extname, n.nspname), ', ' order by x.extname)
  into v_elsewhere
  from pg_catalog.pg_extension x
  join pg_catalog.pg_namespace n on n.oid = x.extnamespace
  join (
    values ('http', 'extensions'), ('pg_partman', 'partman'), ('pgcrypto', 'extensions')
  ) w (name, schema) on w.name = x.extname
  where n.nspname <> w.schema;
  if v_elsewhere is not null then
    raise exception using
      errcode = 'object_not_in_prerequisite_state',
      message = 'Logloom cannot be installed, extensions are in other schemas: ' || v_elsewhere,
      hint = 'Logloom looks for pgcrypto and http in the schema extensions, where Supabase puts '
        'them, and for pg_partman in partman. Create them there; alter extension pgcrypto set '
        'schema moves the first.';
  end if;
end;
$$;
