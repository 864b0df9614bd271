-- Seam: whether the archive reads the records of this database.
create function logloom_private.archive_reads_records()
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return true;
end;
$$;
