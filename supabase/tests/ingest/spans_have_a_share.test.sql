-- Spans may use a share of the month's events. Above it they are rejected, and logs are not.
begin;
\ir ../ingest.psql
update logloom_private.settings set provision_by_secret_key = true;
update logloom.plans set monthly_events_limit = 10, max_span_share = 0.3 where is_default;
select plan(6);

create function pg_temp.send(p_key text)
returns jsonb
language sql
as $$
  -- The function ingest asks for all errors of traces, and sends a key for each request.
  select pg_temp.send_request(
    p_tenant_id => 'acme', p_ts => array[now(), now(), now()], p_spans => 2,
    p_attrs => array['{"kind": "span"}', '{"kind": "marker"}', '{"kind": "span_event"}']::jsonb[],
    p_idempotency_key => p_key, p_body_digest => 'ab', p_all_errors => true
  )
$$;

create function pg_temp.meter()
returns void
language sql
as $$
  select logloom_private.meter_batches(b.last_value) from logloom_private.queue_batch_id b
$$;

create function pg_temp.rejected(variadic p_indexes integer[])
returns jsonb
language sql
as $$
  select jsonb_build_object(
    'success', true, 'ingested', 3 - cardinality(p_indexes), 'rejected', cardinality(p_indexes),
    'errors', (
      select jsonb_agg(jsonb_build_object(
        'index', i, 'code', 'span_limit_reached',
        'message', 'Plan limit exceeded: spans are 30 % of the month''s events'
      ) order by i)
      from unnest(p_indexes) i
    )
  )
$$;

select is(pg_temp.send('a'), '{"success": true, "ingested": 3, "rejected": 0}', 'below the share');
select is(
  pg_temp.send('b'), pg_temp.rejected(2),
  'of the next two only one fits: the queue counts too, and so do events of spans'
);
select pg_temp.meter();
select is(pg_temp.send('c'), pg_temp.rejected(0, 2), 'three of ten events are 30 %');
select is(pg_temp.send('b'), pg_temp.rejected(2), 'a repeat gets the first answer');
select pg_temp.meter();
select results_eq(
  $$ select sum(events)::integer, sum(spans)::integer from logloom.usage_days $$,
  $$ values (6, 3) $$,
  'the usage has all events, and the spans among them'
);
select is(
  pg_temp.send_request(
    p_tenant_id => 'acme', p_ts => array[now()], p_attrs => array['{"kind": "marker"}']::jsonb[]
  ),
  '{"success": true, "ingested": 1, "rejected": 0}', 'logs are not limited'
);

select * from finish();
rollback;
