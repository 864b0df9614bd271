-- Raises PT400 if a key with these scopes cannot have a view, PT404 if there is no such view.
create function logloom_private.require_view_for_key(
  p_tenant_id text,
  p_view_id uuid,
  p_scopes text[]
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_view_id is not null and 'ingest' = any (p_scopes) then
    perform logloom_private.refuse('api_keys.view_is_for_reading');
  end if;
  perform logloom_private.hold_view(p_tenant_id, p_view_id);
end;
$$;
