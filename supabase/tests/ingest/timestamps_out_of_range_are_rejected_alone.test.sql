begin;
update logloom_private.settings set provision_by_secret_key = true;
select plan(5);

create temp table answer as
select public.ingest_logs(
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
)::jsonb as body;

select is(
  (select body - 'errors' from answer),
  '{"success": true, "ingested": 3, "rejected": 3}',
  'events in range are accepted beside those that are not'
);
select is(
  (select body -> 'errors' from answer),
  '[
    {"index": 1, "code": "not_an_object", "message": "x"},
    {"index": 2, "code": "ts_out_of_range", "message": "ts lies more than 24 h ahead"},
    {
      "index": 4, "code": "ts_out_of_range",
      "message": "ts is older than what is kept: 7 days"
    }
  ]',
  'errors are in the order of the request, with the request''s indexes'
);
select results_eq(
  $$select events, msg, attrs from logloom_private.queue$$,
  $$values (
    3, array['kept a', 'kept b', 'kept c'], array[null, '{"n": 2}', null]::jsonb[]
  )$$,
  'the columns of the kept events stay parallel'
);
select is(
  public.ingest_logs(
    p_tenant_id => 'acme', p_ts => array[now() + interval '2 days']
  )::jsonb - 'errors',
  '{"success": false, "ingested": 0, "rejected": 1}',
  'success is false when nothing was accepted'
);

update logloom_private.settings set ingest_future_limit = '3 days';
select is(
  public.ingest_logs(
    p_tenant_id => 'acme', p_ts => array[now() + interval '2 days']
  )::jsonb,
  '{"success": true, "ingested": 1, "rejected": 0}',
  'the limit is a setting that holds at once'
);

select * from finish();
rollback;
