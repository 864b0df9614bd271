-- Whether this database was made from a dump and repair() was not called since.
create function logloom_private.is_restored()
returns boolean
language plpgsql
stable
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
