begin;
select plan(5);

delete from logloom_private.retention_place;
select ok(logloom_private.retention_is_due(logloom_private.utc_day(now())), 'due if it never ran');
select logloom_private.begin_retention(logloom_private.utc_day(now()));
select ok(
  logloom_private.retention_is_due(logloom_private.utc_day(now())), 'due while it is running'
);
select logloom_private.end_retention(null);
select ok(
  not logloom_private.retention_is_due(logloom_private.utc_day(now()))
  and logloom_private.retention_is_due(logloom_private.utc_day(now()) + 1),
  'not due again before tomorrow'
);

select logloom_private.begin_retention(logloom_private.utc_day(now()));
update logloom_private.retention_place set error = '22012: division by zero';
select logloom_private.end_retention('22012: division by zero');
select ok(
  not logloom_private.retention_is_due(logloom_private.utc_day(now())),
  'not due just after a failure'
);
update logloom_private.retention_place set finished_at = now() - interval '61 minutes';
select ok(
  logloom_private.retention_is_due(logloom_private.utc_day(now())), 'due an hour after a failure'
);

select * from finish();
rollback;
