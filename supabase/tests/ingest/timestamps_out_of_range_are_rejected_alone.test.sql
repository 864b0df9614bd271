begin;
\ir ../ingest.psql
update logloom_private.settings set provision_by_secret_key = true;
select plan(13);

create temp table answer as
select pg_temp.send_request(
  p_tenant_id => 'acme',
  p_positions => '{0, 2, 3, 4, 5}',
  p_rejected => 1,
  p_errors => '[{"index": 1, "code": "not_an_object", "message": "x"}]',
  p_ts => array[
    now(),
    now() + interval '24 hours 1 second',
    now() + interval '24 hours',
    now() - interval '8 days',
    null
  ],
  p_msg => array['kept a', 'ahead', 'kept b', 'old', 'kept c'],
  p_attrs => array[null, '{"n": 1}', '{"n": 2}', null, null]::jsonb[]
) as body;

select is(
  (select body - 'errors' from answer),
  '{"success": true, "ingested": 3, "rejected": 3}', 'events in range are accepted, others rejected'
);
select is(
  (select body -> 'errors' from answer),
  '[
    {"index": 1, "code": "not_an_object", "message": "x"},
    {"index": 2, "code": "ts_out_of_range", "message": "ts is more than 24 h ahead"},
    {
      "index": 4, "code": "ts_out_of_range",
      "message": "ts is older than the retention of 7 days"
    }
  ]',
  'errors are in the order of the request, with the request''s indexes'
);
select results_eq(
  $$select events, msg, attrs from logloom_private.queue$$,
  $$values (3, array['kept a', 'kept b', 'kept c'], array[null, '{"n": 2}', null]::jsonb[])$$,
  'the columns of the kept events stay parallel'
);
select is(
  pg_temp.send_request(p_tenant_id => 'acme', p_ts => array[now() + interval '2 days']) - 'errors',
  '{"success": false, "ingested": 0, "rejected": 1}', 'success is false when nothing was accepted'
);

create function pg_temp.listed(p_all_errors boolean) returns bigint[] language sql as $$
  select array[count(*), min((e ->> 'index')::integer), max((e ->> 'index')::integer)]
  from jsonb_array_elements(
    pg_temp.send_request(
      p_tenant_id => 'acme',
      p_rejected => 1,
      p_errors => '[{"index": 0, "code": "not_an_object", "message": "x"}]',
      p_positions => array(select generate_series(1, 150)),
      p_ts => array_fill(now() - interval '100 years', array[150]),
      p_all_errors => p_all_errors
    ) -> 'errors'
  ) e
$$;
select is(pg_temp.listed(null), '{100,0,99}', 'the first hundred rejected events are listed');
select is(pg_temp.listed(true), '{151,0,150}', 'or all, if the sender asks for all');

truncate logloom_private.queue;
select is(
  pg_temp.send_request(
    p_tenant_id => 'acme',
    p_ts => array[
      now() + interval '2 days', now() - interval '8 days', now() - interval '6 days', null,
      now() - interval '8 days', now() + interval '2 days'
    ],
    p_msg => array['a', 'b', 'c', 'd', 'e', 'f'],
    p_attrs => array[null, '{"n": 1}', null, null, null, '{"date": "mine"}']::jsonb[],
    p_guessed => '{
      "1": {"date": "2031-01-01"}, "2": {"time": 1109635200}, "3": {"date": "2026-11-21"},
      "6": {"date": "2031-01-01"}
    }'
  ),
  '{
    "success": true, "ingested": 5, "rejected": 1,
    "errors": [{
      "index": 4, "code": "ts_out_of_range",
      "message": "ts is older than the retention of 7 days"
    }]
  }',
  'a guessed time out of range does not reject its event'
);
select results_eq(
  $$select ts, msg, attrs from logloom_private.queue$$,
  $$values (
    array[null, null, now() - interval '6 days', null, null],
    array['a', 'b', 'c', 'd', 'f'],
    array[
      '{"date": "2031-01-01"}', '{"n": 1, "time": 1109635200}', null, null, '{"date": "mine"}'
    ]::jsonb[]
  )$$,
  'it becomes an attribute, and an attribute of that name stays'
);
truncate logloom_private.queue;
select is(
  pg_temp.send_request(
    p_tenant_id => 'acme',
    p_ts => array[now() - interval '100 years'],
    p_guessed => '{"1": {"date": "1926-11-21"}}'
  ),
  '{"success": true, "ingested": 1, "rejected": 0}',
  'a request with only a guessed time is accepted'
);
select results_eq(
  $$select ts, attrs from logloom_private.queue$$,
  $$values (array[null::timestamptz], array['{"date": "1926-11-21"}']::jsonb[])$$,
  'also without other attributes'
);

create function pg_temp.stored_of_two(p_key text, p_guessed jsonb) returns bigint
language plpgsql as $$
begin
  truncate logloom_private.queue;
  for _ in 1..2 loop
    perform pg_temp.send_request(
      p_tenant_id => 'acme',
      p_idempotency_key => p_key,
      p_body_digest => encode(sha256('body'), 'hex'),
      p_ts => array[now() - interval '8 days', now()],
      p_guessed => p_guessed
    );
  end loop;
  return (select sum(q.events) from logloom_private.queue q);
end;
$$;
select is(
  pg_temp.stored_of_two(
    'sha256:' || encode(sha256('body'), 'hex'), '{"1": {"time": "2015-03-03T12:34:56Z"}}'
  ),
  4::bigint, 'with the time of receipt an equal request is not a repeat'
);
select is(
  pg_temp.stored_of_two('key', '{"1": {"time": "2015-03-03T12:34:56Z"}}'), 2::bigint,
  'unless the sender gave an idempotency key'
);

update logloom_private.settings set ingest_future_limit = '3 days';
select is(
  pg_temp.send_request(p_tenant_id => 'acme', p_ts => array[now() + interval '2 days']),
  '{"success": true, "ingested": 1, "rejected": 0}', 'the limit is a setting that applies at once'
);

select * from finish();
rollback;
