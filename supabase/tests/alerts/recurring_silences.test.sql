-- Silences that recur: when an occurrence begins and ends, and what is refused.
begin;
set local timezone = 'UTC';
\ir ../actors.psql
\ir rounds.psql
select plan(19);

create function pg_temp.recurrence(
  p_days text, p_start text, p_minutes integer, p_zone text = 'Europe/Berlin'
)
returns jsonb
language sql
as $$
  select jsonb_build_object(
    'days', p_days::jsonb, 'start', p_start, 'minutes', p_minutes, 'time_zone', p_zone
  )
$$;

-- The clocks of Berlin go from 02:00 to 03:00 on Sunday, 29 March 2026, and from 03:00 to 02:00 on
-- Sunday, 25 October.
select is(
  (
    select string_agg(to_char(t, 'MM-DD HH24:MI'), ', ' order by t)
    from generate_series(c.first::timestamptz, c.last::timestamptz, '1 minute') t
    where logloom_private.recurs_at(c.recurrence, t)
      <> logloom_private.recurs_at(c.recurrence, t - interval '1 minute')
  ), c.changes, c.description
)
from (
  values
    (pg_temp.recurrence('["sat", "sun", "mon"]', '01:30', 90), '2026-03-28', '2026-03-30 12:00',
      '03-28 00:30, 03-28 02:00, 03-29 00:30, 03-29 02:00, 03-29 23:30, 03-30 01:00',
      'an occurrence begins at the local time, before and after the clocks change'),
    (pg_temp.recurrence('["sun"]', '02:30', 30), '2026-03-28', '2026-03-30',
      '03-29 01:30, 03-29 02:00', 'a start that the clocks skip is an hour later'),
    (pg_temp.recurrence('["sun"]', '02:30', 30), '2026-10-24', '2026-10-26',
      '10-25 01:30, 10-25 02:00', 'of two equal local times the second counts'),
    (pg_temp.recurrence('["sun"]', '00:30', 180), '2026-10-24', '2026-10-26',
      '10-24 22:30, 10-25 01:30', 'the minutes are real ones'),
    (pg_temp.recurrence('["mon"]', '00:00', 10080, 'UTC'), '2026-06-01 00:01', '2026-06-15',
      null, 'occurrences of a week leave no gap'),
    (pg_temp.recurrence('["sat", "sun", "mon"]', '02:30', 1440), '2026-10-24', '2026-10-28',
      '10-24 00:30, 10-27 01:30', 'nor do those of a day, when the clocks change'),
    (pg_temp.recurrence('["sat"]', '22:00', 1500), '2026-03-28', '2026-03-30',
      '03-28 21:00, 03-29 21:00', 'a day and an hour are the next day, an hour later')
) c (recurrence, first, last, changes, description);

select is(
  array(
    select z
    from unnest('{UTC,Europe/Berlin,Etc/GMT+3,America/Argentina/Buenos_Aires,Mars/Base,Mars/Base+3,
      Etc/GMT+99,CEST,EST5EDT,localtime,Factory,posixrules,<+03>-3}'::text[]) z
    where logloom_private.time_zone_is_known(z)
  ),
  '{UTC,Europe/Berlin,Etc/GMT+3,America/Argentina/Buenos_Aires}',
  'only names of areas with their cities are time zones'
);

-- Alerts in an occurrence are silenced, others are sent.
select pg_temp.rule('wanted', 'gt', 0, 1, 0, 'loud') \g /dev/null
update logloom.alert_rules set notification_destinations = '{webhook}',
  notification_config = '{"webhook_url": "https://example.com/hook"}' where name = 'loud';
select pg_temp.act_as_user('acme', 'alice');
create temp table made as
select s.*
from public.create_alert_silence(
  '{}', p_from => '2026-03-01', p_comment => 'Backup',
  -- 3 March 2026 is a Tuesday.
  p_recurrence => pg_temp.recurrence('["fri", "tue", "fri"]', '12:00', 30, 'UTC')
) s;
select is(
  (select to_jsonb(m) - '{silence_id,created_at,state,created_by}'::text[] from made m),
  '{
    "tenant_id": "acme", "matcher": {}, "starts_at": "2026-03-01T00:00:00+00:00", "ends_at": null,
    "comment": "Backup", "expired_at": null, "expired_by": null, "recurrence":
    {"days": ["tue", "fri"], "start": "12:00", "minutes": 30, "time_zone": "UTC"}
  }',
  'the days are in the order of the week, and no end is needed'
);
select pg_temp.act_as_postgres();
select pg_temp.arrive('12:28:10', 'wanted');
select pg_temp.round('12:29') \g /dev/null
select pg_temp.arrive('12:29:10', 'wanted');
select pg_temp.round('12:30') \g /dev/null
select results_eq(
  $$select to_char(h.window_end, 'HH24:MI'), h.silence_id = m.silence_id
    from made m, logloom.alert_history h order by 1$$,
  $$values ('12:29', true), ('12:30', null)$$, 'only the alert in the occurrence is silenced'
);
select is(
  (select count(*)::integer from logloom_private.notifications), 1, 'and only the other is sent'
);

-- A problem that lasts longer than a silence is sent after it, whatever the cooldown.
update logloom.alert_rules set cooldown_minutes = 1440 where name = 'loud';
delete from logloom.alert_history where true;
update logloom.alert_silences set recurrence = recurrence || '{"start": "12:30", "minutes": 10}'
where true;
insert into logloom.alert_silences (tenant_id, starts_at, ends_at, created_by)
values ('acme', '2026-03-03 12:42Z', '2026-03-03 12:43Z', 'alice');
select pg_temp.arrive('12:' || m || ':10', 'wanted') from generate_series(30, 38) m \g /dev/null
select pg_temp.round('12:39') \g /dev/null
select pg_temp.arrive('12:40:10', 'wanted');
select pg_temp.round('12:41') \g /dev/null
select results_eq(
  $$select to_char(h.window_end, 'HH24:MI'), h.silence_id is null
    from logloom.alert_history h order by 1$$,
  $$values ('12:31', false), ('12:41', true)$$, 'after an occurrence the alert is sent'
);
delete from logloom.alert_history where true;
select pg_temp.arrive('12:41:10', 'wanted');
select pg_temp.round('12:42') \g /dev/null
select pg_temp.arrive('12:42:10', 'wanted');
select pg_temp.round('12:43') \g /dev/null
select results_eq(
  $$select to_char(h.window_end, 'HH24:MI'), h.silence_id is null
    from logloom.alert_history h order by 1$$,
  $$values ('12:42', false), ('12:43', true)$$, 'and after a silence that does not recur'
);
select is(
  logloom_private.recurs_at(pg_temp.recurrence('["mon"]', '00:00', 10080, 'Mars/Base'), now()),
  false, 'a zone that an update removed silences nothing'
);
select pg_temp.act_as_user('acme', 'alice');
select is(
  pg_temp.attempt(format('select public.create_alert_silence(''{}'', p_recurrence => %L)', c)),
  'PT400 Invalid p_recurrence: an object of days (mon to sun), start (HH:MM), minutes (1 to '
    '10080) and time_zone (an IANA name)', c::text
)
from unnest(array[
  pg_temp.recurrence('["monday"]', '02:00', 1), pg_temp.recurrence('["mon"]', '24:00', 1),
  pg_temp.recurrence('["mon"]', '02:00', 10081), pg_temp.recurrence('["mon"]', '02:00', 1, 'CEST')
]) c;
select pg_temp.act_as_user('fresh', 'zoe');
select is(
  (public.create_alert_silence('{}', p_to => '2099-01-01')).tenant_id, 'fresh',
  'a silence can be a tenant''s first write'
);
select * from finish();
rollback;
