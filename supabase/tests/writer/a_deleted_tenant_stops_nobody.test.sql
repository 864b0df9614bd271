-- A tenant that is deleted while its events are queued, good and bad ones, does not fail a step.
begin;
\ir ../ingest.psql
update logloom_private.settings set provision_by_secret_key = true;
select plan(4);

select pg_temp.send_request(
  p_tenant_id => t.tenant_id, p_ts => array[now(), now()], p_level => array['info', 'loud']
)
from (values ('gone'), ('stays')) t (tenant_id);
delete from logloom.tenants where tenant_id = 'gone';
select logloom_private.flip_queue();
select is(logloom_private.write_step(), 4, 'the step moves all');
select is(
  (select count(*) from logloom.logs where tenant_id = 'stays'), 1::bigint,
  'others'' records are written'
);
select is(
  (select count(*) from logloom_private.dead_letters where tenant_id = 'stays'), 1::bigint,
  'bad events become dead letters'
);
delete from logloom.tenants where tenant_id = 'stays';
select is_empty(
  $$select from logloom_private.dead_letters where tenant_id = 'stays'
    union all select from logloom.usage_days where tenant_id = 'stays'$$,
  'dead letters and usage are deleted with their tenant'
);

select * from finish();
rollback;
