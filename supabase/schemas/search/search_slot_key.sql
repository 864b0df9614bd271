-- The advisory lock that is a slot: of a tenant, 'of ', 'views of ', 'scans of ',
-- 'scans of views of ' or 'validations of ' before its id, or of 'all'.
create function logloom_private.search_slot_key(p_owner text, p_slot integer)
returns bigint
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return hashtextextended('logloom:search_slot ' || p_slot || ' ' || p_owner, 0);
end;
$$;
