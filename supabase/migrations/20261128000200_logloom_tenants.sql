-- Assembled from supabase/schemas, as of 1.0.0.

set local search_path = pg_catalog, pg_temp;

-- tenants/types/log_secret_scope.sql
create type public.logloom_log_secret_scope as (
  tenant_id text
);

comment on type public.logloom_log_secret_scope is
  'For which tenant the edge functions may seal secrets of the caller.';

-- tenants/types/member.sql
create type public.logloom_member as (
  user_id text,
  role text,
  email text,
  created_at timestamptz,
  view_id uuid
);

comment on type public.logloom_member is
  'A user who belongs to a tenant. role: viewer, member, admin or owner. email: of Supabase '
  'Auth, else what was given when the member was added; null where neither is known. view_id: what '
  'a viewer is bound to.';

-- tenants/types/membership.sql
create type public.logloom_log_tenant as (
  tenant_id text,
  role text,
  is_current boolean
);

comment on type public.logloom_log_tenant is
  'A tenant that the caller belongs to. is_current: the one that the token names.';

-- tenants/types/tenant.sql
create type public.logloom_plan_features as (
  saved_searches boolean,
  max_saved_searches integer,
  alerts boolean,
  max_alerts integer
);

comment on type public.logloom_plan_features is 'What a plan includes, and how many.';

create type public.logloom_tenant as (
  tenant_id text,
  plan_id text,
  plan_name text,
  created_at timestamptz,
  monthly_events_limit bigint,
  monthly_bytes_limit bigint,
  features public.logloom_plan_features
);

comment on type public.logloom_tenant is 'A tenant with its plan. Limits are per UTC month.';

create type public.logloom_plan_feature as (
  enabled boolean,
  "maxCount" integer,
  "currentCount" integer
);

comment on type public.logloom_plan_feature is
  'Whether the plan includes a feature, how many of it, and how many the tenant has.';

-- tenants/types/tenant_settings.sql
create type public.logloom_pipeline_config as (retention_days integer, compression boolean);

comment on type public.logloom_pipeline_config is
  'How long records are kept, and whether compressed.';

create type public.logloom_notification_preferences as (email_enabled boolean,
  webhook_enabled boolean);

comment on type public.logloom_notification_preferences is 'Which channels alerts may use.';

create type public.logloom_stored as (sealed_bytes bigint, hot_bytes bigint);

comment on type public.logloom_stored is
  'What a tenant''s records take on disk: sealed_bytes in compressed blocks, hot_bytes as rows '
  'with their indexes, that one about.';

create type public.logloom_tenant_settings as (
  tenant_id text,
  pipeline_config public.logloom_pipeline_config,
  notification_preferences public.logloom_notification_preferences,
  stored public.logloom_stored
);

comment on type public.logloom_tenant_settings is
  'The settings in force: what was set, else the defaults.';

-- tenants/current_tenant_id.sql
-- The tenant whose rows the request's token reaches: every policy asks this. Null for a token that
-- only reads, which reading operations alone answer.
create function logloom_private.current_tenant_id(
  p_claims jsonb default logloom_private.claims()
)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id constant text := logloom_private.tenant_of_claims(p_claims);
begin
  if v_tenant_id is null or logloom_private.reads_only(p_claims)
    or logloom_private.is_viewer(v_tenant_id, p_claims)
  then
    return null;
  end if;
  return v_tenant_id;
end;
$$;

-- tenants/current_admin_tenant_id.sql
-- current_tenant_id() where the request's user is an admin of it, else null: the policies of what
-- members may not change ask it.
create function logloom_private.current_admin_tenant_id()
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id constant text := logloom_private.current_tenant_id();
begin
  if logloom_private.acting_role(
    v_tenant_id, logloom_private.current_user_id(), logloom_private.claims()
  ) in ('admin', 'owner')
  then
    return v_tenant_id;
  end if;
  return null;
end;
$$;

-- tenants/tables/plans.sql
create table logloom.plans (
  plan_id text primary key,
  plan_name text not null,
  is_default boolean not null default false,
  monthly_events_limit bigint not null,
  monthly_bytes_limit bigint not null,
  events_per_second integer,
  events_burst integer,
  requests_per_second integer,
  requests_burst integer,
  retention_days_default integer not null,
  retention_days_max integer not null,
  saved_searches boolean not null,
  max_saved_searches integer not null,
  alerts boolean not null,
  max_alerts integer not null,
  concurrent_searches integer not null,
  concurrent_scans integer not null default 1,
  max_open_deletions integer not null default 10,
  max_members integer not null default 1000,
  max_api_keys integer not null default 1000,
  emails_per_hour integer not null default 1000,
  webhooks_per_hour integer not null default 10000,
  max_notification_addresses integer not null default 1000,
  max_ingest_tokens integer not null default 10000,
  ingest_tokens_per_minute integer not null default 2000,
  max_portal_sessions integer not null default 10000,
  portal_requests_per_minute integer not null default 6000,
  max_views integer not null default 1000,
  max_log_streams integer not null default 100,
  max_alert_silences integer not null default 1000,
  archive_days integer not null default 0,
  max_restored_days integer not null default 31,
  max_log_dashboards integer not null default 1000,
  constraint plans_limits_are_not_negative check (
    least(monthly_events_limit, monthly_bytes_limit, max_saved_searches, max_alerts) >= 0
  ),
  constraint plans_max_members_is_positive check (max_members >= 1),
  constraint plans_max_api_keys_is_positive check (max_api_keys >= 1),
  constraint plans_portal_is_limited check (
    least(max_portal_sessions, portal_requests_per_minute) >= 0
  ),
  constraint plans_max_alert_silences_is_not_negative check (max_alert_silences >= 0),
  constraint plans_max_views_is_not_negative check (max_views >= 0),
  constraint plans_max_log_streams_is_not_negative check (max_log_streams >= 0),
  constraint plans_archive_days_is_limited check (archive_days between 0 and 3650),
  constraint plans_max_restored_days_is_limited check (max_restored_days between 0 and 3650),
  constraint plans_max_log_dashboards_is_not_negative check (max_log_dashboards >= 0),
  constraint plans_notifications_are_limited check (
    least(emails_per_hour, webhooks_per_hour, max_notification_addresses) >= 0
  ),
  constraint plans_max_open_deletions_is_positive check (max_open_deletions >= 1),
  constraint plans_concurrent_searches_is_positive check (concurrent_searches >= 1),
  constraint plans_concurrent_scans_is_positive check (concurrent_scans >= 1),
  constraint plans_rates_are_positive check (
    least(events_per_second, events_burst, requests_per_second, requests_burst) >= 1
  ),
  constraint plans_rates_have_bursts check (
    (events_per_second is null) = (events_burst is null)
    and (requests_per_second is null) = (requests_burst is null)
  ),
  constraint plans_retention_is_positive check (
    retention_days_default between 1 and retention_days_max
  )
);

create unique index plans_is_default_idx on logloom.plans (is_default) where is_default;

create policy plans_select_anyone on logloom.plans
for select to authenticated
using (true);

grant select on logloom.plans to authenticated, service_role;

insert into logloom.plans (
  plan_id, plan_name, is_default, monthly_events_limit, monthly_bytes_limit,
  retention_days_default, retention_days_max,
  saved_searches, max_saved_searches, alerts, max_alerts, concurrent_searches, concurrent_scans,
  max_members, max_api_keys, emails_per_hour, webhooks_per_hour, max_notification_addresses,
  max_ingest_tokens, ingest_tokens_per_minute, max_portal_sessions, portal_requests_per_minute,
  max_views, max_log_streams, max_alert_silences, max_log_dashboards
)
values
  (
    'free', 'Free', true, 1000000, 1000000000, 7, 7, true, 10, true, 3, 4, 1,
    10, 20, 20, 200, 10, 100, 20, 100, 120, 5, 1, 10, 5
  ),
  (
    'pro', 'Pro', false, 100000000, 100000000000, 30, 90, true, 50, true, 50, 6, 2,
    100, 200, 200, 2000, 100, 1000, 200, 1000, 1200, 100, 10, 100, 100
  ),
  (
    'enterprise', 'Enterprise', false, 10000000000, 10000000000000, 90, 400,
    true, 1000, true, 1000, 8, 2, 1000, 1000, 1000, 10000, 1000,
    10000, 2000, 10000, 6000, 1000, 100, 1000, 1000
  );

comment on table logloom.plans is
  'What a tenant can buy. A change of a row holds from the next request on.';

comment on column logloom.plans.is_default is
  'The plan of a tenant that is provisioned by its first write.';

comment on column logloom.plans.max_open_deletions is
  'Erasures by delete_logs that may be queued or under way at once.';

comment on column logloom.plans.monthly_bytes_limit is
  'Bytes of accepted request bodies in a UTC month.';

comment on column logloom.plans.events_per_second is
  'Events that a tenant may send a second over time, events_burst of them at once. Null: any.';

comment on column logloom.plans.requests_per_second is
  'Requests a second over time, requests_burst of them at once. Null: any.';

comment on column logloom.plans.concurrent_searches is
  'Searches, statistics, tails and previews of a tenant that run at once; a further one is PT429.';

comment on column logloom.plans.concurrent_scans is
  'How many of them read on at once after search_free_time; the others wait for their turn. The '
  'first has one parallel worker less.';

comment on column logloom.plans.retention_days_max is
  'Greatest retention_days that a tenant may set.';

comment on column logloom.plans.max_members is 'Members that a tenant may have.';

comment on column logloom.plans.max_api_keys is
  'API keys that a tenant may have that are neither revoked nor expired.';

comment on column logloom.plans.emails_per_hour is
  'Emails that may be sent for a tenant in an hour of the clock, tests, codes and repeated '
  'attempts included. What is beyond waits for the next hour; a further test is PT429.';

comment on column logloom.plans.webhooks_per_hour is
  'The same for webhooks, chats and pagers: all that goes by HTTP.';

comment on column logloom.plans.max_notification_addresses is
  'Email addresses that a tenant may have confirmed.';

comment on column logloom.plans.max_ingest_tokens is
  'Ingest tokens of a tenant that may be alive at once; a further one is PT429.';

comment on column logloom.plans.ingest_tokens_per_minute is
  'Ingest tokens that may be made for a tenant in a minute.';

comment on column logloom.plans.max_portal_sessions is
  'Active portal sessions that a tenant may have.';

comment on column logloom.plans.portal_requests_per_minute is
  'Requests that all portal sessions of a tenant may make in a minute.';

comment on column logloom.plans.max_views is 'Views of logs that a tenant may have.';

comment on column logloom.plans.max_log_streams is 'Log streams that a tenant may have.';

comment on column logloom.plans.max_alert_silences is
  'Silences of alerts that a tenant may have at once, scheduled ones included.';

comment on column logloom.plans.archive_days is
  'How many days records stay in the archive, counted from their ts. 0: they are not archived.';

comment on column logloom.plans.max_restored_days is
  'Days that a tenant may have back from the archive at once.';

comment on column logloom.plans.max_log_dashboards is 'Dashboards that a tenant may have.';

-- tenants/tables/tenants.sql
create table logloom.tenants (
  tenant_id text primary key,
  plan_id text not null references logloom.plans on delete restrict,
  created_at timestamptz not null default now(),
  constraint tenants_id_is_usable check (logloom_private.usable_id(tenant_id) is not null)
);

create index tenants_plan_id_idx on logloom.tenants (plan_id);

create policy tenants_select_own on logloom.tenants
for select to authenticated
using (tenant_id = (select logloom_private.current_tenant_id()));

grant select on logloom.tenants to authenticated, service_role;

comment on table logloom.tenants is
  'A tenant appears with its first write: create, update or ingest.';

-- tenants/tables/kept_longer.sql
create table logloom_private.kept_longer (
  kept_id uuid primary key default gen_random_uuid(),
  tenant_id text not null,
  first_day date not null,
  last_day date not null,
  kept_until timestamptz not null,
  constraint kept_longer_days_are_in_order check (first_day <= last_day)
);

create index kept_longer_tenant_id_idx on logloom_private.kept_longer (tenant_id, kept_until);

comment on table logloom_private.kept_longer is
  'Days that a tenant keeps for a while although its retention does not: those that were brought '
  'back. Past kept_until a row means nothing.';

-- tenants/tables/log_views.sql
create table logloom.log_views (
  view_id uuid primary key default gen_random_uuid(),
  tenant_id text not null references logloom.tenants on delete cascade,
  name text not null,
  query_dsl text,
  hidden_fields text[] not null default '{}',
  operations text[],
  created_by text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  shows_since timestamptz not null default now(),
  -- So that a foreign key can say that who is bound to a view is of its tenant.
  constraint log_views_tenant_id_view_id_is_unique unique (tenant_id, view_id),
  constraint log_views_name_is_unique unique (tenant_id, name),
  constraint log_views_name_is_valid check (
    name = logloom_private.trim_space(name) and length(name) between 1 and 100
  ),
  constraint log_views_operations_are_not_empty check (cardinality(operations) > 0)
);

create index log_views_tenant_id_created_at_idx
on logloom.log_views (tenant_id, created_at desc, view_id desc);

create policy log_views_select_tenant on logloom.log_views
for select to authenticated
using (tenant_id = (select logloom_private.current_tenant_id()));

grant select on logloom.log_views to authenticated, service_role;

comment on table logloom.log_views is
  'What a reader is limited to who is bound to it: a viewer, or an API key.';

comment on column logloom.log_views.query_dsl is
  'The records that the view shows: a query without stages. Null: all.';

comment on column logloom.log_views.hidden_fields is
  'Names of fields, attrs, and attrs.PATH, without which the view shows records.';

comment on column logloom.log_views.operations is
  'The reading operations that are open. Null: all, but for those that list alerts.';

comment on column logloom.log_views.shows_since is
  'Since when it shows what it shows: made, or given another query or other hidden fields. What '
  'rules found in it before is none of it.';

-- tenants/tables/tenant_deletions.sql
-- Deleted tenants: the receipt, and while it is not finished, what keeps the id from being used.
create table logloom_private.tenant_deletions (
  deletion_id uuid primary key default gen_random_uuid(),
  tenant_id text not null,
  requested_by text not null,
  requested_at timestamptz not null default now(),
  erased_records bigint,
  finished_at timestamptz
);

create unique index tenant_deletions_tenant_id_idx
on logloom_private.tenant_deletions (tenant_id) where finished_at is null;

comment on table logloom_private.tenant_deletions is
  'A row for each delete_tenant. finished_at: when nothing of the tenant was left. erased_records: '
  'log records that were erased; null until they are.';

-- tenants/tables/tenant_members.sql
-- Who belongs to which tenant, and the hook that says so in Supabase Auth's tokens.

create table logloom.tenant_members (
  tenant_id text not null references logloom.tenants on delete cascade,
  user_id text not null,
  email text,
  role text not null default 'member',
  -- Two members of one transaction have an order too.
  created_at timestamptz not null default clock_timestamp(),
  view_id uuid,
  chosen_at timestamptz,
  primary key (tenant_id, user_id),
  constraint tenant_members_user_id_is_usable check (
    logloom_private.usable_id(user_id) is not null
  ),
  constraint tenant_members_email_is_short check (length(email) <= 320),
  constraint tenant_members_role_is_known check (role in ('owner', 'admin', 'member', 'viewer')),
  constraint tenant_members_viewer_has_a_view check ((role = 'viewer') = (view_id is not null)),
  constraint tenant_members_view_is_of_tenant foreign key (tenant_id, view_id)
    references logloom.log_views (tenant_id, view_id) on delete cascade
);

create index tenant_members_tenant_id_view_id_idx
on logloom.tenant_members (tenant_id, view_id);

create index tenant_members_user_id_created_at_idx
on logloom.tenant_members (user_id, created_at, tenant_id);

create policy tenant_members_select_tenant on logloom.tenant_members
for select to authenticated
using (tenant_id = (select logloom_private.current_tenant_id()));

create policy tenant_members_select_auth on logloom.tenant_members
for select to supabase_auth_admin
using (true);

grant select on logloom.tenant_members to authenticated, service_role;
grant select (tenant_id, user_id, created_at, chosen_at)
on logloom.tenant_members to supabase_auth_admin;

comment on table logloom.tenant_members is
  'Users of Supabase Auth and the tenants they belong to. Auth''s tokens get tenant_id from here.';

comment on column logloom.tenant_members.user_id is
  'The claim sub of their tokens: auth.users.id, or what another identity provider has. Without a '
  'foreign key for that reason.';

comment on column logloom.tenant_members.email is
  'A label that whoever added the member gave. Nothing is sent there for its sake.';

comment on column logloom.tenant_members.role is
  'viewer reads within view_id; member reads, searches, keeps saved searches and alert rules; '
  'admin also keys, settings, views and deletion; owner also members.';

comment on column logloom.tenant_members.view_id is 'What a viewer is bound to.';

comment on column logloom.tenant_members.chosen_at is
  'When the member last switched to the tenant: tokens name the one that was chosen last.';

-- tenants/tables/tenant_settings.sql
create table logloom.tenant_settings (
  tenant_id text primary key references logloom.tenants on delete cascade,
  retention_days integer,
  compression boolean,
  email_enabled boolean,
  webhook_enabled boolean,
  updated_at timestamptz not null default now(),
  constraint tenant_settings_retention_is_positive check (retention_days >= 1)
);

create policy tenant_settings_select_tenant on logloom.tenant_settings
for select to authenticated
using (tenant_id = (select logloom_private.current_tenant_id()));

create policy tenant_settings_insert_admin on logloom.tenant_settings
for insert to authenticated
with check (tenant_id = (select logloom_private.current_admin_tenant_id()));

create policy tenant_settings_update_admin on logloom.tenant_settings
for update to authenticated
using (tenant_id = (select logloom_private.current_admin_tenant_id()))
with check (tenant_id = (select logloom_private.current_admin_tenant_id()));

grant select on logloom.tenant_settings to authenticated, service_role;

grant insert (
  tenant_id, retention_days, compression, email_enabled, webhook_enabled
) on logloom.tenant_settings to authenticated, service_role;

grant update (retention_days, compression, email_enabled, webhook_enabled, updated_at)
on logloom.tenant_settings to authenticated, service_role;

comment on table logloom.tenant_settings is
  'What a tenant set. Where there is no row, or null, the default holds.';

comment on column logloom.tenant_settings.retention_days is
  'Read cut to the plan''s limit: a change of plan may have lowered it.';

-- tenants/acting_role.sql
-- What a user is in a tenant: viewer, member, admin or owner. A member's row says it; without one
-- the role in their token, where settings.roles_from_token is on. A tenant without members does not
-- use roles, each of its users is owner, unless the settings require them. Null for who does not
-- belong to it, and in a tenant that is being deleted.
create function logloom_private.acting_role(
  p_tenant_id text,
  p_user_id text,
  p_claims jsonb default null
)
returns text
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because the policies of these tables ask it
declare
  v_role text;
  v_required boolean;
  v_from_token boolean;
begin
  if logloom_private.is_being_deleted(p_tenant_id) then
    return null;
  end if;
  select m.role into v_role
  from logloom.tenant_members m
  where m.tenant_id = p_tenant_id and m.user_id = p_user_id;
  if found then
    return v_role;
  end if;
  select s.roles_required, s.roles_from_token into v_required, v_from_token
  from logloom_private.settings s;
  if v_from_token then
    -- Only an administrator of Auth writes app_metadata; user_metadata is the user's own.
    v_role := p_claims -> 'app_metadata' ->> 'logloom_role';
    return case when v_role in ('viewer', 'member', 'admin', 'owner') then v_role end;
  elsif v_required or exists (select from logloom.tenant_members m where m.tenant_id = p_tenant_id)
  then
    return null;
  end if;
  return 'owner';
end;
$$;

-- tenants/add_tenant_member.sql
-- Enrolls a user, and in the first place who does so; what public.add_tenant_member answers.
create function logloom_private.enroll_member(
  p_tenant_id text,
  p_user_id text,
  p_role text,
  p_email text,
  p_view_id uuid
)
returns public.logloom_member
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role writes members
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
  v_email constant text := nullif(logloom_private.trim_space(p_email), '');
  v_caller text;
  v_user_id text := p_user_id;
  v_members integer;
  v_max integer;
  v_added logloom.tenant_members;
begin
  perform logloom_private.require_role(v_tenant_id, 'owner');
  perform logloom_private.require_parameter('p_role', p_role is null);
  perform logloom_private.require_member_role(p_role, p_view_id);
  if length(v_email) > 320 then
    perform logloom_private.refuse('tenants.email_is_too_long');
  end if;
  if v_user_id is null then
    perform logloom_private.require_parameter('p_user_id', v_email is null);
    v_user_id := logloom_private.auth_user_of_email(v_email);
  end if;
  if logloom_private.usable_id(v_user_id) is null then
    perform logloom_private.refuse('tenants.user_id_is_invalid');
  end if;
  perform logloom_private.provision_tenant(v_tenant_id, logloom_private.claims());
  perform logloom_private.lock_members(v_tenant_id);
  perform logloom_private.hold_view(v_tenant_id, p_view_id);

  select count(*) into v_members
  from logloom.tenant_members m where m.tenant_id = v_tenant_id;
  if v_members = 0 and logloom_private.is_service_role() then
    if p_role <> 'owner' then
      perform logloom_private.refuse('tenants.first_member_is_owner');
    end if;
  elsif v_members = 0 then
    -- From here on the tenant uses roles: who set that off must not be locked out by it.
    v_caller := logloom_private.require_user_id();
    insert into logloom.tenant_members (tenant_id, user_id, role)
    values (v_tenant_id, v_caller, 'owner');
    v_members := 1;
  end if;
  v_max := (logloom_private.plan_of(v_tenant_id)).max_members;
  if v_members >= v_max and v_user_id is distinct from v_caller then
    perform logloom_private.refuse('tenants.no_room_for_member', v_max::text);
  end if;

  if v_user_id = v_caller then
    -- A tenant's first member is its owner, whatever they asked for.
    update logloom.tenant_members m set email = v_email
    where m.tenant_id = v_tenant_id and m.user_id = v_user_id
    returning m.* into v_added;
  else
    insert into logloom.tenant_members as m (tenant_id, user_id, role, email, view_id)
    values (v_tenant_id, v_user_id, p_role, v_email, p_view_id)
    on conflict do nothing
    returning m.* into v_added;
    if not found then
      perform logloom_private.refuse('tenants.already_a_member');
    end if;
  end if;
  return logloom_private.member_of(v_added);
end;
$$;

create function public.add_tenant_member(
  p_user_id text default null,
  p_role text default null,
  p_email text default null,
  p_tenant_id text default null,
  p_view_id uuid default null
)
returns public.logloom_member
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return logloom_private.enroll_member(p_tenant_id, p_user_id, p_role, p_email, p_view_id);
end;
$$;

comment on function public.add_tenant_member(text, text, text, text, uuid) is
  'Adds a user to the tenant and returns the member. p_user_id: the claim sub of their tokens; by '
  'p_email alone where Supabase Auth knows a user with it. p_role: viewer, member, admin or '
  'owner. p_view_id: the view that a viewer reads in. For owners. The first member makes its '
  'caller owner too, and from then on nobody else belongs to the tenant. '
  'Errors: PT400 (plan limit, too), PT401, PT403, PT404.';

-- tenants/adopt_pre_request.sql
-- Makes PostgREST call this function before every request; null: none.
create function logloom_private.set_pre_request(p_function text, p_of_database boolean)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_role constant text := 'alter role authenticator'
    || case when p_of_database then format(' in database %I', current_database()) else '' end;
begin
  if p_function is null then
    execute v_role || ' reset pgrst.db_pre_request';
  else
    execute v_role || format(' set pgrst.db_pre_request = %L', p_function);
  end if;
  notify pgrst, 'reload config';
end;
$$;

-- Makes check_request() PostgREST's pre-request function and lets it call the one that was set so
-- far. To be called again, as postgres, where the project has set another since.
create function logloom_private.adopt_pre_request()
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_ours constant text := 'logloom_private.check_request';
  v_setting constant record := logloom_private.pre_request_setting();
  v_host text := nullif(v_setting.function, '');
begin
  if v_host = v_ours then
    return;
  end if;
  if v_host is null and logloom_private.is_restored() then
    -- A dump has no settings of roles: which function was called there is noted here alone.
    select i.host_pre_request into v_host
    from logloom_private.installation i
    where exists (
      select
      from pg_catalog.pg_proc p
      join pg_catalog.pg_namespace n on n.oid = p.pronamespace
      where p.proname = substr(i.host_pre_request, strpos(i.host_pre_request, '.') + 1)
        and (
          strpos(i.host_pre_request, '.') = 0
          or n.nspname = split_part(i.host_pre_request, '.', 1)
        )
    );
  end if;
  -- PostgREST takes what stands before the first dot for the schema, and quotes both.
  execute format(
    'create or replace function logloom_private.call_host_pre_request() returns void '
      'language plpgsql volatile security invoker as %L',
    format(
      e'\nbegin\n  %s;\nend;\n',
      case
        when v_host is null then 'null'
        when v_host like '%.%' then format(
          'perform %I.%I()', split_part(v_host, '.', 1), substr(v_host, strpos(v_host, '.') + 1)
        )
        else format('perform %I()', v_host)
      end
    )
  );
  update logloom_private.installation set host_pre_request = v_host where singleton;
  perform logloom_private.set_pre_request(v_ours, coalesce(v_setting.of_database, false));
end;
$$;

-- tenants/auth_session_is_there.sql
-- Whether Supabase Auth has a session. Null where there is no Auth, where postgres may not read its
-- sessions, or where the schema auth is another's.
create function logloom_private.auth_session_is_there(p_session_id text)
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_sessions constant regclass := to_regclass('auth.sessions');
  v_is_there boolean;
begin
  if v_sessions is null or not pg_input_is_valid(p_session_id, 'uuid') then
    return null;
  end if;
  execute format('select exists (select from %s s where s.id = $1)', v_sessions)
  into v_is_there
  using p_session_id::uuid;
  return v_is_there;
exception when syntax_error_or_access_rule_violation then
  return null;
end;
$$;

-- tenants/auth_user_of_email.sql
-- The user of Supabase Auth with this confirmed email address. PT404, PT400 without Auth.
create function logloom_private.auth_user_of_email(p_email text)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_users constant regclass := to_regclass('auth.users');
  v_user_id text;
begin
  if v_users is null then
    perform logloom_private.refuse('tenants.user_id_is_missing');
  end if;
  execute format(
    'select u.id::text from %s u where u.email = lower($1) '
    'and u.email_confirmed_at is not null order by u.created_at limit 1', v_users
  )
  into v_user_id
  using p_email;
  if v_user_id is null then
    perform logloom_private.refuse('tenants.no_user_has_this_email');
  end if;
  return v_user_id;
end;
$$;

-- tenants/auth_users_by_id.sql
-- Confirmed email addresses of users of Supabase Auth. No rows where there is no Auth, where
-- postgres may not read its users, or where the schema auth is another's: a round of alerts goes on
-- all the same.
create function logloom_private.auth_users_by_id(p_user_ids text[])
returns table (user_id text, email text)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_users constant regclass := to_regclass('auth.users');
  v_ids constant uuid[] := array(
    select i.id::uuid from unnest(p_user_ids) i (id) where pg_input_is_valid(i.id, 'uuid')
  );
begin
  if v_users is null or cardinality(v_ids) = 0 then
    return;
  end if;
  return query execute format(
    'select u.id::text, u.email::text from %s u '
    'where u.id = any ($1) and u.email_confirmed_at is not null', v_users
  )
  using v_ids;
exception when syntax_error_or_access_rule_violation then
  return;
end;
$$;

-- tenants/call_host_pre_request.sql
-- Calls the pre-request function that the project had before; adopt_pre_request() writes it.
-- Without a set clause: that function sees and sets what the request has.
create function logloom_private.call_host_pre_request()
returns void
language plpgsql
as $$
begin
  null;
end;
$$;

-- tenants/caller_tenant.sql
-- The tenant that a request is for, whatever it may do there. Users: the token's, PT403 when
-- p_tenant_id differs. service_role: p_tenant_id, PT400 without it. PT401 without a usable tenant.
create function logloom_private.caller_tenant(p_tenant_id text default null)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_claims jsonb;
  v_tenant_id text;
begin
  if logloom_private.is_service_role() then
    v_claims := logloom_private.claims();
    -- No claims: not a request, but somebody at the database.
    if not logloom_private.token_is_valid(v_claims, true) and v_claims is not null then
      perform logloom_private.refuse('callers.not_known');
    end if;
    if p_tenant_id is null then
      perform logloom_private.refuse('callers.tenant_must_be_named');
    end if;
    v_tenant_id := logloom_private.usable_id(p_tenant_id);
    if v_tenant_id is null then
      perform logloom_private.refuse('callers.tenant_is_invalid');
    end if;
    if logloom_private.is_being_deleted(v_tenant_id) then
      perform logloom_private.refuse('tenants.being_deleted');
    end if;
    return v_tenant_id;
  end if;

  v_tenant_id := logloom_private.tenant_of_claims(logloom_private.claims());
  if v_tenant_id is null then
    perform logloom_private.refuse('callers.tenant_is_missing');
  end if;
  if p_tenant_id <> v_tenant_id then
    perform logloom_private.refuse('callers.tenant_is_another');
  end if;
  return v_tenant_id;
end;
$$;

-- tenants/change_member.sql
-- Gives a member another role, or with p_is_removed takes the user out of the tenant; answers the
-- member as it is or was. The last owner stays one.
create function logloom_private.change_member(
  p_tenant_id text,
  p_user_id text,
  p_role text,
  p_is_removed boolean default false,
  p_view_id uuid default null
)
returns public.logloom_member
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role writes members
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
  v_member logloom.tenant_members;
begin
  perform logloom_private.require_role(v_tenant_id, 'owner');
  perform logloom_private.require_parameter('p_user_id', p_user_id is null);
  perform logloom_private.require_parameter('p_role', p_role is null);
  perform logloom_private.require_member_role(p_role, p_view_id);
  perform logloom_private.lock_members(v_tenant_id);
  perform logloom_private.hold_view(v_tenant_id, p_view_id);
  select m.* into v_member
  from logloom.tenant_members m
  where m.tenant_id = v_tenant_id and m.user_id = p_user_id;
  if not found then
    perform logloom_private.refuse('tenants.member_not_found');
  end if;
  if v_member.role = 'owner' and p_role <> 'owner' and not exists (
    select from logloom.tenant_members m
    where m.tenant_id = v_tenant_id and m.role = 'owner' and m.user_id <> p_user_id
  ) then
    perform logloom_private.refuse('tenants.last_owner_stays');
  end if;
  if p_is_removed then
    delete from logloom.tenant_members m
    where m.tenant_id = v_tenant_id and m.user_id = p_user_id;
  else
    update logloom.tenant_members m set role = p_role, view_id = p_view_id
    where m.tenant_id = v_tenant_id and m.user_id = p_user_id
    returning m.* into v_member;
  end if;
  return logloom_private.member_of(v_member);
end;
$$;

-- tenants/check_request.sql
-- PostgREST calls one function before every request of the project. Most of them are not ours. It
-- runs as the role of the request, which may be one of the project's own: what it calls on the way
-- of such a request is granted to PUBLIC.

-- Our operation that a request with this path and search_path asks for; null for every other.
create function logloom_private.requested_operation(p_path text, p_search_path text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_name text := substr(p_path, length('/rpc/') + 1);
  v_code text[];
begin
  -- PostgREST puts the schema of the request first: a function of the same name in another schema
  -- is not ours.
  if p_path is null or p_path not like '/rpc/%' or length(p_path) > 250
    or trim(both '"' from split_part(p_search_path, ',', 1)) <> 'public'
  then
    return null;
  end if;
  -- The path is as it was sent: %5F stands for an underscore.
  loop
    v_code := regexp_match(v_name, '%(2[0-9A-Fa-f]|[3-7][0-9A-Fa-f])');
    exit when v_code is null;
    v_name := replace(v_name, '%' || v_code[1], convert_from(decode(v_code[1], 'hex'), 'UTF8'));
  end loop;
  if v_name = any (logloom_private.operations()) then
    return v_name;
  end if;
  return null;
end;
$$;

-- Where the request asks for one of our operations: PT400 without an Authorization header, PT401
-- without a usable tenant (service_role excepted, whose token has to be current), PT403 for a user
-- who asks for what is only for service_role, PT405 by another method than POST.
create function logloom_private.check_operation(p_search_path text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_headers constant json := nullif(current_setting('request.headers', true), '')::json;
  v_method constant text := current_setting('request.method', true);
  v_operation constant text := logloom_private.requested_operation(
    current_setting('request.path', true), p_search_path
  );
  v_claims jsonb;
  v_is_known boolean := false;
begin
  if v_operation is null then
    return;
  end if;
  if v_headers ->> 'authorization' is null then
    perform logloom_private.refuse('callers.authorization_is_missing');
  end if;
  if current_user in ('authenticated', 'service_role') then
    v_claims := coalesce(
      logloom_private.sent_claims(v_headers ->> 'authorization'), logloom_private.claims()
    );
    v_is_known := case
      when current_user = 'service_role' then logloom_private.token_is_valid(v_claims, true)
      when not logloom_private.token_is_valid(v_claims) then false
      -- The one operation for users who have no tenant yet.
      when v_operation = 'create_tenant' then true
      else logloom_private.tenant_of_claims(logloom_private.claims()) is not null
    end;
  end if;
  if v_is_known is not true then
    perform logloom_private.refuse('callers.not_signed_in');
  end if;
  -- Not left to EXECUTE: with supautils 3.2.0 and 3.2.1 the error of a missing one ends the server.
  if current_user = 'authenticated'
    and v_operation = any (logloom_private.service_operations())
  then
    perform logloom_private.refuse('callers.operation_is_internal', v_operation);
  end if;
  if v_method <> 'POST' then
    perform logloom_private.refuse('callers.method_is_not_allowed', v_method);
  end if;
  -- Hosted projects have 0, which cuts a double at its 15th digit; a project, or the request's
  -- Prefer, may have a time zone; and dates as 23/11/2026 IST are read as another zone's.
  perform
    set_config('extra_float_digits', '1', true),
    set_config('timezone', 'UTC', true),
    set_config('datestyle', 'ISO', true);
end;
$$;

-- PostgREST's pre-request function: first the project's own, then our check, which lets every
-- request pass that is not for one of our operations. Without a set clause: the project's own sees
-- and sets what the request has, and the schema of the request is in its search_path.
create function logloom_private.check_request()
returns void
language plpgsql
as $$
declare
  -- The project's own may set another.
  v_search_path constant pg_catalog.text := pg_catalog.current_setting('search_path');
begin
  perform logloom_private.call_host_pre_request();
  perform logloom_private.check_operation(v_search_path);
end;
$$;

-- tenants/create_tenant.sql
-- Makes a tenant with its owner; what public.create_tenant answers.
create function logloom_private.found_tenant(p_tenant_id text)
returns public.logloom_tenant
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role may insert tenants or members
declare
  v_user_id text;
begin
  if logloom_private.is_service_role() then
    perform logloom_private.refuse('tenants.made_by_a_user');
  end if;
  if not logloom_private.token_is_valid(logloom_private.claims()) then
    perform logloom_private.refuse('callers.not_known');
  end if;
  v_user_id := logloom_private.require_user_id();
  if not (select s.tenants_by_users from logloom_private.settings s) then
    perform logloom_private.refuse('tenants.not_made_by_users');
  end if;
  perform logloom_private.require_writing_client(logloom_private.claims());
  if logloom_private.is_viewer(
    logloom_private.tenant_of_claims(logloom_private.claims()), logloom_private.claims()
  ) then
    perform logloom_private.refuse('callers.viewer_may_only_read');
  end if;
  perform logloom_private.require_lasting_user(logloom_private.claims());
  perform logloom_private.require_parameter('p_tenant_id', p_tenant_id is null);
  if logloom_private.usable_id(p_tenant_id) is null then
    perform logloom_private.refuse('tenants.id_is_invalid');
  end if;
  -- One at a time for a user, so that each has one at most.
  perform logloom_private.lock_members('user ' || v_user_id);
  if logloom_private.claims() ? 'tenant_id'
    or exists (select from logloom.tenant_members m where m.user_id = v_user_id)
  then
    perform logloom_private.refuse('tenants.caller_has_one');
  end if;
  -- Ids that begin so are for ourselves: the canary's tenant has one.
  if p_tenant_id like 'logloom-%' or logloom_private.is_being_deleted(p_tenant_id) then
    perform logloom_private.refuse('tenants.id_is_taken');
  end if;
  insert into logloom.tenants (tenant_id, plan_id)
  select p_tenant_id, p.plan_id from logloom.plans p where p.is_default
  on conflict do nothing;
  if not found then
    perform logloom_private.refuse('tenants.id_is_taken');
  end if;
  insert into logloom.tenant_members (tenant_id, user_id, role)
  values (p_tenant_id, v_user_id, 'owner');
  return logloom_private.tenant_with_plan(p_tenant_id);
end;
$$;

create function public.create_tenant(p_tenant_id text default null)
returns public.logloom_tenant
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return logloom_private.found_tenant(p_tenant_id);
end;
$$;

comment on function public.create_tenant(text) is
  'Makes a tenant on the default plan, for a signed-in user who belongs to none and becomes its '
  'owner; their next token names it. Where the setting tenants_by_users allows it, else PT403. '
  'Errors: PT400 (p_tenant_id is taken, too), PT401, PT403.';

-- tenants/custom_access_token_hook.sql
-- Supabase Auth's custom access token hook: sets the claim tenant_id to the tenant that
-- app_metadata.tenant_id names, if the user belongs to it; where it names none, to the tenant that
-- the user chose last, or else joined first. A user of no tenant gets no claim, and so no access.
create function logloom_private.custom_access_token_hook(event jsonb)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  -- Only an administrator of Auth writes app_metadata; user_metadata is the user's own.
  v_choice constant jsonb := nullif(event #> '{claims,app_metadata,tenant_id}', 'null');
  v_claims jsonb := (event -> 'claims') - 'tenant_id';
  v_tenant_id text;
begin
  select m.tenant_id into v_tenant_id
  from logloom.tenant_members m
  where m.user_id = event ->> 'user_id'
    and (v_choice is null or to_jsonb(m.tenant_id) = v_choice)
  order by m.chosen_at desc nulls last, m.created_at, m.tenant_id
  limit 1;
  if found then
    v_claims := v_claims || jsonb_build_object('tenant_id', v_tenant_id);
  end if;
  return jsonb_build_object('claims', v_claims);
end;
$$;

grant execute on function logloom_private.custom_access_token_hook(jsonb) to supabase_auth_admin;

-- tenants/effective_settings.sql
-- The settings in force for a tenant. PT404 before its first write.
create function logloom_private.effective_settings(p_tenant_id text)
returns public.logloom_tenant_settings
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_result public.logloom_tenant_settings;
begin
  select
    t.tenant_id,
    row(logloom_private.retention_days(t.tenant_id), coalesce(s.compression, true)),
    row(coalesce(s.email_enabled, true), coalesce(s.webhook_enabled, true))
  into v_result
  from logloom.tenants t
  left join logloom.tenant_settings s on s.tenant_id = t.tenant_id
  where t.tenant_id = p_tenant_id;
  if not found then
    perform logloom_private.refuse('tenants.settings_not_found');
  end if;
  return v_result;
end;
$$;

-- tenants/feature_of.sql
-- What the plan of a tenant says of a feature (saved_searches, alerts), and how many there are,
-- private ones included. A tenant that is not provisioned has the default plan.
create function logloom_private.feature_of(p_tenant_id text, p_feature text)
returns public.logloom_plan_feature
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_plan constant logloom.plans := logloom_private.plan_of(p_tenant_id);
  v_feature public.logloom_plan_feature := row(false, 0, 0);
begin
  if p_feature in ('saved_searches', 'alerts') then
    execute format(
      'select ($1).%1$I, ($1).%1$I::integer * ($1).%2$I, count(*) from logloom.%3$I t '
        'where t.tenant_id = $2',
      p_feature, 'max_' || p_feature,
      case p_feature when 'alerts' then 'alert_rules' else p_feature end
    )
    into v_feature
    using v_plan, p_tenant_id;
  end if;
  return v_feature;
end;
$$;

-- tenants/first_kept_day.sql
-- The first UTC day whose records retention leaves to the tenant, were it p_today.
create function logloom_private.first_kept_day(p_tenant_id text, p_today date)
returns date
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if exists (select from logloom.tenants t where t.tenant_id = p_tenant_id) then
    return p_today - logloom_private.retention_days(p_tenant_id);
  end if;
  -- A tenant that is gone keeps nothing but what may still be on its way.
  return p_today;
end;
$$;

-- tenants/first_kept_days.sql
-- first_kept_day of every tenant, at once.
create function logloom_private.first_kept_days(p_today date)
returns table (tenant_id text, first_kept_day date)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select
    t.tenant_id,
    -- As retention_days says it of one.
    p_today - least(coalesce(s.retention_days, p.retention_days_default), p.retention_days_max)
  from logloom.tenants t
  join logloom.plans p on p.plan_id = t.plan_id
  left join logloom.tenant_settings s on s.tenant_id = t.tenant_id;
end;
$$;

-- tenants/get_current_tenant.sql
create function public.get_current_tenant(p_tenant_id text default null)
returns public.logloom_tenant
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
  v_result constant public.logloom_tenant := logloom_private.tenant_with_plan(v_tenant_id);
begin
  if v_result.tenant_id is null then
    perform logloom_private.refuse('tenants.not_found');
  end if;
  return v_result;
end;
$$;

comment on function public.get_current_tenant(text) is
  'The tenant with its plan and limits. Errors: PT400, PT401, PT403, PT404.';

-- tenants/get_log_secret_scope.sql
create function public.get_log_secret_scope(p_tenant_id text default null)
returns public.logloom_log_secret_scope
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
begin
  perform logloom_private.require_role(v_tenant_id, 'admin');
  return row(v_tenant_id)::public.logloom_log_secret_scope;
end;
$$;

comment on function public.get_log_secret_scope(text) is
  'Whose secrets the caller may seal: {tenant_id}. The edge functions ask it before they seal one '
  'for that tenant. For admins. Errors: PT400, PT401, PT403.';

-- tenants/hold_tenant.sql
-- Provisions the tenant and holds it until the transaction ends: two creates cannot both count
-- before either is done, and so take the last place of a plan.
create function logloom_private.hold_tenant(p_tenant_id text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform logloom_private.provision_tenant(p_tenant_id, logloom_private.claims());
  perform from logloom.tenants t where t.tenant_id = p_tenant_id for no key update;
end;
$$;

-- tenants/hold_view.sql
-- PT404 unless the tenant of the request has the view, which then stays to the end of the
-- transaction. Nothing for null.
create function logloom_private.hold_view(p_tenant_id text, p_view_id uuid)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role may hold a view
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
begin
  if p_view_id is null then
    return;
  end if;
  perform
  from logloom.log_views v
  where v.tenant_id = v_tenant_id and v.view_id = p_view_id
  for key share;
  if not found then
    perform logloom_private.refuse('tenants.view_not_found');
  end if;
end;
$$;

-- tenants/is_address_of_member.sql
-- Whether a member of the tenant confirmed this email address to Supabase Auth. What
-- add_tenant_member was given is a label, and proves nothing.
create function logloom_private.is_address_of_member(p_tenant_id text, p_address text)
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return exists (
    select
    from logloom_private.auth_users_by_id(
      array(select m.user_id from logloom.tenant_members m where m.tenant_id = p_tenant_id)
    ) u
    where lower(u.email) = lower(p_address)
  );
end;
$$;

-- tenants/is_being_deleted.sql
-- Whether something of a deleted tenant is left. Its id names nobody meanwhile.
create function logloom_private.is_being_deleted(p_tenant_id text)
returns boolean
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role reads deletions of tenants
begin
  return exists (
    select
    from logloom_private.tenant_deletions d
    where d.tenant_id = p_tenant_id and d.finished_at is null
  );
end;
$$;

-- tenants/is_viewer.sql
-- Whether the user of verified claims is a viewer of the tenant, who has the reading operations
-- within a view and reaches no table.
create function logloom_private.is_viewer(p_tenant_id text, p_claims jsonb)
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return coalesce(
    logloom_private.acting_role(p_tenant_id, p_claims ->> 'sub', p_claims) = 'viewer', false
  );
end;
$$;

-- tenants/kept_from.sql
-- From when on the tenant keeps records, of a range that begins at p_from where it is given:
-- retention_days whole UTC days before today.
create function logloom_private.kept_from(
  p_tenant_id text,
  p_from timestamptz default '-infinity'
)
returns timestamptz
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_from timestamptz;
begin
  -- Everybody keeps a day at least: of the last day nobody's retention need be asked for.
  if p_from >= now() - interval '24 hours' then
    return p_from;
  end if;
  v_from := date_trunc('day', now(), 'UTC')
    - make_interval(hours => 24 * logloom_private.retention_days(p_tenant_id));
  if p_from < v_from then
    -- What is older still is there where it was brought back.
    v_from := least(
      v_from,
      (
        select logloom_private.day_start(min(k.first_day))
        from logloom_private.kept_longer k
        where k.tenant_id = p_tenant_id and k.kept_until > now()
      )
    );
  end if;
  return greatest(p_from, v_from);
end;
$$;

-- tenants/list_log_tenants.sql
-- The tenants of the caller; what public.list_log_tenants answers.
create function logloom_private.read_memberships(p_limit integer, p_after text)
returns setof public.logloom_log_tenant
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because policies open the members of the token's tenant alone
declare
  v_current constant text := logloom_private.caller_tenant();
  v_claims constant jsonb := logloom_private.claims();
  v_user_id constant text := logloom_private.require_user_id();
  v_limit constant integer := logloom_private.list_limit(p_limit);
begin
  perform logloom_private.require_writing_client(v_claims);
  return query
  select t.tenant_id, t.role, t.tenant_id = v_current
  from (
    select m.tenant_id, m.role
    from logloom.tenant_members m
    where m.user_id = v_user_id and not logloom_private.is_being_deleted(m.tenant_id)
    union
    -- Where the tenant does not use roles, or the token says them.
    select v_current, logloom_private.acting_role(v_current, v_user_id, v_claims)
  ) t
  where p_after is null or t.tenant_id collate "C" > p_after collate "C"
  order by t.tenant_id collate "C"
  limit v_limit;
end;
$$;

create function public.list_log_tenants(
  p_limit integer default null,
  p_after text default null
)
returns setof public.logloom_log_tenant
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return query select t.* from logloom_private.read_memberships(p_limit, p_after) t;
end;
$$;

comment on function public.list_log_tenants(integer, text) is
  'The tenants that the caller belongs to and their role in each, by tenant_id. p_limit 1 to 1000 '
  '(default 100), p_after: tenant_id of the last item of the page before. '
  'Errors: PT400, PT401, PT403.';

-- tenants/list_tenant_members.sql
-- A page of members with what Auth knows of them.
create function logloom_private.read_members(p_tenant_id text, p_limit integer, p_after text)
returns setof public.logloom_member
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because email addresses are in a table of Auth
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
  v_limit constant integer := logloom_private.list_limit(p_limit);
  v_after constant timestamptz := logloom_private.page_place(
    p_after::text, 'member', 'user_id',
    (
      select m.created_at from logloom.tenant_members m
      where m.tenant_id = v_tenant_id and m.user_id = p_after
    )
  );
begin
  return query
  with page as materialized (
    select m.*
    from logloom.tenant_members m
    where m.tenant_id = v_tenant_id
      and (p_after is null or (m.created_at, m.user_id) < (v_after, p_after))
    order by m.created_at desc, m.user_id desc
    limit v_limit
  )
  select p.user_id, p.role, coalesce(u.email, p.email), p.created_at, p.view_id
  from page p
  left join logloom_private.auth_users_by_id(array(select i.user_id from page i)) u
    on u.user_id = p.user_id
  order by p.created_at desc, p.user_id desc;
end;
$$;

create function public.list_tenant_members(
  p_tenant_id text default null,
  p_limit integer default null,
  p_after text default null
)
returns setof public.logloom_member
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select m.* from logloom_private.read_members(p_tenant_id, p_limit, p_after) m;
end;
$$;

comment on function public.list_tenant_members(text, integer, text) is
  'Members of the tenant, newest first; none where the tenant does not use roles. p_limit 1 to '
  '1000 (default 100), p_after: user_id of the last item of the page before. '
  'Errors: PT400, PT401, PT403.';

-- tenants/lock_members.sql
-- Held to the end of the transaction: one at a time changes who belongs to a tenant, so that the
-- last owner stays and a limit holds.
create function logloom_private.lock_members(p_tenant_id text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform pg_advisory_xact_lock(logloom_private.lock_key('members'), hashtext(p_tenant_id));
end;
$$;

-- tenants/member_of.sql
-- A member as operations show it.
create function logloom_private.member_of(p_member logloom.tenant_members)
returns public.logloom_member
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return row(
    p_member.user_id, p_member.role,
    coalesce(
      (select u.email from logloom_private.auth_users_by_id(array[p_member.user_id]) u),
      p_member.email
    ),
    p_member.created_at,
    p_member.view_id
  )::public.logloom_member;
end;
$$;

-- tenants/plan_of.sql
-- The plan of a tenant; of one that is not there yet, the default plan.
create function logloom_private.plan_of(p_tenant_id text)
returns logloom.plans
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_plan logloom.plans;
begin
  select p.* into v_plan
  from logloom.plans p
  where p.plan_id = coalesce(
    (select t.plan_id from logloom.tenants t where t.tenant_id = p_tenant_id),
    (select d.plan_id from logloom.plans d where d.is_default)
  );
  return v_plan;
end;
$$;

-- tenants/pre_request_health.sql
-- Degraded where PostgREST no longer calls our check before a request. The operations stay safe,
-- they decide who is calling for themselves; what is lost is 400 for a missing header, 405 for
-- another method, the last digits of doubles, and UTC where the project has a time zone.
create function logloom_private.pre_request_health()
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_function constant text := (logloom_private.pre_request_setting()).function;
  v_is_called boolean;
begin
  -- Ours itself, or a function of the project that calls ours.
  v_is_called := v_function = 'logloom_private.check_request' or exists (
    select
    from pg_catalog.pg_proc p
    join pg_catalog.pg_namespace n on n.oid = p.pronamespace
    where p.proname = substr(v_function, strpos(v_function, '.') + 1)
      and (strpos(v_function, '.') = 0 or n.nspname = split_part(v_function, '.', 1))
      and strpos(p.prosrc, 'logloom_private.check_request') > 0
  );
  return logloom_private.health_grade(
    null,
    case when not v_is_called then
      'PostgREST does not call logloom_private.check_request: '
        'logloom_private.adopt_pre_request() mends it'
    end
  );
end;
$$;

-- tenants/pre_request_setting.sql
-- What PostgREST calls before every request: a setting of the role authenticator, where one for
-- this database wins: its name as PostgREST reads it (not quoted), and whether it is set for this
-- database alone. Null where there is none.
create function logloom_private.pre_request_setting(out function text, out of_database boolean)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  select substr(c.entry, length('pgrst.db_pre_request=') + 1), s.setdatabase <> 0
  into function, of_database
  from pg_catalog.pg_db_role_setting s
  cross join unnest(s.setconfig) c (entry)
  where s.setrole = 'authenticator'::regrole
    and s.setdatabase in (
      0, (select d.oid from pg_catalog.pg_database d where d.datname = current_database())
    )
    and c.entry like 'pgrst.db\_pre\_request=%'
  order by s.setdatabase desc
  limit 1;
end;
$$;

-- tenants/provision_current_tenant.sql
-- What every first write calls: resolves the tenant of the request, provisions it, returns it.
create function logloom_private.provision_current_tenant(p_tenant_id text default null)
returns text
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role may insert tenants or choose a plan
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
begin
  perform logloom_private.provision_tenant(v_tenant_id, logloom_private.claims());
  return v_tenant_id;
end;
$$;

-- tenants/provision_tenant.sql
-- Makes the tenant on the default plan unless it exists. PT403 for an anonymous sign-in.
create function logloom_private.provision_tenant(p_tenant_id text, p_claims jsonb)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if exists (select from logloom.tenants t where t.tenant_id = p_tenant_id) then
    return;
  end if;
  perform logloom_private.require_lasting_user(p_claims);
  insert into logloom.tenants (tenant_id, plan_id)
  select p_tenant_id, p.plan_id from logloom.plans p where p.is_default
  on conflict do nothing;
end;
$$;

-- tenants/remove_tenant_member.sql
create function public.remove_tenant_member(
  p_user_id text default null,
  p_tenant_id text default null
)
returns public.logloom_success
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  perform logloom_private.change_member(p_tenant_id, p_user_id, 'member', true);
  return row(true)::public.logloom_success;
end;
$$;

comment on function public.remove_tenant_member(text, text) is
  'Removes a user from the tenant: their tokens are refused from the next request on. For owners; '
  'the last one cannot be removed. Returns {success}. Errors: PT400, PT401, PT403, PT404.';

-- tenants/require_member_role.sql
-- PT400 unless it is a role, with a view if it is viewer, and without one if it is another.
create function logloom_private.require_member_role(p_role text, p_view_id uuid)
returns void
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_role not in ('viewer', 'member', 'admin', 'owner') then
    perform logloom_private.refuse('tenants.role_is_unknown');
  elsif p_role = 'viewer' and p_view_id is null then
    perform logloom_private.refuse('tenants.viewer_needs_a_view');
  elsif p_role <> 'viewer' and p_view_id is not null then
    perform logloom_private.refuse('tenants.view_is_for_viewers');
  end if;
end;
$$;

-- tenants/require_role.sql
-- PT403 unless the caller is at least p_role in the tenant: member, admin or owner, which a viewer
-- is not. service_role may do everything.
create function logloom_private.require_role(p_tenant_id text, p_role text)
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_roles constant text[] := array['member', 'admin', 'owner'];
  v_role text;
begin
  if logloom_private.is_service_role() then
    return;
  end if;
  v_role := logloom_private.acting_role(
    p_tenant_id, logloom_private.current_user_id(), logloom_private.claims()
  );
  if array_position(v_roles, v_role) >= array_position(v_roles, p_role) then
    return;
  end if;
  perform logloom_private.refuse('callers.role_is_missing', p_role);
end;
$$;

-- tenants/require_room_for.sql
-- Provisions the tenant of the request and holds it; PT400 when its plan has no room for one more
-- of a feature (saved_searches, alerts).
create function logloom_private.require_room_for(p_feature text, p_tenant_id text default null)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role may hold a tenant, and a plan counts what a colleague keeps private
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
  v_feature public.logloom_plan_feature;
begin
  perform logloom_private.hold_tenant(v_tenant_id);
  v_feature := logloom_private.feature_of(v_tenant_id, p_feature);
  if v_feature."currentCount" >= v_feature."maxCount" then
    perform logloom_private.refuse(
      'tenants.plan_has_no_room', p_feature, v_feature."maxCount"::text
    );
  end if;
end;
$$;

-- tenants/require_view_by_admin.sql
-- PT403 unless the caller is an admin, PT404 unless the tenant has the view. Nothing for null.
create function logloom_private.require_view_by_admin(p_tenant_id text, p_view_id uuid)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_view_id is not null then
    perform logloom_private.require_role(p_tenant_id, 'admin');
    perform logloom_private.hold_view(p_tenant_id, p_view_id);
  end if;
end;
$$;

-- tenants/resolve_tenant.sql
-- The tenant that an operation acts for, as caller_tenant() says it: PT403 for a token that only
-- reads, an OAuth client's or a viewer's. All but the reading operations, which make a scope, begin
-- here.
create function logloom_private.resolve_tenant(p_tenant_id text default null)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id constant text := logloom_private.caller_tenant(p_tenant_id);
begin
  if not logloom_private.is_service_role() then
    perform logloom_private.require_writing_client(logloom_private.claims());
    if logloom_private.is_viewer(v_tenant_id, logloom_private.claims()) then
      perform logloom_private.refuse('callers.viewer_may_only_read');
    end if;
  end if;
  return v_tenant_id;
end;
$$;

-- tenants/resolve_tenant_to_change.sql
-- resolve_tenant() for an operation that changes something: PT403 for the token of an OAuth client
-- that may only read.
create function logloom_private.resolve_tenant_to_change(p_tenant_id text default null)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
begin
  perform logloom_private.require_writing_client(logloom_private.claims());
  return v_tenant_id;
end;
$$;

-- tenants/retention_days.sql
-- The retention in force, in days: what the tenant set, else the default of its plan, never more
-- than the plan allows. Of a tenant that is not there yet: the default plan's.
create function logloom_private.retention_days(p_tenant_id text)
returns integer
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_plan constant logloom.plans := logloom_private.plan_of(p_tenant_id);
begin
  return least(
    coalesce(
      (select s.retention_days from logloom.tenant_settings s where s.tenant_id = p_tenant_id),
      v_plan.retention_days_default
    ),
    v_plan.retention_days_max
  );
end;
$$;

-- tenants/set_tenant_member_role.sql
create function public.set_tenant_member_role(
  p_user_id text default null,
  p_role text default null,
  p_tenant_id text default null,
  p_view_id uuid default null
)
returns public.logloom_member
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return logloom_private.change_member(p_tenant_id, p_user_id, p_role, p_view_id => p_view_id);
end;
$$;

comment on function public.set_tenant_member_role(text, text, text, uuid) is
  'Sets what a member may do, from their next request on, and returns the member. p_role: viewer, '
  'member, admin or owner. p_view_id: the view that a viewer reads in. For owners; the last one '
  'stays an owner. '
  'Errors: PT400, PT401, PT403, PT404.';

-- tenants/switch_log_tenant.sql
-- Makes a tenant of the caller the one that their next token names; what public.switch_log_tenant
-- answers.
create function logloom_private.choose_tenant(p_tenant_id text)
returns public.logloom_log_tenant
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role writes members
declare
  v_current constant text := logloom_private.caller_tenant();
  v_claims constant jsonb := logloom_private.claims();
  v_user_id constant text := logloom_private.require_user_id();
  v_role text;
begin
  perform logloom_private.require_writing_client(v_claims);
  perform logloom_private.require_parameter('p_tenant_id', p_tenant_id is null);
  if nullif(v_claims #> '{app_metadata,tenant_id}', 'null') is not null then
    perform logloom_private.refuse('tenants.tenant_is_assigned');
  end if;
  update logloom.tenant_members m set chosen_at = clock_timestamp()
  where m.tenant_id = p_tenant_id and m.user_id = v_user_id
    and not logloom_private.is_being_deleted(m.tenant_id)
  returning m.role into v_role;
  if not found then
    perform logloom_private.refuse('tenants.membership_not_found');
  end if;
  return row(p_tenant_id, v_role, p_tenant_id = v_current)::public.logloom_log_tenant;
end;
$$;

create function public.switch_log_tenant(p_tenant_id text default null)
returns public.logloom_log_tenant
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return logloom_private.choose_tenant(p_tenant_id);
end;
$$;

comment on function public.switch_log_tenant(text) is
  'Chooses a tenant that the caller belongs to, and returns it. The custom access token hook names '
  'it in the tokens that Auth makes from then on: refresh the session. Where '
  'app_metadata.tenant_id names one, that decides: PT409. '
  'Errors: PT400, PT401, PT403, PT404 (not a member), PT409.';

-- tenants/tenant_of_claims.sql
-- The tenant that verified claims act for: the top-level claim tenant_id. Null where it cannot name
-- one, the token is not valid now, or its user does not belong to the tenant. RPC and ingest ask it
-- alike.
create function logloom_private.tenant_of_claims(p_claims jsonb)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id text;
begin
  if current_setting('role', true) = 'anon' or jsonb_typeof(p_claims -> 'tenant_id') <> 'string'
  then
    return null;
  end if;
  v_tenant_id := logloom_private.usable_id(p_claims ->> 'tenant_id');
  if v_tenant_id is null or not logloom_private.token_is_valid(p_claims)
    or logloom_private.acting_role(v_tenant_id, p_claims ->> 'sub', p_claims) is null
  then
    return null;
  end if;
  return v_tenant_id;
end;
$$;

-- tenants/tenant_with_plan.sql
-- A tenant as operations show it; null members where there is none.
create function logloom_private.tenant_with_plan(p_tenant_id text)
returns public.logloom_tenant
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_result public.logloom_tenant;
begin
  select
    t.tenant_id, p.plan_id, p.plan_name, t.created_at,
    p.monthly_events_limit, p.monthly_bytes_limit,
    row(p.saved_searches, p.max_saved_searches, p.alerts, p.max_alerts)
  into v_result
  from logloom.tenants t
  cross join lateral logloom_private.plan_of(t.tenant_id) p
  where t.tenant_id = p_tenant_id;
  return v_result;
end;
$$;

select logloom_private.finish_migration();
