-- Dashboards are checked, limited by the plan, private or shared, and audited.
begin;
\ir ../actors.psql
select plan(38);

create function pg_temp.panel(p_changes jsonb default '{}')
returns jsonb
language sql
as $$
  select '{"title": "Errors", "query_dsl": "level:error | count()", "kind": "lines"}'::jsonb
    || p_changes;
$$;

select pg_temp.act_as_user('acme', 'alice');
create temp table made as
select d.*
from public.create_log_dashboard(
  p_name => ' Shop ', p_is_shared => true, p_panels => jsonb_build_array(
    pg_temp.panel(), pg_temp.panel('{"title": "All", "kind": "number", "width": 3}')
  )
) d;
select results_eq(
  $$select m.name, m.tenant_id, m.created_by, m.is_shared, to_jsonb(m.panels) from made m$$,
  $$values ('Shop', 'acme', 'alice', true, '[
    {"title": "Errors", "query_dsl": "level:error | count()", "kind": "lines", "width": 6},
    {"title": "All", "query_dsl": "level:error | count()", "kind": "number", "width": 3}
  ]'::jsonb)$$,
  'a created dashboard'
);
select is(
  to_jsonb(public.get_log_dashboard(m.dashboard_id)), to_jsonb(m), 'can be read'
) from made m;

select throws_ok(
  format('select public.create_log_dashboard(''n'', %L)', p.panels), 'PT400', p.message, p.message
)
from (
  values
    ('{}'::jsonb, 'Invalid p_panels: not an array'),
    ((select jsonb_agg(pg_temp.panel()) from generate_series(1, 21)),
      'Invalid p_panels: at most 20'),
    (jsonb_build_array(pg_temp.panel(), pg_temp.panel('{"kind": "pie"}')),
      'Invalid panel 2: {title, query_dsl, kind, width}'),
    (jsonb_build_array(pg_temp.panel('{"query_dsl": " "}')), 'Invalid p_query_dsl: it is blank')
) p (panels, message);
select throws_ok(
  format('select public.create_log_dashboard(''n'', jsonb_build_array(%L::jsonb))', p), 'PT400',
  'Invalid panel 1: {title, query_dsl, kind, width}', p::text
)
from unnest(array[
  '1', pg_temp.panel('{"width": 13}'), pg_temp.panel('{"width": 1.5}'),
  pg_temp.panel('{"title": ""}'), pg_temp.panel() - 'query_dsl', pg_temp.panel('{"colour": "red"}')
]) p;
select throws_ok(
  $$select public.create_log_dashboard('n', '[{"title": "t", "query_dsl": "level:loud",
    "kind": "lines"}]')$$, 'PT400', null, 'a query that does not compile'
);
select is(
  pg_temp.attempt('select public.create_log_dashboard('' '')'),
  'PT400 Invalid p_name: 1 to 200 characters after trimming', 'a blank name'
);
select is(
  pg_temp.attempt('select public.create_log_dashboard()'),
  'PT400 Missing required parameter: p_name', 'a missing name'
);

create temp table private as
select d.* from public.create_log_dashboard(p_name => 'Secret plans') d;
grant select on made, private to public;

-- A colleague reads shared dashboards.
select pg_temp.act_as_user('acme', 'bob');
select is(
  array(select d.name from public.list_log_dashboards() d), '{Shop}',
  'a colleague sees the shared one'
);
select is((public.get_log_dashboard(m.dashboard_id)).name, 'Shop', 'and can read it') from made m;
select is(
  pg_temp.attempt(format('select public.get_log_dashboard(%L)', p.dashboard_id)),
  'PT404 Dashboard not found', 'but not the private one'
) from private p;
create temp table changes as
select unnest(array['update_log_dashboard(%L, ''mine'')', 'delete_log_dashboard(%L)']) as call;
grant select on changes to public;
select throws_ok(
  format('select public.' || c.call, m.dashboard_id), 'PT403',
  'Only its creator may change or delete a dashboard', 'by a colleague: ' || c.call
)
from made m, changes c;

-- Viewers read shared dashboards, too.
select pg_temp.act_as_postgres();
insert into logloom.log_views (tenant_id, name, hidden_fields, created_by)
values ('acme', 'view', '{user_id}', 'alice');
insert into logloom.tenant_members (tenant_id, user_id, role, view_id)
select 'acme', u.user_id, u.role, case u.role when 'viewer' then v.view_id end
from logloom.log_views v
cross join (values ('alice', 'owner'), ('bob', 'member'), ('vera', 'viewer')) u (user_id, role);
select pg_temp.act_as_user('acme', 'vera');
select is(
  array(select d.name from public.list_log_dashboards() d), '{Shop}', 'a viewer sees the shared one'
);
select is(
  to_jsonb(public.get_log_dashboard(m.dashboard_id)), to_jsonb(m), 'and can read it'
) from made m;
select is(
  pg_temp.attempt(format('select public.get_log_dashboard(%L)', p.dashboard_id)),
  'PT404 Dashboard not found', 'but a viewer not the private one'
) from private p;
select throws_ok(
  format('select public.' || c.call, m.dashboard_id), 'PT403', 'A viewer may only read', c.call
)
from made m, changes c;

-- Another tenant sees no dashboard.
select pg_temp.act_as_user('umbrella', 'alice');
select is_empty('select * from public.list_log_dashboards()', 'another tenant sees none');
select is(
  pg_temp.attempt(format('select public.get_log_dashboard(%L)', m.dashboard_id)),
  'PT404 Dashboard not found', 'not by its id either'
) from made m;

-- Only admins show a dashboard to customers.
select pg_temp.act_as_postgres();
insert into logloom.tenants (tenant_id, plan_id) values ('umbrella', 'pro');
insert into logloom.tenant_members (tenant_id, user_id, role) values ('umbrella', 'mel', 'member');
select pg_temp.act_as_user('umbrella', 'mel');
select is(pg_temp.attempt(format(c, gen_random_uuid())), 'PT403 This requires the role admin', c)
from unnest('{"select public.create_log_dashboard(%L, p_in_portal => true)",
  "select public.update_log_dashboard(%L, p_in_portal => true)"}'::text[]) c;

select pg_temp.act_as_user('acme', 'alice');
select is(
  array(select d.name from public.list_log_dashboards() d order by d.name), '{Secret plans,Shop}',
  'its creator sees both'
);
select results_eq(
  $$select d.name, d.is_shared, cardinality(d.panels), d.in_portal, d.variables
    from made m, public.update_log_dashboard(
      m.dashboard_id, p_name => 'Shop 2', p_panels => '[]', p_updated_at => m.updated_at,
      p_in_portal => true
    ) d$$,
  $$values ('Shop 2', true, 0, true, null::jsonb)$$,
  'given members change, others stay'
);
select is(
  pg_temp.attempt(format(
    'select public.update_log_dashboard(%L, p_panels => ''[1]'')', m.dashboard_id
  )),
  'PT400 Invalid panel 1: {title, query_dsl, kind, width}', 'panels are checked like new ones'
) from made m;

-- now() does not change in this transaction.
select is(
  pg_temp.attempt(format(
    'select public.update_log_dashboard(%L, p_updated_at => %L)', m.dashboard_id,
    m.updated_at - interval '1 microsecond'
  )),
  'PT409 The dashboard has changed since p_updated_at', 'refused if it changed after it was read'
) from made m;
select is(
  pg_temp.attempt(format(
    'select public.update_log_dashboard(%L, p_updated_at => now())', gen_random_uuid()
  )),
  'PT404 Dashboard not found', 'a missing one is not found'
);

-- The plan's limit counts private dashboards of colleagues.
select pg_temp.act_as_postgres();
update logloom.plans set max_log_dashboards = 2 where plan_id = 'free';
select pg_temp.act_as_user('acme', 'bob');
select is(
  pg_temp.attempt('select public.create_log_dashboard(''n'')'),
  'PT400 Plan limit exceeded: log_dashboards (max 2)',
  'the limit holds for all users of the tenant together'
);
select pg_temp.act_as_user('acme', 'alice');
select ok((public.delete_log_dashboard(m.dashboard_id)).success, 'one can be deleted') from made m;
select is(
  pg_temp.attempt(format('select public.delete_log_dashboard(%L)', m.dashboard_id)),
  'PT404 Dashboard not found', 'but only once'
) from made m;

select pg_temp.act_as_postgres();
select results_eq(
  $$select e.action, e.actor, e.details from logloom.audit_events e
    where e.action like 'dashboard.%' order by e.occurred_at, e.event_id$$,
  $$values
    ('dashboard.created', 'alice', '{"is_shared": true, "name": "Shop"}'::jsonb),
    ('dashboard.created', 'alice', '{"is_shared": false}'),
    ('dashboard.changed', 'alice', '{
      "is_shared": true, "name": {"from": "Shop", "to": "Shop 2"},
      "in_portal": {"from": false, "to": true},
      "panels": {"to": [], "from": [
        {"title": "Errors", "query_dsl": "level:error | count()", "kind": "lines", "width": 6},
        {"title": "All", "query_dsl": "level:error | count()", "kind": "number", "width": 3}
      ]}
    }'),
    ('dashboard.deleted', 'alice', '{"is_shared": true, "name": "Shop 2"}')$$,
  'the audit log has all changes, without the content of private dashboards'
);

select * from finish();
rollback;
