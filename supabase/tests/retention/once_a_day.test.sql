begin;
select plan(5);

delete from logloom_private.retention_place;
select ok(logloom_private.retention_is_due(logloom_private.utc_day(now())), 'it never ran');
select logloom_private.begin_retention(logloom_private.utc_day(now()));
select ok(logloom_private.retention_is_due(logloom_private.utc_day(now())), 'it is under way');
select logloom_private.end_retention(null);
select ok(
  not logloom_private.retention_is_due(logloom_private.utc_day(now()))
  and logloom_private.retention_is_due(logloom_private.utc_day(now()) + 1),
  'it has ended for today, and is due tomorrow'
);

select logloom_private.begin_retention(logloom_private.utc_day(now()));
update logloom_private.retention_place set error = '22012: division by zero';
select logloom_private.end_retention('22012: division by zero');
select ok(
  not logloom_private.retention_is_due(logloom_private.utc_day(now())), 'it failed just now'
);
update logloom_private.retention_place set finished_at = now() - interval '61 minutes';
select ok(
  logloom_private.retention_is_due(logloom_private.utc_day(now())), 'it failed an hour ago'
);

select * from finish();
rollback;
