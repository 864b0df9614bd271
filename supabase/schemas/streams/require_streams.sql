-- Seam: refuses to make a log stream where records are not kept as streams read them.
create function logloom_private.require_streams()
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  null;
end;
$$;
