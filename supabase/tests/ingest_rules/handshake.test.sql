-- A request names the version of the rules that were applied to it.
begin;
\ir ../actors.psql
\ir ../ingest.psql
select plan(16);

insert into logloom.tenants (tenant_id, plan_id) values ('acme', 'pro'), ('other', 'pro');
update logloom_private.queue_pointer
set metered_through = (
  select b.last_value - (not b.is_called)::integer from logloom_private.queue_batch_id b
);
create function pg_temp.version()
returns text
language sql
as $$ select s.version::text from logloom_private.ingest_rule_sets s where s.tenant_id = 'acme' $$;
create function pg_temp.answer(
  p_version text, p_events integer, p_dropped integer, p_key text default null
)
returns text
language sql
as $$
  select a.status || ' ' || a.body
  from pg_temp.answer_to(jsonb_strip_nulls(jsonb_build_object(
    'p_tenant_id', 'acme', 'p_rules_version', p_version, 'p_dropped', p_dropped, 'p_bytes', 100,
    'p_ts', (select coalesce(jsonb_agg(now()), '[]') from generate_series(1, p_events)),
    'p_idempotency_key', p_key, 'p_body_digest', '00',
    'p_rule_counts', (select jsonb_agg(jsonb_build_object(
      'id', r.rule_id, 'seen', p_events + p_dropped, 'matched', p_dropped, 'dropped', p_dropped,
      'bytes', 7
    )) from logloom.ingest_rules r where r.tenant_id = 'acme' and p_dropped > 0)
  ))::text) a
$$;

select is(
  pg_temp.answer(null, 2, null, 'before'),
  '200 {"success": true, "ingested": 2, "rejected": 0}', 'without rules nothing changes'
);
select pg_temp.act_as_user('acme', 'ann');
select public.create_ingest_rule(
  p_name => 'drop', p_condition => 'level:debug', p_action => '{"type": "drop"}',
  p_secrets => jsonb_build_object('hash_key', 'lls1.abcdefgh.' || repeat('x', 40))
);
select public.create_ingest_rule(p_name => 'off', p_action => '{"type": "drop"}', p_is_on => false);
select pg_temp.act_as_postgres();
select is(
  pg_temp.answer(v.version, 3, 2, 'k'),
  '412 ' || jsonb_build_object('code', 'PT412', 'rules', jsonb_build_object(
    'version', pg_temp.version(), 'tenant_id', 'acme', 'service', null,
    'hash_key', 'lls1.abcdefgh.' || repeat('x', 40),
    'rules', jsonb_build_array(jsonb_build_object(
      'id', r.rule_id, 'when', '[{"f": "level", "op": "=", "value": "debug"}]'::jsonb,
      'do', '{"type": "drop"}'::jsonb
    ))
  ))::text,
  'another version gets the rules'
)
from (values (null), (gen_random_uuid()::text)) v (version), logloom.ingest_rules r
where r.tenant_id = 'acme' and r.is_on;
select is(
  (select count(*) from logloom_private.queue q where q.tenant_id = 'acme'), 1::bigint,
  'and nothing of the request is stored'
);
select is(
  pg_temp.answer(null, 2, null, 'before'),
  '200 {"success": true, "ingested": 2, "rejected": 0}', 'a repeat returns the first answer'
);
select is(
  pg_temp.answer(pg_temp.version(), 3, 2, 'k'),
  '200 {"dropped": 2, "success": true, "ingested": 5, "rejected": 0}',
  'the version of the tenant is stored, and dropped events are accepted'
);
select is(
  pg_temp.answer(pg_temp.version(), 0, 4, 'all'),
  '200 {"dropped": 4, "success": true, "ingested": 4, "rejected": 0}', 'also if all are dropped'
);
select pg_temp.act_as_user('acme', 'ann');
select public.update_ingest_rule(r.rule_id, p_is_on => false)
from public.list_ingest_rules() r
where r.name = 'drop';
select pg_temp.act_as_postgres();
select is(pg_temp.version(), null, 'there is no version if no rule is on');
select is(
  pg_temp.answer(null, 4, null, 'all'),
  '200 {"dropped": 4, "success": true, "ingested": 4, "rejected": 0}',
  'a repeat after a change returns the first answer'
);
select results_eq(
  $$select q.events, q.dropped, q.bytes from logloom_private.queue q
    where q.tenant_id = 'acme' order by q.batch_id$$,
  'values (2, 0, 100), (3, 2, 60), (0, 4, 0)', 'bytes of dropped events are not counted'
);

update logloom_private.settings set count_dropped = true;
select is(
  (select u.events from logloom_private.usage_of('acme', current_date) u), 11::bigint,
  'dropped events count for the month if the operator wants it'
);
update logloom_private.settings set count_dropped = false;
select logloom_private.meter_queue();
select logloom_private.meter_batches(b.last_value) from logloom_private.queue_batch_id b;
select pg_temp.act_as_user('acme', 'ann');
select results_eq(
  'select u.events, u.bytes, u.dropped, u.rules[1].seen, u.rules[1].dropped, u.rules[1].bytes,
     cardinality(u.rules)
   from public.get_tenant_usage() u',
  $$values (5::bigint, 160::bigint, 6::bigint, 9::bigint, 6::bigint, 14::bigint, 2)$$,
  'usage counts dropped events apart, and what rules did'
);
select pg_temp.act_as_postgres();
insert into logloom.ingest_rules (tenant_id, position, name, action, is_on)
values ('other', 1, 'by hand', '{"type": "drop"}', true);
select isnt(
  (select s.version from logloom_private.ingest_rule_sets s where s.tenant_id = 'other'), null,
  'a rule that SQL adds has a version, too'
);
delete from logloom.ingest_rules where tenant_id = 'other';
select pg_temp.act_as_user('other', 'eve');
select is(
  (select count(*) from public.list_ingest_rules()) + (
    select count(*) from logloom.ingest_rule_hours
  ), 0::bigint, 'another tenant sees nothing'
);
select pg_temp.act_as_postgres();

select logloom_private.flip_queue();
select logloom_private.write_step();
select is(
  (select sum(s.moved_events - s.metered_events) from logloom_private.queue_slots s), 0::numeric,
  'the writer moves a batch without events'
);
delete from logloom.tenants where tenant_id = 'acme';
select is_empty('select from logloom.ingest_rule_hours', 'the counts end with their tenant');
select * from finish();
rollback;
