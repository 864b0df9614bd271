-- A tenant has members, and their roles decide what they may do.
begin;
\ir ../actors.psql
\ir ../by.psql
select plan(52);

create temp table calls (least text, call text);
insert into calls
values
  ('member', '(select count(*) from public.list_api_keys())'),
  ('member', '(select count(*) from public.list_tenant_members())'),
  ('member', '(select 1 from public.search_logs())'),
  ('member', 'length(public.create_saved_search(p_name => ''s'', p_query_dsl => ''ts:*'')::text)'),
  ('member', '(select 1 from public.create_alert_rule(p_name => ''r'', p_query_dsl => ''ts:*'', '
    || 'p_threshold => 1, p_comparison => ''gt'', p_window_minutes => 5, '
    || 'p_cooldown_minutes => 5, p_enabled => true))'),
  ('admin', '(select 1 from public.create_api_key(p_name => ''k''))'),
  ('admin', '(select 1 from public.update_tenant_settings())'),
  ('admin', '(select 1 from public.delete_logs(p_query_dsl => ''ts:*'', '
    || 'p_ts_from => (now() - interval ''1 hour'')::text, p_ts_to => now()::text))'),
  ('admin', 'public.revoke_api_key(p_key_id => gen_random_uuid())'),
  ('admin', 'public.rotate_api_key(p_key_id => gen_random_uuid())'),
  ('owner', '(select 1 from public.add_tenant_member(gen_random_uuid()::text, ''member''))'),
  ('owner', '(select 1 from public.set_tenant_member_role(''mia'', ''member''))'),
  ('owner', 'public.remove_tenant_member(''nobody'')');

select is(
  pg_temp.by('anyone', c.call) ~ '^PT40[13]', false,
  'without members every user is owner: ' || c.call
)
from calls c where c.call !~ 'add_tenant_member|set_tenant_member|remove_tenant_member';

create function pg_temp.add(p_caller text, p_arguments text, p_tenant_id text default 'acme')
returns text
language sql
as $$
  select pg_temp.by(
    p_caller, format('(select m.role from public.add_tenant_member(%s) m)', p_arguments),
    p_tenant_id
  )
$$;

select is(pg_temp.add('ann', '''bob'', ''member'''), 'member', 'the first member is added');
select results_eq(
  $$select user_id, role from logloom.tenant_members where tenant_id = 'acme' order by 1$$,
  $$values ('ann', 'owner'), ('bob', 'member')$$,
  'whoever adds the first member becomes owner'
);
select is(
  pg_temp.by('anyone', '(select count(*) from public.list_tenant_members())'),
  'PT401 Invalid token, API key, or missing tenant_id',
  'from then on users without a row are refused'
);
select is(pg_temp.add('ann', '''abe'', ''admin'''), 'admin', 'an owner adds an admin');
select is(
  pg_temp.add('ann', '''mia'', ''member'', ''mia@acme.example'''), 'member',
  'a member with an email address'
);

select is(
  coalesce(substring(pg_temp.by(u.user_id, c.call) from '^PT403.*'), 'served'), case
    when array_position(array['member', 'admin', 'owner'], u.role)
      >= array_position(array['member', 'admin', 'owner'], c.least) then 'served'
    else 'PT403 This requires the role ' || c.least
  end, format('%s: %s', u.role, c.call)
)
from calls c
cross join (values ('bob', 'member'), ('abe', 'admin')) u (user_id, role)
where c.least <> 'member';

select is(
  pg_temp.by(
    'ann', $$(select array_agg(m.user_id order by m.user_id) from public.list_tenant_members() m)$$
  ) ~
  '^\{abe,ann,bob,.*mia\}$', true, 'members are listed'
);
select is(pg_temp.by(c.caller, c.call), c.answer, c.name)
from (
  values
    ('ann', $$public.remove_tenant_member('ann')$$, 'PT400 The last owner must stay an owner',
      'the last owner cannot be removed'),
    ('ann', $$public.set_tenant_member_role('ann', 'admin')$$,
      'PT400 The last owner must stay an owner', 'nor get a lower role'),
    ('ann', $$public.add_tenant_member('bob', 'admin')$$,
      'PT400 The user is already a member of the tenant', 'nobody is added twice'),
    ('ann', $$public.add_tenant_member(E'\u200b', 'admin')$$,
      'PT400 Invalid p_user_id: 1 to 255 characters, not all blank', 'a user has a name'),
    ('ann', $$public.set_tenant_member_role('bob', 'root')$$,
      'PT400 Invalid p_role: viewer, member, admin or owner', 'a role is one of four'),
    ('ann', $$public.set_tenant_member_role('zoe', 'admin')$$, 'PT404 Member not found',
      'users who do not belong to the tenant are not found'),
    ('ann', $$(select m.role from public.set_tenant_member_role('bob', 'owner') m)$$, 'owner',
      'an owner makes a second owner'),
    ('bob', $$public.remove_tenant_member('ann')$$, '(t)', 'who may remove the first'),
    ('ann', '(select count(*) from public.list_api_keys())',
      'PT401 Invalid token, API key, or missing tenant_id',
      'whose token is refused from the next request on')
) c (caller, call, answer, name);
select is(
  pg_temp.add('bob', 'p_role => ''member'', p_email => ''eve@acme.example'''),
  'PT400 Missing required parameter: p_user_id', 'without Supabase Auth p_email alone is not enough'
);

create schema auth;
create table auth.users (
  id uuid, email varchar, email_confirmed_at timestamptz, created_at timestamptz default now()
);
insert into auth.users (id, email, email_confirmed_at)
values
  ('5e1f8a44-8f0d-4b77-9a4a-2b4dfb4ad5d1', 'eve@acme.example', now()),
  ('5e1f8a44-8f0d-4b77-9a4a-2b4dfb4ad5d2', 'unconfirmed@acme.example', null);
select is(
  pg_temp.by(
    'bob', $$public.add_tenant_member(p_role => 'member', p_email => 'Eve@acme.example')$$
  ) ~
  '^\(5e1f8a44-8f0d-4b77-9a4a-2b4dfb4ad5d1,member,eve@acme.example,', true,
  'with Supabase Auth it is'
);
select is(
  pg_temp.add('bob', 'p_role => ''member'', p_email => ''unconfirmed@acme.example'''),
  'PT404 No user has this email address', 'but only a confirmed address'
);

update logloom.plans set max_members = (
  select count(*) from logloom.tenant_members where tenant_id = 'acme'
)
where plan_id = 'free';
select is(
  left(pg_temp.add('bob', '''one-more'', ''member'''), 34),
  'PT400 Plan limit exceeded: members', 'the plan limits members'
);

-- A user may create a tenant.
create function pg_temp.sign_up(p_tenant_id text)
returns text
language plpgsql
as $$
declare
  v_answer text;
begin
  perform pg_temp.act_as('authenticated', '{"sub": "new"}');
  begin
    select t.tenant_id || ' ' || t.plan_id into v_answer from public.create_tenant(p_tenant_id) t;
  exception when others then
    v_answer := sqlstate || ' ' || sqlerrm;
  end;
  perform pg_temp.act_as_postgres();
  return v_answer;
end;
$$;
update logloom_private.settings set tenants_by_users = false;
select is(
  pg_temp.sign_up('mine'), 'PT403 Users cannot create tenants here',
  'users create tenants only if the setting allows it'
);
update logloom_private.settings set tenants_by_users = true;
select is(pg_temp.sign_up(s.tenant_id), s.answer, s.name)
from (
  values
    ('acme', 'PT400 p_tenant_id is taken', 'an id that is taken is refused'),
    ('logloom-canary', 'PT400 p_tenant_id is taken', 'so are ids of Logloom''s own tenants'),
    ('mine', 'mine free', 'a new tenant is on the default plan'),
    ('another', 'PT400 You already belong to a tenant', 'a user creates one tenant only')
) s (tenant_id, answer, name);
select is(
  pg_temp.add('new', '''x'', ''member''', 'mine'), 'member',
  'whoever creates a tenant is its owner'
);
select is(
  pg_temp.by('new', $$public.create_tenant('third')$$, 'other'),
  'PT400 You already belong to a tenant', 'a token that names a tenant creates none'
);

select * from finish();
rollback;
