-- True if a text is an origin as browsers write it (no default port): https, or a local page.
create function logloom_private.is_origin(p_origin text)
returns boolean
language sql
immutable
return length(p_origin) <= 255
  and p_origin ~ (
    '^(?:https://[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|http://(?:localhost|127\.0\.0\.1))'
    '(?::[1-9][0-9]{0,4})?$'
  )
  and p_origin !~ '^https:.*:443$|^http:.*:80$'
  and coalesce(substring(p_origin from ':([0-9]+)$')::integer, 0) <= 65535;

-- Raises PT400 if a session cannot have these parts.
create function logloom_private.check_parts(
  p_parts text[],
  p_customer text,
  p_limits jsonb,
  p_is_narrowed boolean
)
returns void
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_customer is not null and logloom_private.usable_id(p_customer) is null then
    perform logloom_private.refuse('portal.customer_is_invalid');
  elsif p_parts = '{}'
    or not p_parts <@ array(select p.part from logloom_private.portal_parts() p)
  then
    perform logloom_private.refuse(
      'portal.part_is_unknown',
      (select string_agg(p.part, ', ') from logloom_private.portal_parts() p)
    );
  elsif p_customer is null and not p_parts <@ '{search,exports}' then
    perform logloom_private.refuse('portal.customer_is_missing');
  elsif 'usage' = any (p_parts) and p_is_narrowed then
    perform logloom_private.refuse('portal.usage_is_of_tenant');
  elsif jsonb_typeof(p_limits) <> 'object' or exists (
    select
    from jsonb_each(case jsonb_typeof(p_limits) when 'object' then p_limits end) l
    where l.key not in ('monthly_bytes', 'monthly_events', 'rules', 'streams')
      or l.value::text !~ '^[1-9][0-9]{0,15}$' or l.value::text::numeric > 1e15
  )
  then
    perform logloom_private.refuse('portal.limits_are_invalid');
  end if;
end;
$$;

-- Raises PT400 if a session cannot pin these values of dashboards' variables.
create function logloom_private.check_variables(p_variables jsonb)
returns void
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if jsonb_typeof(p_variables) <> 'object' or (
    select count(*) > 20
      or bool_or(
        v.key !~ '^[A-Za-z0-9_]{1,60}$' or jsonb_typeof(v.value) <> 'string'
        or length(v.value #>> '{}') > 200
      )
    from jsonb_each(case jsonb_typeof(p_variables) when 'object' then p_variables end) v
  )
  then
    perform logloom_private.refuse('portal.variables_are_invalid');
  end if;
end;
$$;

create function logloom_private.issue_portal_session(
  p_tenant_id text,
  p_view_id uuid,
  p_query_dsl text,
  p_seconds integer,
  p_label text,
  p_origins text[],
  p_link boolean,
  p_parts text[],
  p_customer text,
  p_limits jsonb,
  p_variables jsonb
)
returns public.logloom_created_portal_session
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role may use sessions and settings
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
  -- A blank query becomes null, as for views. Takes no validation slot: a backend creates sessions
  -- for many customers at once.
  p_query_dsl := logloom_private.checked_view_query(p_query_dsl);
  perform
    logloom_private.check_parts(
      p_parts, p_customer, p_limits, num_nonnulls(p_view_id, p_query_dsl) > 0
    ),
    logloom_private.check_variables(p_variables),
    logloom_private.hold_view(v_tenant_id, p_view_id),
    logloom_private.hold_tenant(v_tenant_id);
  if (
    select count(*) from logloom.portal_sessions s
    where s.tenant_id = v_tenant_id and s.expires_at > now() and s.revoked_at is null
      -- If a link was not opened in time, its session does not count.
      and coalesce(s.code_expires_at > now(), true)
  ) >= v_plan.max_portal_sessions
  then
    perform logloom_private.refuse('portal.no_room', v_plan.max_portal_sessions::text);
  end if;
  insert into logloom.portal_sessions (
    tenant_id, label, view_id, query_dsl, origins, token_digest, code_digest, code_expires_at,
    created_by, expires_at, parts, customer, limits, variables
  )
  values (
    v_tenant_id, p_label, p_view_id, p_query_dsl, coalesce(p_origins, '{}'),
    case when not p_link then sha256(convert_to(v_secret, 'UTF8')) end,
    case when p_link then sha256(convert_to(v_secret, 'UTF8')) end,
    case when p_link then now() + least(
      interval '10 minutes', make_interval(secs => p_seconds)
    ) end,
    case when not logloom_private.is_service_role() then logloom_private.current_user_id() end,
    now() + make_interval(secs => p_seconds), p_parts, p_customer, p_limits, p_variables
  )
  returning * into v_session;
  insert into logloom.audit_events (tenant_id, actor, action, subject, details)
  values (
    v_tenant_id, logloom_private.actor(), 'portal_session.created', v_session.session_id::text,
    jsonb_strip_nulls(jsonb_build_object(
      'label', p_label, 'view_id', p_view_id, 'query_dsl', p_query_dsl, 'origins', p_origins,
      'expires_at', v_session.expires_at, 'parts', p_parts, 'customer', p_customer,
      'limits', p_limits, 'variables', p_variables
    ))
  );
  return row(
    v_session.session_id, case when not p_link then v_secret end,
    -- The secret comes after #, because browsers send this part to no server.
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
  p_link boolean default null,
  p_parts text[] default null,
  p_customer text default null,
  p_limits jsonb default null,
  p_variables jsonb default null
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
    coalesce(p_link, false), p_parts, p_customer, p_limits, p_variables
  );
end;
$$;

comment on function public.create_log_portal_session(
  text, uuid, text, integer, text, text[], boolean, text[], text, jsonb, jsonb
) is
  'Creates a session in which a customer reads the tenant''s logs. Returns its token, only '
  'once. With p_link it returns instead the url of a page; the code in this url works once, '
  'within ten minutes, or p_expires_in if that is shorter. p_view_id: the view to read in. '
  'p_query_dsl: a query without stages that narrows the view. p_expires_in: seconds, 60 to '
  '604800 (default 3600). p_label: at most 200 characters. p_origins: at most 20 https origins '
  'of pages that may frame the portal. p_parts: search, exports, errors, audit, dashboards, '
  'streams, alerts, usage (default search and exports). p_customer: your own id of the customer, '
  'for all but the first two parts. p_limits: {"monthly_events", "monthly_bytes"} that the part '
  'usage shows, and how many "streams" (default 2) and "rules" (default 10) the customer can make. '
  'p_variables: values of dashboards'' variables by name. Errors: PT400 (also plan limit), PT401, '
  'PT403, PT404.';
