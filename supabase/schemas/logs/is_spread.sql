-- Whether records are spread over nodes. There counts are not packed, and what expires goes tenant
-- by tenant, since a statement reaches one node or one table.
create function logloom_private.is_spread()
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if to_regclass('pg_catalog.pg_dist_partition') is null then
    return false;
  end if;
  -- By the trigger that Citus gives each table that it spreads. To ask its own table, which may not
  -- be there, takes a statement that is planned anew each time: twice as much.
  return exists (
    select
    from pg_catalog.pg_trigger t
    where t.tgrelid = 'logloom.logs'::regclass
      and t.tgfoid = to_regproc('pg_catalog.citus_truncate_trigger')
  );
end;
$$;
