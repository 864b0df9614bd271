begin;
\ir rounds.psql
select plan(28);

select pg_temp.rule('error', 'gte', 2, 5, p_name => 'five') \g /dev/null
select pg_temp.rule('error', 'lt', 1, 1, p_name => 'none') \g /dev/null

select pg_temp.arrive('11:55', 'an error');
select pg_temp.arrive('11:59:59.999999', 'an error');
select pg_temp.arrive('12:00', 'an error');
select is(pg_temp.round('12:00:59'), 1, 'the first round');
select is(pg_temp.fired(), '{12:00 five 2}', 'a window includes its start and excludes its end');
select is(pg_temp.round('12:00:59'), null, 'a minute is evaluated once');
select is(pg_temp.round('12:01:00'), 1, 'the window follows the watermark');
select is(
  pg_temp.fired('five'), '{12:00 2,12:01 2}', 'a window counts the records in it, no others'
);
select is(
  (select count(*)::integer
    from logloom_private.alert_groups), 1, 'rules with the same filter share a group'
);

-- Rules wait while the writer is behind.
select is(
  pg_temp.round('12:02', '2 minutes 1 second'), null,
  'rules wait while the watermark is over two minutes behind'
);
select is(pg_temp.round('12:02', '2 minutes'), 2, 'but not at two minutes');
select is(
  pg_temp.fired('none'), '{12:02 0}', 'a complete minute without records fires a rule for none'
);
select pg_temp.arrive('12:02:30', 'an error');
select pg_temp.arrive('12:03:30', 'an error');
select pg_temp.arrive('12:04:30', 'an error', p_count => 4);
select pg_temp.arrive('12:06:30', 'an error');
select is(pg_temp.round('12:07:00'), 6, 'after a pause each missed window is evaluated');
select is(
  pg_temp.fired('five'), '{12:00 2,12:01 2,12:02 2,12:03 3,12:04 4,12:05 7,12:06 6,12:07 7}',
  'so no alert is lost'
);
select is(
  pg_temp.fired('none'), '{12:02 0,12:06 0}', 'and only windows without records are below one'
);

-- A late record counts in its own window.
select pg_temp.rule('late', 'gte', 1, 1, p_name => 'late') \g /dev/null
select is(pg_temp.round('12:08'), 2, 'before the late record nothing fires');
select pg_temp.arrive('12:07:59', 'late');
select pg_temp.round('12:09') \g /dev/null
select is(pg_temp.fired('late'), '{12:08 1}', 'a late record counts in its own window');
select pg_temp.arrive('12:07:58', 'late');
select pg_temp.round('12:10') \g /dev/null
select is(pg_temp.fired('late'), '{12:08 1}', 'a window that fired does not fire again');
select pg_temp.arrive('12:08:30', 'late');
select pg_temp.round('12:12') \g /dev/null
select is(pg_temp.fired('late'), '{12:08 1}', 'after the grace of two minutes a window is closed');
select results_eq(
  $$select p.minute, p.events from logloom_private.alert_partials p
    join logloom_private.alert_groups g using (group_id)
    where strpos(g.filter, '%late%') > 0 order by 1$$,
  $$values (pg_temp.at('12:07'), 2::bigint), (pg_temp.at('12:08'), 1)$$,
  'each record is in one minute, once'
);

-- An event in the future counts once its minute is over.
select pg_temp.rule('ahead', 'gte', 1, 1, p_name => 'ahead') \g /dev/null
select pg_temp.round('12:13') \g /dev/null
select pg_temp.arrive('12:15:30', 'ahead');
select pg_temp.round('12:15') \g /dev/null
select is_empty(
  $$select
    from logloom_private.alert_partials p join logloom_private.alert_groups g using (group_id)
    where strpos(g.filter, '%late%') > 0$$,
  'minutes that no window needs are deleted'
);
select is(pg_temp.fired('ahead'), '{}', 'an event in the future does not count yet');
select pg_temp.round('12:16') \g /dev/null
select is(pg_temp.fired('ahead'), '{12:16 1}', 'it counts after its minute');

-- A changed rule starts again.
update logloom.alert_rules set enabled = false where name in ('late', 'ahead');
update logloom.alert_rules set window_minutes = 30, asked_at = pg_temp.at('12:16:30')
where name = 'none';
update logloom.alert_rules set comparison = 'gt', threshold = 5, asked_at = pg_temp.at('12:16:30')
where name = 'none';
delete from logloom.alert_history;
select pg_temp.round('12:17') \g /dev/null
select is(pg_temp.fired('none'), '{12:17 10}', 'a longer window is filled from existing records');
update logloom.alert_rules
set query_dsl = 'late', window_minutes = 60, asked_at = pg_temp.at('12:17:30')
where name = 'none';
update logloom.alert_rules set threshold = 0 where name = 'none';
select pg_temp.round('12:18') \g /dev/null
select is(pg_temp.fired('none'), '{12:17 10,12:18 3}', 'so is another query');
update logloom.alert_rules set enabled = true, asked_at = pg_temp.at('12:18:30')
where name = 'late';
delete from logloom.alert_rules where name <> 'late';
select is(pg_temp.round('12:19'), 0, 'a rule that is enabled again evaluates the last window only');
select is(
  (select count(*)::integer
    from logloom_private.alert_groups), 1, 'a group without rules is deleted'
);
select pg_temp.arrive('15:30:10', 'late', p_count => 2);
select pg_temp.round('15:31') \g /dev/null
select is(
  pg_temp.fired('late'), '{15:31 2}', 'after hours without a round everything is read again'
);

-- A grace with seconds would end windows within a minute, where no round evaluates them.
select throws_ok('update logloom_private.settings set ' || c, '23514', null, c || ' is refused')
from unnest(array['alert_grace = ''90 seconds''', 'alert_grace = ''-1 minute''']) c;
select lives_ok('update logloom_private.settings set alert_grace = ''0''', 'whole minutes are not');

select * from finish();
rollback;
