-- A user of several tenants lists them and chooses the tenant that the next token names.
begin;
\ir ../actors.psql
select plan(16);

insert into logloom.tenants (tenant_id, plan_id)
values ('acme', 'free'), ('umbrella', 'free'), ('wayne', 'free'), ('doomed', 'free');
insert into logloom.tenant_members (tenant_id, user_id, role, created_at)
values
  ('acme', 'ann', 'owner', '2026-01-01'), ('umbrella', 'ann', 'member', '2026-01-02'),
  ('doomed', 'ann', 'owner', '2026-01-03'), ('doomed', 'bob', 'owner', '2026-01-03'),
  ('wayne', 'bob', 'owner', '2026-01-03');
insert into logloom.log_views (tenant_id, name, created_by) values ('wayne', 'v', 'bob');
insert into logloom.tenant_members (tenant_id, user_id, role, view_id)
select 'wayne', 'ann', 'viewer', v.view_id from logloom.log_views v where v.tenant_id = 'wayne';

create function pg_temp.next_tenant(p_user_id text)
returns text
language sql
security definer
as $$
  select logloom_private.custom_access_token_hook(
    jsonb_build_object('user_id', p_user_id, 'claims', '{}'::jsonb)
  ) #>> '{claims,tenant_id}';
$$;

select pg_temp.act_as_user('doomed', 'bob');
select pg_temp.attempt('select public.delete_tenant(''doomed'')');
select pg_temp.act_as_user('acme', 'ann');
select results_eq(
  'select * from public.list_log_tenants()',
  $$values ('acme', 'owner', true), ('umbrella', 'member', false), ('wayne', 'viewer', false)$$,
  'the list has the user''s tenants and roles, without those being deleted'
);
select results_eq(
  'select t.tenant_id from public.list_log_tenants(1, ''acme'') t', $$values ('umbrella')$$,
  'the list has pages'
);
select is(
  to_jsonb(public.switch_log_tenant('umbrella')),
  '{"tenant_id": "umbrella", "role": "member", "is_current": false}',
  'a user switches to another tenant'
);
select is(pg_temp.next_tenant('ann'), 'umbrella', 'and the next token names it');
select is(pg_temp.next_tenant('bob'), 'wayne', 'tokens of other users do not change');
select lives_ok(
  $$select public.switch_log_tenant('wayne')$$, 'a user switches to a tenant where they are viewer'
);
select pg_temp.act_as_user('wayne', 'ann');
select is(
  (select t.role from public.list_log_tenants() t where t.is_current), 'viewer',
  'a viewer may list tenants'
);
select lives_ok($$select public.switch_log_tenant('acme')$$, 'a viewer may switch back');
select is(pg_temp.next_tenant('ann'), 'acme', 'the last choice counts');

select is(
  pg_temp.attempt(format('select public.switch_log_tenant(%L)', t)),
  'PT404 You do not belong to this tenant', t
)
from unnest('{nowhere,doomed}'::text[]) t;
select is(
  pg_temp.attempt('select public.switch_log_tenant()'),
  'PT400 Missing required parameter: p_tenant_id', 'the tenant must be named'
);
select pg_temp.act_as(
  'authenticated',
  '{"tenant_id": "acme", "sub": "ann", "app_metadata": {"tenant_id": "acme"}}'
);
select is(
  pg_temp.attempt('select public.switch_log_tenant(''umbrella'')'),
  'PT409 An administrator chooses the tenant of this user',
  'a switch that would have no effect is refused'
);
select pg_temp.act_as('authenticated', '{"tenant_id": "free", "sub": "zoe"}');
select results_eq(
  'select * from public.list_log_tenants()', $$values ('free', 'owner', true)$$,
  'the list includes a tenant without members'
);
select pg_temp.act_as_service_role();
select is(
  pg_temp.attempt('select public.switch_log_tenant(''acme'')'),
  pg_temp.attempt('select public.list_log_tenants()'), 'service_role has no tenants of its own'
);

select pg_temp.act_as_postgres();
select results_eq(
  $$select e.tenant_id, e.actor, e.subject, e.details from logloom.audit_events e
    where e.action = 'member.switched' order by e.occurred_at, e.event_id$$,
  $$values ('umbrella', 'ann', 'ann', '{}'::jsonb), ('wayne', 'ann', 'ann', '{}'),
    ('acme', 'ann', 'ann', '{}')$$,
  'the audit log has each switch'
);

select * from finish();
rollback;
