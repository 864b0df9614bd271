-- New rules of a tenant do not delay its older ones, and late rules are visible.
begin;
set local timezone = 'UTC';
\ir ../actors.psql
\ir rounds.psql
select plan(8);

-- Medians are read for each rule alone.
select pg_temp.arrive('12:00:10', 'wanted', '{"ms": 5}');
select pg_temp.rule('wanted | p50(@ms)', 'gt', 1, w, 0, 'old ' || w)
from generate_series(1, 3) w \g /dev/null
select pg_temp.round('12:01') \g /dev/null
select pg_temp.rule('wanted | p50(@ms)', 'gt', 1, w, 0, 'new ' || w)
from generate_series(4, 303) w \g /dev/null
update logloom.alert_rules set asked_at = pg_temp.at('12:00:30') where name like 'new%';

-- Starts a round in which no rule has had its turn yet.
create temp table round as
select (logloom_private.begin_alert_round(pg_temp.at('12:02:06'), pg_temp.at('12:02'))).*;
update logloom_private.alert_rounds set finished_at = now();
select logloom_private.plan_alert_rules(pg_temp.at('12:02:06'), 1000) \g /dev/null
create function pg_temp.turns(p_count integer)
returns text[]
language sql
as $$
  select array(
    select r.name
    from round o
    cross join logloom_private.pending_alert_groups(o::text::logloom_private.alert_rounds) g
    join logloom_private.planned_alert_rules p on p.group_id = g.group_id
    join logloom.alert_rules r on r.rule_id = p.rule_id
    order by g.place
    limit p_count
  )
$$;
select is(
  array(select left(t, 3) from unnest(pg_temp.turns(8)) t),
  '{old,new,old,new,old,new,new,new}'::text[],
  'older and new rules take turns'
);
create temp table first as select unnest(pg_temp.turns(2)) as name;
update logloom_private.alert_groups g
set turn_at = pg_temp.at('12:02:07')
from logloom_private.planned_alert_rules p
join logloom.alert_rules r on r.rule_id = p.rule_id
where p.group_id = g.group_id and r.name in (select f.name from first f);
create temp table before as select pg_temp.turns(303) as names;
select is(
  array[(b.names)[5], b.names[303]],
  array(
    select r.name from logloom.alert_rules r
    join logloom_private.planned_alert_rules p on p.rule_id = r.rule_id
    join logloom_private.alert_groups g on g.group_id = p.group_id
    where g.turn_at = pg_temp.at('12:02:07') order by r.name desc
  ),
  'after its turn a rule comes last of its kind'
)
from before b;

-- A rule shows how late it is.
select is(
  (select array_agg(distinct left(r.name, 3) || ' ' || logloom_private.late_seconds(r) order by
    left(r.name, 3) || ' ' || logloom_private.late_seconds(r)) from logloom.alert_rules r),
  '{"new 120","old 60"}'::text[], 'each rule shows how late it is'
);
select is(
  (logloom_private.alert_health(pg_temp.at('12:02:10'), pg_temp.at('12:02:05'))
    - '{watermark_age_seconds,evaluated_until}'::text[]),
  '{"status": "healthy", "waiting": false, "late_rules": 0, "late_seconds": 120}'::jsonb,
  'health allows a few minutes'
);
update logloom.alert_rules set asked_at = pg_temp.at('11:50') where name = 'new 4';
select is(
  (logloom_private.alert_health(pg_temp.at('12:02:10'), pg_temp.at('12:02:05'))
    - '{watermark_age_seconds,evaluated_until}'::text[]),
  '{
    "status": "degraded", "waiting": false, "late_rules": 1, "late_seconds": 720,
    "reason": "1 alert rules are late, by up to 00:12:00: list_alert_rules shows late_seconds"
  }'::jsonb, 'health is degraded after more than five'
);
select pg_temp.act_as_user('acme', 'alice');
select is(
  (select r.late_seconds from public.list_alert_rules(p_limit => 1000) r where r.name = 'new 4'),
  720::double precision, 'as the list does'
);
select pg_temp.act_as_postgres();
select pg_temp.round('12:03') \g /dev/null
select is(
  (select max(logloom_private.late_seconds(r)) from logloom.alert_rules r),
  0::double precision, 'after its turn no rule is late'
);
update logloom.alert_rules set enabled = false, asked_at = pg_temp.at('11:00');
select is(
  (select max(logloom_private.late_seconds(r)) from logloom.alert_rules r), 0::double precision,
  'a disabled rule is not late'
);

select * from finish();
rollback;
