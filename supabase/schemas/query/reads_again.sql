-- Seam, for who reads and met an error, in its handler, which then calls itself: whether that may
-- answer now. PT408 where it took too long. Records that are on this server are never away.
create function logloom_private.reads_again(p_state text, p_error text)
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_state in ('57014', '55P03') then
    perform logloom_private.refuse('search.took_too_long');
  end if;
  return false;
end;
$$;
