-- Seam, for who reads and met an error, in its handler, which then calls itself: whether that may
-- answer now. Records that are on this server are never away.
create function logloom_private.reads_again(p_state text, p_error text)
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return false;
end;
$$;

grant execute on function logloom_private.reads_again(text, text)
to authenticated, service_role;
