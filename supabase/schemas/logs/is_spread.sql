create function logloom_private.is_spread()
returns boolean
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_partitions constant regclass := to_regclass('pg_catalog.pg_dist_partition');
  v_is_spread boolean;
begin
  if v_partitions is null then
    return false;
  end if;
  execute format(
    'select exists (select from %s p where p.logicalrelid = %L::regclass)',
    v_partitions, 'logloom.logs'
  )
  into v_is_spread;
  return v_is_spread;
end;
$$;

revoke all on function logloom_private.is_spread() from public;

comment on function logloom_private.is_spread() is
  'Whether records are spread over nodes. There counts are not packed, and what expires goes '
  'tenant by tenant, since a statement reaches one node or one table.';
