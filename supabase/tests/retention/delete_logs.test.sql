begin;
\ir ../actors.psql
\ir ../ingest.psql
select plan(31);

insert into logloom.tenants (tenant_id, plan_id) values ('acme', 'pro'), ('umbrella', 'pro');
select logloom_private.create_partition(logloom_private.utc_day(now()) - d)
  from generate_series(0, 3) d;
insert into logloom.logs (id, tenant_id, ts, received_at, write_seq, level, msg, user_id)
select gen_random_uuid(), t, now() - i * interval '1 hour', now(), 1, 'info', 'n ' || i,
  case when i % 3 = 0 then 'erin' else 'other' end
from generate_series(1, 60) i, unnest(array['acme', 'umbrella']) t;
select logloom_private.recount_records(logloom_private.utc_day(now()) - d)
from generate_series(0, 3) d;
insert into logloom_private.dead_letters (
  id, tenant_id, ts, received_at, level, user_id, error_code, error_message
)
select gen_random_uuid(), t, now() - interval '1 hour', now(), 'loud', u, '23514', 'x'
from unnest(array['acme', 'umbrella']) t, unnest(array['erin', 'other']) u;
update logloom_private.settings set deletion_step_records = 7;

create function pg_temp.erase(p_query_dsl text, p_dry_run boolean)
returns jsonb
language sql
return to_jsonb(
  public.delete_logs(p_query_dsl, 'now-48h', 'now-30m', p_dry_run)
) - 'run_id' - 'requested_at' - 'ts_from' - 'ts_to' - 'finished_at';

select pg_temp.act_as_user('acme', 'alice');
select is(
  pg_temp.erase('user_id:erin', null),
  '{
    "tenant_id": "acme", "kind": "erasure", "status": "done", "requested_by": "alice",
    "query_dsl": "user_id:erin", "dry_run": true, "records": 16, "partitions": 0, "error": null,
    "archive_files": 0, "archive_records": 0, "not_reached": null
  }',
  'by default it is a dry run'
);
select is((select count(*) from logloom.logs), 60::bigint, 'and deletes nothing');
select is(
  pg_temp.erase('user_id:erin', false),
  '{
    "tenant_id": "acme", "kind": "erasure", "status": "queued", "requested_by": "alice",
    "query_dsl": "user_id:erin", "dry_run": false, "records": 0, "partitions": 0, "error": null,
    "archive_files": 0, "archive_records": 0, "not_reached": null
  }',
  'a deletion is queued'
);

select pg_temp.act_as_postgres();
select pg_temp.send_request(p_tenant_id => 'globex', p_ts => array[now()]);
update logloom_private.queue set received_at = now() - interval '1 minute' where true;
select is(logloom_private.next_deletion(), null, 'it waits for events acknowledged before');
select logloom_private.flip_queue();
select logloom_private.write_step();
select isnt(logloom_private.next_deletion(), null, 'until they are written');

select ok(
  logloom_private.deletion_step(logloom_private.next_deletion()), 'a step checks a few records'
);
select is(
  (select count(*) from logloom.logs where tenant_id = 'acme' and user_id = 'erin')
    + (select records - 1 from logloom.retention_runs where status = 'running'),
  20::bigint, 'it deletes the matching ones and a dead letter, and counts them'
);
select ok(
  (select count(*) between 17 and 19 from logloom.logs
    where tenant_id = 'acme' and user_id = 'erin'),
  'only one step'
);
-- An alert keeps its group's values after an erasure. Only the first two rows are alerts with a
-- group in the erased range.
insert into logloom.alert_history (
  tenant_id, rule_id, value, threshold, window_start, window_end, "group"
)
select
  a.tenant_id, gen_random_uuid(), 1, 0, now() - a.ago, now() - a.ago + interval '5 minutes',
  a."group"
from (
  values
  ('acme', interval '3 hours', '{"user_id": "erin"}'::jsonb),
  ('acme', interval '2 hours', '{"user_id": "other"}'),
  ('acme', interval '2 hours', null),
  ('acme', interval '10 minutes', '{"user_id": "erin"}'),
  ('umbrella', interval '2 hours', '{"user_id": "erin"}')
) a (tenant_id, ago, "group");
insert into logloom.log_streams (
  tenant_id, name, kind, config, created_at, last_success_at, sent_records, position_seq
)
values
  ('acme', 'to the lake', 's3', '{}', '2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z', 5, 0),
  ('acme', 'sent nothing', 'webhook', '{}', '2026-01-01T00:00:00Z', null, 0, 0),
  ('acme', 'audit', 'webhook', '{}', '2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z', 5, 0),
  ('umbrella', 'other', 'webhook', '{}', '2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z', 5, 0);
-- An audit trail has no logs.
update logloom.log_streams s set source = 'audit' where s.name = 'audit';
select pg_temp.repeat_while('logloom_private.run_deletion_step() is not null');

select pg_temp.act_as_user('acme', 'alice');
select is(
  (
    select r.status || ' ' || r.records || ' ' || (r.finished_at is not null)
    from public.list_log_retention_runs() r where not r.dry_run
  ),
  'done 17 true', 'finally all matches are deleted, with a dead letter'
);
select is(
  (
    select array_agg(n - 'ts_from' - 'ts_to' order by n ->> 'kind')
    from public.list_log_retention_runs() r, jsonb_array_elements(r.not_reached) n
    where not r.dry_run
  ),
  array[
    '{"kind": "alerts", "alerts": 2}', '{"kind": "exports"}',
    jsonb_build_object(
      'kind', 'log_stream', 'name', 'to the lake', 'to', 's3',
      'sent_from', '2026-01-01T00:00:00Z'::timestamptz,
      'sent_to', '2026-01-02T00:00:00Z'::timestamptz
    )
  ]::jsonb[],
  'the receipt lists where copies may remain'
);
select is(
  (select array_agg(extract(epoch from now() - l.ts) / 3600 order by l.ts desc)::integer[]
    from logloom.logs l where l.user_id = 'erin'),
  '{51,54,57,60}', 'records outside the range stay'
);
select is(
  (select count(*) from logloom.logs
  where user_id = 'other'), 40::bigint, 'records that do not match stay'
);
select is((pg_temp.erase('user_id:erin', true) ->> 'records'), '0', 'nothing matches any more');

select pg_temp.act_as_postgres();
select is(
  (select sum(c.events) from logloom_private.log_counts c where c.tenant_id = 'acme'), 44::numeric,
  'the counts by minute agree'
);
select is(
  (select count(*) from logloom.logs where tenant_id = 'umbrella'), 60::bigint,
  'another tenant lost nothing'
);
select results_eq(
  'select tenant_id, user_id from logloom_private.dead_letters order by 1, 2',
  $$values ('acme', 'other'), ('umbrella', 'erin'), ('umbrella', 'other')$$,
  'other dead letters stay'
);
select is(
  (
    select array_agg(e.action || ' ' || coalesce(e.details ->> 'dry_run', e.details ->> 'records')
      order by e.occurred_at)
    from logloom.audit_events e where e.tenant_id = 'acme' and e.actor = 'alice'
  ),
  array[
    'logs.deletion_requested true', 'logs.deletion_requested false', 'logs.deletion_finished 17',
    'logs.deletion_requested true'
  ],
  'requests and results are in the audit log'
);

select pg_temp.act_as_user('acme', 'alice');
select throws_ok(
  format('select public.delete_logs(%s)', c.arguments), 'PT400', c.message, c.message
)
from (
  values
    ('', 'Missing required parameter: p_query_dsl'),
    ('''a''', 'Missing required parameter: p_ts_from'),
    ('''a'', ''now''', 'Missing required parameter: p_ts_to'),
    ('''a'', ''now'', ''now''', 'Invalid range: p_ts_from must be before p_ts_to'),
    (''' '', ''now-1h'', ''now''', 'Invalid p_query_dsl: it is blank'),
    ('''a | count()'', ''now-1h'', ''now''',
      'Invalid p_query_dsl: this operation returns records, not count()'),
    ('''not error'', ''now-1h'', ''now'', false',
      'Invalid p_query_dsl: not is read as a word: write operators in upper case'),
    ('''not error'', ''now-1h'', ''now'', true',
      'Invalid p_query_dsl: not is read as a word: write operators in upper case'),
    ('''service=api'', ''now-1h'', ''now'', false',
      'Invalid p_query_dsl: service=api is read as a text: write a colon after a field'),
    ('''('', ''now-1h'', ''now''', 'A term is missing at the end')
) c (arguments, message);

select pg_temp.act_as_postgres();
select is(
  (select count(*) from logloom.retention_runs where kind = 'erasure'), 3::bigint,
  'a refused deletion leaves no run'
);

select pg_temp.act_as_user('acme', 'alice');
select lives_ok(
  $$select public.delete_logs('"not" error', 'now-1h', 'now', true)$$,
  'a quoted word is accepted'
);
select is(
  (select (v->'warnings'->0->>'suggestion') from to_jsonb(public.validate_query('not error')) v),
  '-error', 'a search gives the same warning'
);

select pg_temp.erase('user_id:erin', true) from generate_series(1, 101);
select is(
  (select count(*) from public.list_log_retention_runs() r where r.dry_run), 100::bigint,
  'the newest 100 dry runs are kept'
);

select * from finish();
rollback;
