-- Lists what uses a view, by name, at most ten: active API keys and portal sessions, viewers, alert
-- rules, log streams and saved searches. Private saved searches of colleagues are not named. A log
-- stream or alert rule of a customer uses the parent of the customer's view.
create function logloom_private.users_of_view(p_tenant_id text, p_view_id uuid)
returns text[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return array(
    select u.name
    from (
      select 'API key ' || k.name
      from logloom.api_keys k
      where k.tenant_id = p_tenant_id and k.view_id = p_view_id
        and logloom_private.api_key_status(k.revoked_at, k.expires_at) = 'active'
      union all
      select 'member ' || coalesce(m.email, m.user_id)
      from logloom.tenant_members m
      where m.tenant_id = p_tenant_id and m.view_id = p_view_id
      union all
      select 'portal session ' || coalesce(s.label, s.session_id::text)
      from logloom.portal_sessions s
      where s.tenant_id = p_tenant_id and s.view_id = p_view_id
        and s.revoked_at is null and least(s.expires_at, s.code_expires_at) > now()
      union all
      select 'alert rule ' || r.name || coalesce(' of customer ' || v.customer, '')
      from logloom.alert_rules r
      join logloom.log_views v on v.tenant_id = r.tenant_id and v.view_id = r.view_id
      where r.tenant_id = p_tenant_id and p_view_id in (v.view_id, v.parent_view_id)
      union all
      select 'log stream ' || l.name || coalesce(' of customer ' || v.customer, '')
      from logloom.log_streams l
      join logloom.log_views v on v.tenant_id = l.tenant_id and v.view_id = l.view_id
      where l.tenant_id = p_tenant_id and p_view_id in (v.view_id, v.parent_view_id)
      union all
      select case
        when s.is_shared or s.created_by = logloom_private.current_user_id()
          then 'saved search ' || s.name
        else 'a private saved search of ' || s.created_by
      end
      from logloom.saved_searches s
      where s.tenant_id = p_tenant_id and s.view_id = p_view_id
    ) u (name)
    order by u.name
    limit 10
  );
end;
$$;

-- Deletes a view that nothing uses, and the revoked and expired keys of this view.
create function logloom_private.remove_log_view(p_tenant_id text, p_view_id uuid)
returns public.logloom_success
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role writes views, which limit other users
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
  v_users text[];
begin
  perform logloom_private.require_role(v_tenant_id, 'admin');
  perform logloom_private.require_parameter('p_view_id', p_view_id is null);
  -- Locks the view, so that nothing is bound to it meanwhile.
  perform
  from logloom.log_views v
  where v.tenant_id = v_tenant_id and v.view_id = p_view_id and v.customer is null
  for update;
  if not found then
    perform logloom_private.refuse('tenants.view_not_found');
  end if;
  v_users := logloom_private.users_of_view(v_tenant_id, p_view_id);
  if v_users <> '{}' then
    perform logloom_private.refuse('views.in_use', array_to_string(v_users, ', '));
  end if;
  delete from logloom.log_views v
  where v.tenant_id = v_tenant_id and v.view_id = p_view_id;
  return row(true)::public.logloom_success;
end;
$$;

create function public.delete_log_view(
  p_view_id uuid default null,
  p_tenant_id text default null
)
returns public.logloom_success
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return logloom_private.remove_log_view(p_tenant_id, p_view_id);
end;
$$;

comment on function public.delete_log_view(uuid, text) is
  'Deletes a view that nothing uses. Returns {success}. For admins. Errors: PT400, PT401, PT403, '
  'PT404, PT409 (in use; names its users).';
