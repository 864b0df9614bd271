-- Seam: what else is done after each migration. Nothing is, here. No later migration may make it
-- anew: the body that a layer gave it would not be called by that one.
create function logloom_private.after_migration()
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
end;
$$;
