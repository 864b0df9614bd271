create function public.create_api_key(
  p_tenant_id text default null,
  p_name text default null,
  p_expires_at text default null,
  p_scopes text[] default null,
  p_view_id uuid default null
)
returns public.logloom_created_api_key
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
  v_name constant text := logloom_private.trim_space(p_name);
  v_expires_at constant timestamptz := logloom_private.time_parameter('p_expires_at', p_expires_at);
  v_scopes constant text[] := coalesce(p_scopes, '{ingest}');
begin
  perform logloom_private.require_role(v_tenant_id, 'admin');
  perform logloom_private.require_parameter('p_name', p_name is null);
  if length(v_name) not between 1 and 100 then
    perform logloom_private.refuse('api_keys.name_is_invalid');
  end if;
  if v_expires_at <= now() then
    perform logloom_private.refuse('api_keys.expires_in_the_past');
  end if;
  if not v_scopes <@ '{ingest, read}' or cardinality(v_scopes) = 0 or array_ndims(v_scopes) <> 1
    or array_position(v_scopes, null) is not null
  then
    perform logloom_private.refuse('api_keys.scope_is_unknown');
  end if;
  perform logloom_private.require_view_for_key(p_tenant_id, p_view_id, v_scopes);

  perform logloom_private.require_room_for_api_key(p_tenant_id, 1);
  return logloom_private.issue_api_key(v_tenant_id, v_name, v_expires_at, v_scopes, p_view_id);
end;
$$;

comment on function public.create_api_key(text, text, text, text[], uuid) is
  'Creates an API key and returns it with key_value, which is shown only now. p_name: 1 to 100 '
  'characters after trimming. p_expires_at: none by default. p_scopes: ingest (default), read, or '
  'both. p_view_id: the view that the key reads in, only for the scope read; none by default. '
  'Errors: PT400 (also the plan''s limit), PT401, PT403, PT404.';
