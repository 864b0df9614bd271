-- Who has a role without a row in tenant_members, by the settings.
begin;
\ir ../actors.psql
select plan(15);

insert into logloom.tenants (tenant_id, plan_id)
select t, p.plan_id
from unnest(array['empty', 'acme']) t, logloom.plans p where p.is_default;
insert into logloom.tenant_members (tenant_id, user_id, role)
values ('acme', 'ann', 'owner'), ('acme', 'mia', 'member');

create function pg_temp.role_of(p_user_id text, p_tenant_id text, p_claims jsonb default '{}')
returns text
language sql
as $$
  select logloom_private.acting_role(p_tenant_id, p_user_id, p_claims)
$$;

create function pg_temp.with_role(p_role jsonb)
returns jsonb
language sql
as $$
  select jsonb_build_object('app_metadata', jsonb_build_object('logloom_role', p_role))
$$;

select is(pg_temp.role_of('eve', 'empty'), 'owner', 'as it comes, each is owner without members');
select is(
  pg_temp.role_of('eve', 'acme', pg_temp.with_role('"owner"')), null, 'and tokens name no role'
);

update logloom_private.settings set roles_required = true;
select is(pg_temp.role_of('eve', 'empty'), null, 'roles required: nobody without a row');
select is(pg_temp.role_of('mia', 'acme'), 'member', 'roles required: the role of the row');
select pg_temp.act_as_user('empty', 'eve');
select throws_ok(
  $$select public.create_api_key(p_name => 'k')$$, 'PT401',
  'Invalid token, API key, or missing tenant_id', 'a first write makes nobody owner'
);
select pg_temp.act_as_service_role();
select lives_ok(
  $$select public.add_tenant_member('eve', 'owner', p_tenant_id => 'empty')$$,
  'service_role makes the first owner'
);
select pg_temp.act_as_user('empty', 'eve');
select lives_ok(
  $$select public.create_api_key(p_name => 'k')$$, 'who may do what owners may'
);
select pg_temp.act_as_postgres();

update logloom_private.settings set roles_required = false, roles_from_token = true;
select is(
  pg_temp.role_of('bob', 'acme', pg_temp.with_role('"admin"')), 'admin',
  'without a row the role is that of the token'
);
select is(
  pg_temp.role_of('mia', 'acme', pg_temp.with_role('"owner"')), 'member',
  'a row wins over the token'
);
select is(
  pg_temp.role_of('bob', 'new', pg_temp.with_role('"member"')), 'member',
  'in a tenant without members, too'
);
select is(pg_temp.role_of('bob', 'new'), null, 'a token without a role is nobody''s');
select is(
  pg_temp.role_of('bob', 'new', '{"user_metadata": {"logloom_role": "owner"}}'), null,
  'what users write themselves is no role'
);
select is(
  pg_temp.role_of('bob', 'new', '{"logloom_role": "owner"}'), null, 'nor is a claim elsewhere'
);
select is(
  pg_temp.role_of('bob', 'new', pg_temp.with_role('["owner"]')), null, 'nor is an array'
);
select is(
  pg_temp.role_of('bob', 'new', pg_temp.with_role('"root"')), null, 'nor is an unknown one'
);

select * from finish();
rollback;
