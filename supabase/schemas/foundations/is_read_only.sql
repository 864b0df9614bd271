-- Whether this database is read-only. PostgREST begins transactions that write all the same, so the
-- default counts, too.
create function logloom_private.is_read_only()
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return 'on' in (
    current_setting('transaction_read_only'), current_setting('default_transaction_read_only')
  );
end;
$$;
