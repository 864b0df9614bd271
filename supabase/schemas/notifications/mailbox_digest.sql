-- One for all addresses that a mailbox usually has: without letter case and what follows a +.
create function logloom_private.mailbox_digest(p_address text)
returns bytea
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return sha256(convert_to(lower(regexp_replace(p_address, '[+][^@]*@', '@')), 'UTF8'));
end;
$$;
