-- Assembled from supabase/schemas, as of 1.0.0.

set local search_path = pg_catalog, pg_temp;

-- portal/types/portal_session.sql
create type public.logloom_portal_session as (
  session_id uuid,
  tenant_id text,
  label text,
  view_id uuid,
  query_dsl text,
  origins text[],
  status text,
  created_by text,
  created_at timestamptz,
  expires_at timestamptz,
  revoked_at timestamptz,
  first_used_at timestamptz,
  last_used_at timestamptz
);

comment on type public.logloom_portal_session is
  'A portal session as lists show it. status: active, revoked or expired.';

create type public.logloom_created_portal_session as (
  session_id uuid,
  token text,
  url text,
  expires_at timestamptz
);

comment on type public.logloom_created_portal_session is
  'A new portal session. token, or the url of its link, is shown this once.';

create type public.logloom_opened_portal_session as (
  session_id uuid,
  token text,
  expires_at timestamptz
);

comment on type public.logloom_opened_portal_session is
  'The session of a link: its token, which is shown this once.';

-- portal/create_log_portal_session.sql
-- An origin as browsers write it, without the usual port: of https, or of a page on this machine.
create function logloom_private.is_origin(p_origin text)
returns boolean
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return length(p_origin) <= 255
    and p_origin ~ (
      '^(?:https://[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|http://(?:localhost|127\.0\.0\.1))'
      '(?::[1-9][0-9]{0,4})?$'
    )
    and p_origin !~ '^https:.*:443$|^http:.*:80$'
    and coalesce(substring(p_origin from ':([0-9]+)$')::integer, 0) <= 65535;
end;
$$;

create function logloom_private.issue_portal_session(
  p_tenant_id text,
  p_view_id uuid,
  p_query_dsl text,
  p_seconds integer,
  p_label text,
  p_origins text[],
  p_link boolean
)
returns public.logloom_created_portal_session
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
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
$$;

create function public.create_log_portal_session(
  p_tenant_id text default null,
  p_view_id uuid default null,
  p_query_dsl text default null,
  p_expires_in integer default null,
  p_label text default null,
  p_origins text[] default null,
  p_link boolean default null
)
returns public.logloom_created_portal_session
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return logloom_private.issue_portal_session(
    p_tenant_id, p_view_id, nullif(logloom_private.trim_space(p_query_dsl), ''),
    coalesce(p_expires_in, 3600), nullif(logloom_private.trim_space(p_label), ''), p_origins,
    coalesce(p_link, false)
  );
end;
$$;

comment on function
  public.create_log_portal_session(text, uuid, text, integer, text, text[], boolean)
is
  'Creates a session with which a customer reads the tenant''s logs, and returns its token, this '
  'once; with p_link the url of a page instead, whose code is good for ten minutes and once. '
  'p_view_id: the view that it reads in. p_query_dsl: which records of it, a query without stages. '
  'p_expires_in: seconds, 60 to 604800 (default 3600). p_label: at most 200 characters. '
  'p_origins: at most 20 https origins of pages that may frame the portal. '
  'Errors: PT400 (plan limit, too), PT401, PT403, PT404.';

-- portal/end_sessions_of_member.sql
-- Ends the portal sessions of a member who is removed, or may make none any more: they stay ended
-- when the member comes back.
create function logloom_private.end_sessions_of_member()
returns trigger
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role writes sessions
begin
  with ended as (
    update logloom.portal_sessions s
    set revoked_at = now()
    where s.tenant_id = old.tenant_id and s.created_by = old.user_id
      and s.revoked_at is null and s.expires_at > now()
    returning s.*
  )
  insert into logloom.audit_events (tenant_id, actor, action, subject, details)
  select
    e.tenant_id, logloom_private.actor(), 'portal_session.revoked', e.session_id::text,
    jsonb_strip_nulls(jsonb_build_object(
      'created_by', e.created_by, 'first_used_at', e.first_used_at,
      'last_used_at', e.last_used_at
    ))
  from ended e;
  return null;
end;
$$;

create trigger end_sessions_of_removed_member
after delete on logloom.tenant_members
for each row execute function logloom_private.end_sessions_of_member();

create trigger end_sessions_of_lesser_member
after update of role on logloom.tenant_members
for each row when (new.role not in ('admin', 'owner') and old.role in ('admin', 'owner'))
execute function logloom_private.end_sessions_of_member();

-- portal/list_log_portal_sessions.sql
create function public.list_log_portal_sessions(
  p_tenant_id text default null,
  p_limit integer default null,
  p_after uuid default null
)
returns setof public.logloom_portal_session
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
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
$$;

comment on function public.list_log_portal_sessions(text, integer, uuid) is
  'Portal sessions of the tenant, newest first, those of the last 30 days. p_limit 1 to 1000 '
  '(default 100), p_after: session_id of the last item of the page before. '
  'Errors: PT400, PT401, PT403.';

-- portal/open_log_portal_session.sql
create function logloom_private.open_portal_session(p_code_digest text)
returns public.logloom_opened_portal_session
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role reads the digests of codes
declare
  v_token constant text := logloom_private.new_api_key('llp_');
  v_session logloom.portal_sessions;
begin
  update logloom.portal_sessions s
  set
    token_digest = sha256(convert_to(v_token, 'UTF8')),
    code_digest = null,
    code_expires_at = null
  where s.code_digest = decode(p_code_digest, 'hex')
    and s.code_expires_at > now()
    and logloom_private.portal_session_is_alive(s)
  returning s.* into v_session;
  if not found then
    perform logloom_private.refuse('callers.portal_code_is_spent');
  end if;
  return row(v_session.session_id, v_token, v_session.expires_at)
    ::public.logloom_opened_portal_session;
end;
$$;

create function public.open_log_portal_session(p_code_digest text default null)
returns public.logloom_opened_portal_session
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  perform logloom_private.require_parameter('p_code_digest', p_code_digest is null);
  return logloom_private.open_portal_session(p_code_digest);
end;
$$;

comment on function public.open_log_portal_session(text) is
  'For the function logloom-read: the token of the session whose link has a code, of which '
  'p_code_digest is the SHA-256 as hex, once. Errors: PT400, PT401.';

-- portal/revoke_log_portal_session.sql
create function logloom_private.end_portal_session(p_tenant_id text, p_session_id uuid)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
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
$$;

create function public.revoke_log_portal_session(
  p_tenant_id text default null,
  p_session_id uuid default null
)
returns public.logloom_success
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  perform logloom_private.end_portal_session(p_tenant_id, p_session_id);
  return row(true)::public.logloom_success;
end;
$$;

comment on function public.revoke_log_portal_session(text, uuid) is
  'Revokes a portal session; the next request with its token is refused. Again: no change. '
  'Errors: PT400, PT401, PT403, PT404.';

select logloom_private.finish_migration();
