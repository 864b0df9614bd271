-- Whether a token only reads: it was issued to an OAuth client that settings.writing_clients does
-- not list. Such a caller has the reading operations and reaches no table.
create function logloom_private.reads_only(p_claims jsonb)
returns boolean
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role reads the settings
begin
  return p_claims ->> 'client_id' is not null and not exists (
    select
    from logloom_private.settings s
    where p_claims ->> 'client_id' = any (s.writing_clients)
  );
end;
$$;
