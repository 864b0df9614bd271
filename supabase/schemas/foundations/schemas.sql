-- Before anything is made: what a project has to offer.
do $$
declare
  v_missing text;
begin
  select string_agg(
    case
      when a.name is null then w.name
      else format('%s %s or newer (%s is there)', w.name, w.least, a.version)
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
  v_taken text;
begin
  select string_agg(t.name, ', ' order by t.name) into v_taken
  from (
    select format('schema %I', n.nspname)
    from pg_catalog.pg_namespace n
    where n.nspname in ('logloom', 'logloom_private')
    union all
    select format('type public.%I', t.typname)
    from pg_catalog.pg_type t
    where t.typnamespace = 'public'::regnamespace and t.typname like 'logloom\_%'
  ) t (name);
  if v_taken is not null then
    raise exception using
      errcode = 'duplicate_object',
      message = 'Logloom cannot be installed, these are there already: ' || v_taken,
      hint = 'Rename or remove them, then install again.';
  end if;
end;
$$;

create schema logloom;
create schema logloom_private;

comment on schema logloom is 'Tables that tenants own, each behind row-level security.';
comment on schema logloom_private is
  'Queue, writer, settings, compiler, health. Not exposed by PostgREST.';

revoke all on schema logloom from public;
grant usage on schema logloom to authenticated, service_role, supabase_auth_admin;
-- The pre-request check runs as the role of the request, and a project may have roles of its own:
-- each must reach its schema, for whatever it asks. PUBLIC may call the check there, nothing else.
grant usage on schema logloom_private to public;
