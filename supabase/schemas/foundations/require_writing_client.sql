-- PT403 where the token was issued to an OAuth client that settings.writing_clients does not list.
create function logloom_private.require_writing_client(p_claims jsonb)
returns void
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role reads the settings
begin
  if p_claims ->> 'client_id' is not null and not exists (
    select
    from logloom_private.settings s
    where p_claims ->> 'client_id' = any (s.writing_clients)
  ) then
    perform logloom_private.refuse('callers.client_may_only_read');
  end if;
end;
$$;
