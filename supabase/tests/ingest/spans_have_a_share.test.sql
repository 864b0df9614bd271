-- Spans may use a share of the month's events. Above it they are rejected, and logs are not.
begin;
\ir ../ingest.psql
update logloom_private.settings set provision_by_secret_key = true;
update logloom.plans set monthly_events_limit = 10, max_span_share = 0.3 where is_default;
select plan(5);

create function pg_temp.send()
returns jsonb
language sql
as $$
  select pg_temp.send_request(
    p_tenant_id => 'acme', p_ts => array[now(), now(), now()], p_spans => 2,
    p_attrs => array['{"kind": "span"}', '{"kind": "marker"}', '{"kind": "span"}']::jsonb[]
  )
$$;

create function pg_temp.meter()
returns void
language sql
as $$
  select logloom_private.meter_batches(b.last_value) from logloom_private.queue_batch_id b
$$;

select is(pg_temp.send(), '{"success": true, "ingested": 3, "rejected": 0}', 'below the share');
select pg_temp.meter();
select is(
  pg_temp.send(), '{"success": true, "ingested": 3, "rejected": 0}',
  'two of ten events are less than 30 %'
);
select pg_temp.meter();
select is(
  pg_temp.send(),
  '{
    "success": true, "ingested": 1, "rejected": 2,
    "errors": [
      {
        "index": 0, "code": "span_limit_reached",
        "message": "Plan limit exceeded: spans are 30 % of the month''s events"
      },
      {
        "index": 2, "code": "span_limit_reached",
        "message": "Plan limit exceeded: spans are 30 % of the month''s events"
      }
    ]
  }',
  'four spans are more: others are rejected alone'
);
select pg_temp.meter();
select results_eq(
  $$ select sum(events)::integer, sum(spans)::integer from logloom.usage_days $$,
  $$ values (7, 4) $$,
  'the usage has all events, and the spans among them'
);
select is(
  pg_temp.send_request(
    p_tenant_id => 'acme', p_ts => array[now()], p_attrs => array['{"kind": "marker"}']::jsonb[]
  ),
  '{"success": true, "ingested": 1, "rejected": 0}',
  'logs are not limited'
);

select * from finish();
rollback;
