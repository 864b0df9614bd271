begin;
\ir ../ingest.psql
-- The test counts days of 24 hours, because a day of the session's time zone may be longer.
update logloom_private.settings set provision_by_secret_key = true;
select plan(4);

select ok(
  not logloom_private.partition_exists(logloom_private.utc_day(now() - 100 * interval '24 hours')),
  'a past day has no partition'
);
update logloom.plans set retention_days_default = 400, retention_days_max = 400;
select pg_temp.send_request(
  p_tenant_id => 'acme',
  p_ts => array[now() - 100 * interval '24 hours', now(), now() - 300 * interval '24 hours']
);
select logloom_private.flip_queue();
select is(logloom_private.write_step(), 3, 'its events are written');
select results_eq(
  $$select tableoid::regclass::text from logloom.logs order by ts$$,
  $$select 'logloom.' || to_char(
    now() at time zone 'UTC' - d * interval '1 day', '"logs_"YYYY_MM_DD'
  )
    from unnest(array[300, 100, 0]) d$$,
  'each in the partition of its UTC day'
);
select throws_ok(
  $$insert into logloom.logs (id, tenant_id, ts, received_at, write_seq)
    values (gen_random_uuid(), 'acme', now() - 200 * interval '24 hours', now(), 1)$$,
  '23514', null, 'a row without a day is refused'
);

select * from finish();
rollback;
