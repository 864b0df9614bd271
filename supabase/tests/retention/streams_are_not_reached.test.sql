-- An erasure's receipt names the log streams that sent records.
begin;
select plan(1);

insert into logloom.tenants (tenant_id, plan_id) values ('acme', 'pro'), ('other', 'pro');
insert into logloom.log_streams (
  tenant_id, name, kind, config, created_at, last_success_at, sent_records, position_seq
)
values
  ('acme', 'to the lake', 's3', '{}', '2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z', 5, 0),
  ('acme', 'sent nothing', 'webhook', '{}', '2026-01-01T00:00:00Z', null, 0, 0),
  ('other', 'of another', 'webhook', '{}', '2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z', 5, 0);
select logloom_private.request_erasure('acme') \g /dev/null
select is(
  logloom_private.erasure_does_not_reach(r) - 0,
  jsonb_build_array(jsonb_build_object(
    'kind', 'log_stream', 'name', 'to the lake', 'to', 's3',
    'sent_from', '2026-01-01T00:00:00Z'::timestamptz, 'sent_to', '2026-01-02T00:00:00Z'::timestamptz
  )),
  'with their receiver and the time of sending'
)
from logloom.retention_runs r
where r.tenant_id = 'acme';

select * from finish();
rollback;
