-- Where an address leads: its scheme, host and port.
create function logloom_private.origin_of(p_url text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return regexp_replace(
    regexp_replace(lower(substring(p_url from '^[^/]*//[^/?#]*')), '^(https://.*):443$', '\1'),
    '^(http://.*):80$', '\1'
  );
end;
$$;
