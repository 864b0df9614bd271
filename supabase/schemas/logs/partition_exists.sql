-- Whether the day's partition is attached.
create function logloom_private.partition_exists(p_day date)
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return exists (
    select
    from pg_catalog.pg_inherits i
    join pg_catalog.pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'logloom.logs'::regclass
      and c.relname = logloom_private.partition_name(p_day)
      and not i.inhdetachpending
  );
end;
$$;
