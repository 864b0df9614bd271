-- A foreign project like those that starter kits and libraries for Supabase make: roles within
-- groups, wrappers in public, its own pre-request function and token hook, workers that pg_cron
-- starts, and no default grants.

alter default privileges revoke execute on functions from public;
alter default privileges in schema public revoke execute on functions from anon, authenticated;
revoke all on schema public from public;
revoke all on schema public from anon;
grant usage on schema public to authenticated, service_role;

create schema rbac;
grant usage on schema rbac to anon, authenticated, service_role, authenticator, supabase_auth_admin;

create type rbac.member_role as enum ('owner', 'member');
create table rbac.groups (id uuid primary key, name text not null);
create table rbac.members (
  id uuid primary key default gen_random_uuid(),
  group_id uuid not null references rbac.groups,
  user_id uuid not null,
  roles text[] not null default '{}',
  unique (group_id, user_id)
);
create table rbac.user_claims (user_id uuid primary key, claims jsonb not null default '{}');
create table rbac.invites (
  id uuid primary key default gen_random_uuid(), token text not null unique
);
alter table rbac.groups enable row level security;
alter table rbac.members enable row level security;
alter table rbac.user_claims enable row level security;
alter table rbac.invites enable row level security;
grant select, insert, update, delete on rbac.groups, rbac.members to authenticated;
grant select on rbac.user_claims to authenticated, authenticator, service_role, supabase_auth_admin;

create function rbac.current_user_id() returns uuid
language sql stable as $$
  select (nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'sub')::uuid
$$;
grant execute on function rbac.current_user_id() to authenticated, anon, service_role;

-- Puts the user's groups into a setting of the request.
create function rbac.db_pre_request() returns void
language plpgsql set search_path = rbac as $$
declare
  v_groups jsonb;
begin
  if current_user = 'anon' or rbac.current_user_id() is null then
    perform set_config('request.groups'::text, '{}'::text, true);
    return;
  end if;
  select claims into v_groups from user_claims where user_id = rbac.current_user_id();
  perform set_config('request.groups'::text, coalesce(v_groups, '{}')::text, true);
end;
$$;
revoke execute on function rbac.db_pre_request() from public;
grant execute on function rbac.db_pre_request() to authenticator, authenticated, anon, service_role;
alter role authenticator set pgrst.db_pre_request to 'rbac.db_pre_request';

create function rbac.is_member(p_group_id uuid) returns boolean
language sql stable as $$
  select coalesce(current_setting('request.groups', true), '{}')::jsonb ? p_group_id::text
$$;
grant execute on function rbac.is_member(uuid) to authenticated, anon, service_role;
create policy members_select_member on rbac.members for select to authenticated
using (rbac.is_member(group_id));
create policy claims_select_own on rbac.user_claims for select
using (user_id = rbac.current_user_id());

create function rbac.sync_claims() returns trigger
language plpgsql security definer set search_path = rbac as $$
begin
  insert into user_claims (user_id, claims)
  values (new.user_id, jsonb_build_object(new.group_id::text, to_jsonb(new.roles)))
  on conflict (user_id) do update set claims = user_claims.claims || excluded.claims;
  return new;
end;
$$;
create trigger on_member_change after insert or update on rbac.members
for each row execute function rbac.sync_claims();

create function rbac.add_member(p_group_id uuid, p_user_id uuid, p_roles text[]) returns uuid
language sql security definer set search_path = rbac as $$
  insert into members (group_id, user_id, roles) values (p_group_id, p_user_id, p_roles)
  on conflict (group_id, user_id) do update set roles = excluded.roles
  returning group_id
$$;
create function rbac.list_members(p_group_id uuid) returns table (user_id uuid, roles text[])
language sql stable set search_path = rbac as $$
  select user_id, roles from members where group_id = p_group_id order by user_id
$$;
grant execute on function rbac.add_member(uuid, uuid, text[]), rbac.list_members(uuid)
to authenticated;

-- Wrappers, so that they are found without the schema.
do $wrapper$ begin
  execute $sql$
    create or replace function public.add_member(
      p_group_id uuid, p_user_id uuid, p_roles text[] default '{}'::text[]
    )
    returns uuid language sql set search_path = rbac
    as $f$ select rbac.add_member($1, $2, $3) $f$
  $sql$;
  execute $sql$
    create or replace function public.list_members(p_group_id uuid)
    returns table (user_id uuid, roles text[])
    language sql stable set search_path = rbac
    as $f$ select * from rbac.list_members($1) $f$
  $sql$;
  execute $sql$
    create or replace function public.remove_member(p_group_id uuid, p_user_id uuid)
    returns void language sql set search_path = rbac
    as $f$ delete from rbac.members where group_id = $1 and user_id = $2 $f$
  $sql$;
  execute $sql$
    create or replace function public.set_member_role(p_user_id uuid, p_role rbac.member_role)
    returns text language sql as $f$ select 'club: ' || $2 $f$
  $sql$;
end $wrapper$;
-- Overloads, and names that another version of Logloom had.
create function public.add_member(p_name text) returns text
language sql as $$ select 'club: ' || p_name $$;
create function public.get_usage(p_tenant_id text default null) returns text
language sql as $$ select 'club' $$;
create function public.claim_notifications(p_limit integer default null) returns text
language sql as $$ select 'club' $$;
create function public.settle_notification(p_id uuid) returns text
language sql as $$ select 'club' $$;
create function public.list_audit_entries() returns text language sql as $$ select 'club' $$;
create function public.list_notification_addresses() returns text
language sql as $$ select 'club' $$;
create function public.confirm_notification_address(p_email text, p_code text) returns text
language sql as $$ select 'club' $$;
create function public.rotate_webhook_secret(p_rule_id uuid default null) returns text
language sql as $$ select 'club' $$;
create function public.list_retention_runs() returns text language sql as $$ select 'club' $$;
grant execute on function
  public.add_member(uuid, uuid, text[]), public.add_member(text), public.list_members(uuid),
  public.remove_member(uuid, uuid), public.set_member_role(uuid, rbac.member_role),
  public.get_usage(text), public.list_audit_entries(), public.list_retention_runs(),
  public.rotate_webhook_secret(uuid)
to authenticated;

create function public.generate_token(p_length integer) returns text
language sql as $$
  select replace(encode(gen_random_bytes(p_length)::bytea, 'base64'), '/', '')
$$;
grant execute on function public.generate_token(integer) to authenticated;

create function public.custom_access_token_hook(event jsonb) returns jsonb
language sql stable set search_path = rbac as $$
  select jsonb_set(
    event, '{claims,groups}',
    coalesce(
      (select c.claims from user_claims c where c.user_id = (event ->> 'user_id')::uuid), '{}'
    )
  )
$$;
grant usage on schema public to supabase_auth_admin;
grant execute on function public.custom_access_token_hook(jsonb) to supabase_auth_admin;
revoke execute on function public.custom_access_token_hook(jsonb) from authenticated, anon, public;

-- A role of the project's tokens that may only read a view.
create role portal nologin noinherit;
grant portal to authenticator;
create table public.accounts (
  id uuid primary key default gen_random_uuid(), name text not null, members integer
);
alter table public.accounts enable row level security;
insert into public.accounts (id, name, members)
values ('22222222-2222-4222-8222-222222222222', 'chess', 12);
create view public.account_names as select name from public.accounts;
grant usage on schema public to portal;
grant select on public.account_names to portal;
grant usage on schema rbac to portal;
grant select on rbac.user_claims to portal;
grant execute on function rbac.db_pre_request(), rbac.current_user_id() to portal;

insert into rbac.groups values ('33333333-3333-4333-8333-333333333333', 'board');
insert into rbac.members (group_id, user_id, roles) values (
  '33333333-3333-4333-8333-333333333333', '11111111-1111-4111-8111-111111111111', '{owner}'
);
