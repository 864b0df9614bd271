-- Seam: whether the archive reads the records of this database.
create function logloom_private.archive_reads_records()
returns boolean
language sql
stable
return true;
