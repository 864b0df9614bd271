-- Who belongs to which tenant, and the hook that says so in Supabase Auth's tokens.

create table app.tenant_members (
  tenant_id text not null references app.tenants on delete cascade,
  user_id uuid not null,
  role text not null default 'member',
  created_at timestamptz not null default now(),
  primary key (tenant_id, user_id),
  constraint tenant_members_role_is_known check (role in ('owner', 'admin', 'member'))
);

create index tenant_members_user_id_created_at_idx
on app.tenant_members (user_id, created_at, tenant_id);

alter table app.tenant_members enable row level security;
alter table app.tenant_members force row level security;

create policy tenant_members_select_tenant on app.tenant_members
for select to authenticated
using (tenant_id = (select private.current_tenant_id()));

create policy tenant_members_select_auth on app.tenant_members
for select to supabase_auth_admin
using (true);

grant select on app.tenant_members to authenticated, service_role;
grant select (tenant_id, user_id, created_at) on app.tenant_members to supabase_auth_admin;
grant usage on schema app, private to supabase_auth_admin;

create function private.custom_access_token_hook(event jsonb)
returns jsonb
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  -- Only an administrator of Auth writes app_metadata; user_metadata is the user's own.
  v_choice constant jsonb := nullif(event #> '{claims,app_metadata,tenant_id}', 'null');
  v_claims jsonb := (event -> 'claims') - 'tenant_id';
  v_tenant_id text;
begin
  select m.tenant_id into v_tenant_id
  from app.tenant_members m
  where m.user_id = (event ->> 'user_id')::uuid
    and (v_choice is null or to_jsonb(m.tenant_id) = v_choice)
  order by m.created_at, m.tenant_id
  limit 1;
  if found then
    v_claims := v_claims || jsonb_build_object('tenant_id', v_tenant_id);
  end if;
  return jsonb_build_object('claims', v_claims);
end;
$$;

grant execute on function private.custom_access_token_hook(jsonb) to supabase_auth_admin;

comment on table app.tenant_members is
  'Users of Supabase Auth and the tenants they belong to. Auth''s tokens get tenant_id from here.';
comment on column app.tenant_members.user_id is
  'auth.users.id. No foreign key: other identity providers may issue the tokens.';
comment on column app.tenant_members.role is
  'owner, admin or member: for the application around this service. Operations do not ask for it.';
comment on function private.custom_access_token_hook(jsonb) is
  'Supabase Auth''s custom access token hook: sets the claim tenant_id to the tenant that '
  'app_metadata.tenant_id names, if the user belongs to it; where it names none, to the tenant '
  'that the user joined first. A user of no tenant gets no claim, and so no access.';
