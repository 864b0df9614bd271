begin;
\ir ../ingest.psql
update logloom_private.settings set provision_by_secret_key = true;
select plan(3);

select is(
  pg_temp.send_request(p_tenant_id => 'acme', p_ts => '{}'),
  '{"success": true, "ingested": 0, "rejected": 0}', 'a request without events succeeds'
);
select is_empty($$select from logloom.tenants where tenant_id = 'acme'$$, 'but creates no tenant');

select pg_temp.send_request(p_tenant_id => 'acme', p_ts => array[now()]);
select results_eq(
  $$select plan_id from logloom.tenants where tenant_id = 'acme'$$,
  $$values ('free')$$,
  'the first event creates the tenant on the default plan'
);

select * from finish();
rollback;
