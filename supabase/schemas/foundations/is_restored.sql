create function logloom_private.is_restored()
returns boolean
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return exists (
    select
    from logloom_private.installation i
    where i.own_oid <> 'logloom_private.installation'::regclass
  );
end;
$$;

revoke all on function logloom_private.is_restored() from public;

comment on function logloom_private.is_restored() is
  'Whether this database was made from a dump and repair() was not called since.';
