-- Settings decide the role of a user who has no row in tenant_members.
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

select is(
  pg_temp.role_of('eve', 'empty'), 'owner',
  'by default everybody is owner of a tenant without members'
);
select is(
  pg_temp.role_of('eve', 'acme', pg_temp.with_role('"owner"')), null,
  'by default roles in tokens do not count'
);

update logloom_private.settings set roles_required = true;
select is(pg_temp.role_of('eve', 'empty'), null, 'roles required: without a row nobody has a role');
select is(pg_temp.role_of('mia', 'acme'), 'member', 'roles required: the role of the row');
select pg_temp.act_as_user('empty', 'eve');
select throws_ok(
  $$select public.create_api_key(p_name => 'k')$$, 'PT401',
  'Invalid token, API key, or missing tenant_id', 'a first write does not make the user owner'
);
select pg_temp.act_as_service_role();
select lives_ok(
  $$select public.add_tenant_member('eve', 'owner', p_tenant_id => 'empty')$$,
  'service_role adds the first owner'
);
select pg_temp.act_as_user('empty', 'eve');
select lives_ok($$select public.create_api_key(p_name => 'k')$$, 'who may then do what owners may');
select pg_temp.act_as_postgres();

update logloom_private.settings set roles_required = false, roles_from_token = true;
select is(pg_temp.role_of(c.user_id, c.tenant_id, c.claims), c.role, c.name)
from (
  values
    ('bob', 'acme', pg_temp.with_role('"admin"'), 'admin',
      'without a row the token''s role counts'),
    ('mia', 'acme', pg_temp.with_role('"owner"'), 'member', 'a row wins over the token'),
    ('bob', 'new', pg_temp.with_role('"member"'), 'member',
      'the token''s role also counts in a tenant without members'),
    ('bob', 'new', '{}', null, 'a token without a role gives none'),
    ('bob', 'new', '{"user_metadata": {"logloom_role": "owner"}}', null,
      'user_metadata gives no role'),
    ('bob', 'new', '{"logloom_role": "owner"}', null, 'a claim in another place gives no role'),
    ('bob', 'new', pg_temp.with_role('["owner"]'), null, 'an array gives no role'),
    ('bob', 'new', pg_temp.with_role('"root"'), null, 'an unknown role gives none')
) c (user_id, tenant_id, claims, role, name);

select * from finish();
rollback;
