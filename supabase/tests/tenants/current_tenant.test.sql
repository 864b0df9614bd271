begin;
\ir ../actors.psql
select plan(7);

select pg_temp.act_as_user('acme', 'alice');
select throws_ok(
  'select public.get_current_tenant()', 'PT404', 'Tenant not found',
  'before its first write a tenant does not exist'
);
select throws_ok(
  'select public.get_tenant_settings()', 'PT404', 'Tenant settings not found', 'nor do its settings'
);

select public.create_api_key(p_name => 'first write');
select is(
  to_jsonb(t) - 'created_at',
  '{
    "tenant_id": "acme", "plan_id": "free", "plan_name": "Free",
    "monthly_events_limit": 1000000, "monthly_bytes_limit": 1000000000,
    "features": {
      "saved_searches": true, "max_saved_searches": 10, "alerts": true, "max_alerts": 3
    }
  }',
  'its first write puts it on the default plan'
)
from public.get_current_tenant() t;
select is(
  (select t.created_at from public.get_current_tenant('acme') t), now(),
  'its own users may name it'
);

select pg_temp.act_as_postgres();
update logloom.tenants set plan_id = 'pro' where tenant_id = 'acme';
update logloom.plans set max_alerts = 51 where plan_id = 'pro';
select pg_temp.act_as_service_role();
select is(
  (select (t.features).max_alerts from public.get_current_tenant('acme') t), 51,
  'a change of plan shows on the next request, to service_role too'
);
select throws_ok(
  $$select public.get_current_tenant(' ')$$,
  'PT400', 'Invalid p_tenant_id: 1 to 255 characters, not all blank',
  'service_role cannot name a blank tenant'
);
select throws_ok(
  $$select public.get_current_tenant('nobody')$$,
  'PT404', 'Tenant not found', 'service_role finds no tenant that does not exist'
);

select * from finish();
rollback;
