-- The days that have a partition, oldest first.
create function logloom_private.partition_days()
returns date[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return array(
    select to_date(c.relname, '"logs_"YYYY_MM_DD') as day
    from pg_catalog.pg_inherits i
    join pg_catalog.pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'logloom.logs'::regclass
    order by 1
  );
end;
$$;
