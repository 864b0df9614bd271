-- Seam: whatever else each migration is followed by. Here nothing is.
create function logloom_private.after_migration()
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
begin
end;
$$;
