begin;
\ir rounds.psql
select plan(9);

-- Does the work of evaluate_alerts between two rounds.
create function pg_temp.between(p_time text)
returns integer
language plpgsql
as $$
declare
  v_now constant timestamptz := pg_temp.at(p_time);
  v_round logloom_private.alert_rounds;
  v_fired integer := 0;
  v_turn integer;
begin
  select r.* into v_round from logloom_private.alert_rounds r;
  for i in 1..20 loop
    v_turn := logloom_private.read_alert_windows(v_round, v_now);
    if v_turn is null then
      return v_fired;
    end if;
    v_fired := v_fired + v_turn;
  end loop;
  raise exception 'it finds no end';
end;
$$;

create function pg_temp.evaluated()
returns text[]
language sql
return array(
  select format(
    '%s %s %s', r.name,
    coalesce(to_char(r.last_evaluated_at at time zone 'UTC', 'HH24:MI'), 'never'), r.last_value
  )
  from logloom.alert_rules r
  order by r.name collate "C"
);

select pg_temp.rule('ts:*', 'lt', 5, p_name => 'old') \g /dev/null
select pg_temp.arrive('11:59:30', 'here', '{"shop": "a"}', p_count => 6) \g /dev/null
select is(pg_temp.round('12:00'), 0, 'a round runs');

-- A search finds eleven records. Five of them arrived after the last round's window ended.
select pg_temp.arrive('12:00:10', 'new', '{"shop": "a"}', p_count => 5) \g /dev/null
select pg_temp.rule('msg:new', 'lt', 5, p_name => 'count') \g /dev/null
select pg_temp.rule('msg:new | count_distinct(id)', 'lt', 5, p_name => 'scan') \g /dev/null
select pg_temp.rule('msg:new | count() by @shop', 'lt', 5, p_name => 'groups') \g /dev/null
select pg_temp.rule('ts:*', 'lt', 9, p_name => 'shared') \g /dev/null
update logloom.alert_rules set asked_at = pg_temp.at('12:00:30') where name <> 'old';
select is(pg_temp.between('12:00:33'), 0, 'new rules fire nothing between two rounds');
select is(
  pg_temp.evaluated(),
  array['count never ', 'groups never ', 'old 12:00 6', 'scan never ', 'shared never '],
  'and are not evaluated'
);
select is(pg_temp.round('12:01'), 0, 'the next round sees the records of the search');
select is(
  pg_temp.evaluated(), '{count 12:01 5,groups 12:01 5,old 12:01 11,scan 12:01 5,shared 12:01 11}',
  'with all records'
);

-- A rule that was created after the minute and before its round.
select pg_temp.arrive('12:02:02', 'late', p_count => 5) \g /dev/null
select pg_temp.rule('msg:late', 'lt', 5, p_name => 'between') \g /dev/null
update logloom.alert_rules set asked_at = pg_temp.at('12:02:03') where name = 'between';
delete from logloom.alert_rules where name <> 'between';
select is(pg_temp.round('12:02'), 0, 'it does not evaluate a minute that was over before');
select is(pg_temp.round('12:03'), 0, 'it evaluates the next minute');
select is(pg_temp.evaluated(), '{between 12:03 5}', 'for the first time');

-- A query that is no longer valid is reported in its first round, too.
update logloom.alert_rules
set query_dsl = 'level:nonsense', asked_at = pg_temp.at('12:03:30')
where name = 'between';
select pg_temp.between('12:03:33') \g /dev/null
select pg_temp.round('12:04') \g /dev/null
select is((select r.last_error from logloom.alert_rules r), 'Unknown level "nonsense"', 'an error');

select * from finish();
rollback;
