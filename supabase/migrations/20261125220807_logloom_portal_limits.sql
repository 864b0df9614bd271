-- What ends a portal session, and which origins may frame it.

set local check_function_bodies = off;

CREATE OR REPLACE FUNCTION logloom_private.end_portal_session (
  p_tenant_id  text,
  p_session_id uuid
)
  RETURNS void
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because no API role writes sessions
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
  v_session logloom.portal_sessions;
begin
  perform
    logloom_private.require_role(v_tenant_id, 'admin'),
    logloom_private.require_parameter('p_session_id', p_session_id is null);
  select s.* into v_session
  from logloom.portal_sessions s
  where s.tenant_id = v_tenant_id and s.session_id = p_session_id
  for no key update;
  if not found then
    perform logloom_private.refuse('portal.session_not_found');
  elsif v_session.revoked_at is not null then
    return;
  end if;
  update logloom.portal_sessions s set revoked_at = now() where s.session_id = p_session_id;
  insert into logloom.audit_events (tenant_id, actor, action, subject, details)
  values (
    v_tenant_id, logloom_private.actor(), 'portal_session.revoked', p_session_id::text,
    jsonb_strip_nulls(jsonb_build_object(
      'first_used_at', v_session.first_used_at, 'last_used_at', v_session.last_used_at
    ))
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.is_origin (
  p_origin text
)
  RETURNS boolean
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return length(p_origin) <= 255
    and p_origin ~ (
      '^(?:https://[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|http://(?:localhost|127\.0\.0\.1))'
      '(?::[1-9][0-9]{0,4})?$'
    )
    and p_origin !~ '^https:.*:443$|^http:.*:80$'
    and coalesce(substring(p_origin from ':([0-9]+)$')::integer, 0) <= 65535;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.issue_portal_session (
  p_tenant_id text,
  p_view_id   uuid,
  p_query_dsl text,
  p_seconds   integer,
  p_label     text,
  p_origins   text[],
  p_link      boolean
)
  RETURNS public.logloom_created_portal_session
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because no API role reads or writes sessions and settings
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
  v_plan constant logloom.plans := logloom_private.plan_of(v_tenant_id);
  v_settings logloom_private.settings;
  v_longest integer;
  v_secret constant text := logloom_private.new_api_key(
    case when p_link then 'llc_' else 'llp_' end
  );
  v_session logloom.portal_sessions;
begin
  perform logloom_private.require_role(v_tenant_id, 'admin');
  select s.* into v_settings from logloom_private.settings s;
  v_longest := extract(epoch from v_settings.portal_session_lifetime_max);
  if p_seconds not between 60 and v_longest then
    perform logloom_private.refuse('portal.lifetime_is_out_of_range', v_longest::text);
  elsif length(p_label) > 200 then
    perform logloom_private.refuse('portal.label_is_too_long');
  elsif cardinality(p_origins) > 20
    or exists (
      select from unnest(p_origins) o where logloom_private.is_origin(o) is not true
    )
  then
    perform logloom_private.refuse('portal.origin_is_invalid');
  elsif p_link and v_settings.portal_url is null then
    perform logloom_private.refuse('portal.url_is_not_set');
  end if;
  -- Null where it says nothing, as for views.
  p_query_dsl := logloom_private.checked_view_query(v_tenant_id, p_query_dsl);
  perform
    logloom_private.hold_view(v_tenant_id, p_view_id),
    logloom_private.hold_tenant(v_tenant_id);
  if (
    select count(*) from logloom.portal_sessions s
    where s.tenant_id = v_tenant_id and s.expires_at > now() and s.revoked_at is null
      -- A link that nobody opened in time is no session any more.
      and coalesce(s.code_expires_at > now(), true)
  ) >= v_plan.max_portal_sessions
  then
    perform logloom_private.refuse('portal.no_room', v_plan.max_portal_sessions::text);
  end if;
  insert into logloom.portal_sessions (
    tenant_id, label, view_id, query_dsl, origins, token_digest, code_digest, code_expires_at,
    created_by, expires_at
  )
  values (
    v_tenant_id, p_label, p_view_id, p_query_dsl, coalesce(p_origins, '{}'),
    case when not p_link then sha256(convert_to(v_secret, 'UTF8')) end,
    case when p_link then sha256(convert_to(v_secret, 'UTF8')) end,
    case when p_link then now() + least(
      v_settings.portal_code_lifetime, make_interval(secs => p_seconds)
    ) end,
    case when not logloom_private.is_service_role() then logloom_private.current_user_id() end,
    now() + make_interval(secs => p_seconds)
  )
  returning * into v_session;
  insert into logloom.audit_events (tenant_id, actor, action, subject, details)
  values (
    v_tenant_id, logloom_private.actor(), 'portal_session.created', v_session.session_id::text,
    jsonb_strip_nulls(jsonb_build_object(
      'label', p_label, 'view_id', p_view_id, 'query_dsl', p_query_dsl, 'origins', p_origins,
      'expires_at', v_session.expires_at
    ))
  );
  return row(
    v_session.session_id, case when not p_link then v_secret end,
    -- Behind #, which no server sees.
    case when p_link then v_settings.portal_url || '#' || v_secret end, v_session.expires_at
  )::public.logloom_created_portal_session;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.portal_session_is_alive (
  p_session logloom.portal_sessions
)
  RETURNS boolean
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_role constant text := logloom_private.acting_role(p_session.tenant_id, p_session.created_by);
begin
  return p_session.expires_at > now()
    and p_session.revoked_at is null
    and not logloom_private.is_being_deleted(p_session.tenant_id)
    and (
      p_session.created_by is null
      -- Without a row only their next token would say whether they still have the role.
      or coalesce(
        v_role in ('admin', 'owner'),
        (select s.roles_from_token from logloom_private.settings s)
      )
    );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.users_of_view (
  p_tenant_id text,
  p_view_id   uuid
)
  RETURNS text[]
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
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
      select 'alert rule ' || r.name
      from logloom.alert_rules r
      where r.tenant_id = p_tenant_id and r.view_id = p_view_id
      union all
      select 'saved search ' || s.name
      from logloom.saved_searches s
      where s.tenant_id = p_tenant_id and s.view_id = p_view_id
    ) u (name)
    order by u.name
    limit 10
  );
end;
$function$;

CREATE OR REPLACE FUNCTION public.list_log_portal_sessions (
  p_tenant_id text    DEFAULT NULL::text,
  p_limit     integer DEFAULT NULL::integer,
  p_after     uuid    DEFAULT NULL::uuid
)
  RETURNS SETOF public.logloom_portal_session
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
  v_limit constant integer := logloom_private.list_limit(p_limit);
  v_after constant timestamptz := logloom_private.page_place(
    p_after::text, 'portal session', 'session_id',
    (
      select s.created_at from logloom.portal_sessions s
      where s.tenant_id = v_tenant_id and s.session_id = p_after
    )
  );
begin
  perform logloom_private.require_role(v_tenant_id, 'admin');
  return query
  select
    s.session_id, s.tenant_id, s.label, s.view_id, s.query_dsl, s.origins,
    logloom_private.api_key_status(s.revoked_at, least(s.expires_at, s.code_expires_at)),
    s.created_by, s.created_at, s.expires_at, s.revoked_at, s.first_used_at, s.last_used_at
  from logloom.portal_sessions s
  where s.tenant_id = v_tenant_id
    and (p_after is null or (s.created_at, s.session_id) < (v_after, p_after))
  order by s.created_at desc, s.session_id desc
  limit v_limit;
end;
$function$;

set local lock_timeout = '5s';

create index portal_sessions_tenant_id_expires_at_idx
on logloom.portal_sessions (tenant_id, expires_at);

set local lock_timeout = 0;

REVOKE ALL ("code_expires_at") ON TABLE "logloom"."portal_sessions" FROM "authenticated";

GRANT SELECT ("code_expires_at") ON TABLE "logloom"."portal_sessions" TO "authenticated";

REVOKE ALL ("code_expires_at") ON TABLE "logloom"."portal_sessions" FROM "service_role";

GRANT SELECT ("code_expires_at") ON TABLE "logloom"."portal_sessions" TO "service_role";

select logloom_private.finish_migration();
