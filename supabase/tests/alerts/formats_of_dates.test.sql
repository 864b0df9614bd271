begin;
\ir rounds.psql
select plan(3);

select pg_temp.rule('level:error', 'gte', 1, 5, 0, 'groups') \g /dev/null
select pg_temp.rule('level:error | count() by level', 'gte', 1, 5, 0, 'scan') \g /dev/null
select pg_temp.rule('msg:~"^sl.w"', 'gte', 1, 5, 0, 'reads') \g /dev/null

-- PostgreSQL writes India's time as IST, but reads IST as Israel's time.
set local timezone = 'Asia/Kolkata';
set local datestyle = 'SQL, DMY';
select isnt(now()::text::timestamptz, now(), 'this project reads its own times wrongly');
select pg_temp.round('12:00:00') \g /dev/null
select pg_temp.arrive('12:00:30', 'slow', null, 'error');
select is(pg_temp.round('12:01:00'), 3, 'rules still fire for the records in their window');
select is(pg_temp.fired(), '{12:01 groups 1,12:01 reads 1,12:01 scan 1}', 'each of them');

select * from finish();
rollback;
