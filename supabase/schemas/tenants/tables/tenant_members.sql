create table logloom.tenant_members (
  tenant_id text not null references logloom.tenants on delete cascade,
  user_id text not null,
  email text,
  role text not null default 'member',
  -- Differs even between members that one transaction adds.
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
  'Which users belong to which tenants. Supabase Auth takes the claim tenant_id of its tokens '
  'from here.';

comment on column logloom.tenant_members.user_id is
  'The claim sub of the user''s tokens: auth.users.id, or the id at another identity provider. It '
  'has no foreign key because of the latter.';

comment on column logloom.tenant_members.email is
  'A label, given when the member was added. It does not allow alerts to be sent to the address.';

comment on column logloom.tenant_members.role is
  'A viewer reads within view_id. A member reads, and keeps saved searches and alert rules. An '
  'admin also changes keys, settings and views, and deletes. An owner also changes members.';

comment on column logloom.tenant_members.view_id is 'The view that a viewer reads in.';

comment on column logloom.tenant_members.chosen_at is
  'When the member last switched to the tenant. Tokens name the tenant that was chosen last.';
