-- Retention rules keep records of a level or service for days of their own.
begin;
\ir ../actors.psql
\ir ../search/records.psql
select plan(30);
update logloom.plans set retention_days_default = 10, retention_days_max = 40;
update logloom_private.settings set seal_day_records = 5;
insert into logloom.tenants (tenant_id, plan_id) values ('acme', 'pro'), ('rows', 'pro');

create function pg_temp.day(p_ago integer)
returns date
language sql
return logloom_private.utc_day(now()) - p_ago;

-- Each of these days has 20 debug records, 15 of info and 5 errors.
select pg_temp.add_records(jsonb_agg(jsonb_build_object(
  'tenant', t, 'ts', logloom_private.day_start(pg_temp.day(d)) + i * interval '10 minutes',
  'msg', format('event %s', i), 'service', case when i % 2 = 0 then 'api' else 'pay' end,
  'level', case when i <= 20 then 'debug' when i <= 35 then 'info' else 'error' end
)))
from unnest(array['acme', 'rows']) t, unnest(array[2, 4, 12, 21]) d, generate_series(1, 40) i;

-- Returns acme's blocks: age, kept_days, records, and h if they hold their counts.
create function pg_temp.blocks()
returns text
language sql
return (
  select string_agg(
    concat(b.age, ':', b.kept_days, ':', b.records, case when b.holds_counts then 'h' end),
    ' ' order by b.age, b.kept_days nulls first, b.records
  )
  from (
    select c.*, pg_temp.day(0) - logloom_private.utc_day(c.last_ts) as age
    from logloom_private.blocks c where c.tenant_id = 'acme'
  ) b
);
create function pg_temp.retain(p_days integer)
returns void
language sql
as $$
  select logloom_private.begin_retention(pg_temp.day(-p_days));
  select pg_temp.repeat_while('logloom_private.retention_step() is not null')
$$;
-- Returns what a user finds: the sum of the counts, and the records by level.
create function pg_temp.found(p_tenant text)
returns text
language sql
as $$
  select pg_temp.act_as_user(p_tenant, 'alice');
  select concat_ws(
    ' ', (public.log_histogram(p_ts_from => '2000-01-01', p_ts_to => 'now')).total,
    string_agg(s."group" ->> 'level' || ' ' || s.value, ' ' order by s."group" ->> 'level'),
    nullif(pg_temp.act_as('none')::text, '')
  )
  from public.log_stats('event | count() by level', '2000-01-01', 'now') s
$$;

select pg_temp.act_as_user('acme', 'alice');
select is(
  pg_temp.attempt(format('select public.set_retention_rules(p_rules => %L)', c.rules)),
  'PT400 Invalid p_rules: ' || c.message, c.message
)
from (
  values
    ('{"level": "debug", "days": 3}', 'it must be an array of objects'),
    ((select jsonb_agg('{"service": "a", "days": 1}'::jsonb) from generate_series(1, 6))::text,
      'rule 6 is one too many (max 5)'),
    ('[{"level": "debug", "days": 3, "x": 1}]', 'rule 1 has an unknown member'),
    ('[{"level": "trace", "days": 3}]', 'rule 1 must have the level debug, info, warn or error'),
    ('[{"service": "", "days": 3}]', 'rule 1 must have a service of 1 to 255 characters'),
    ('[{"level": null, "days": 3}]', 'rule 1 has neither level nor service'),
    ('[{"level": "info", "days": 0}]', 'rule 1 must have 1 to 40 whole days'),
    ('[{"level": "info", "days": 41}]', 'rule 1 must have 1 to 40 whole days')
) c (rules, message);
select is(
  s.retention_rules::text, $${"(error,pay'%,1)","(debug,,3)","(error,,20)"}$$, 'they are set'
)
from public.set_retention_rules(p_rules => '[{"level": "error", "service": "pay''%", "days": 1},
  {"level": "debug", "days": 3}, {"level": "error", "days": 20}]') s;
select is(e.details #>> '{retention_rules,to,1,days}', '3', 'and audited')
from public.list_tenant_audit_events() e;
select is(left(pg_temp.found('acme'), 3), '120', 'the longest rule decides what can be read');
insert into logloom.tenant_settings (tenant_id, compression, retention_rules, rules_days_max)
select 'rows', false, s.retention_rules, 20
from logloom.tenant_settings s where s.tenant_id = 'acme';
select pg_temp.repeat_while('logloom_private.seal_step_at(now()) is not null');
select is(
  pg_temp.blocks(),
  '2::15 2:3:20 2:20:5 4::15 4:3:20 4:20:5 12::15 12:3:20 12:20:5 21::15 21:3:20 21:20:5',
  'records are sealed by the days that they are kept'
);
-- A damaged block stays. It keeps no other block of its day.
savepoint intact;
update logloom_private.blocks b set checksum = 'damaged'
where b.tenant_id = 'acme' and b.kept_days = 3
  and logloom_private.utc_day(b.last_ts) = pg_temp.day(12);
select pg_temp.retain(0);
select pg_temp.blocks() as blocks, count(*) as damaged
from logloom_private.blocks b where b.damaged_at is not null \gset
rollback to savepoint intact;
select is(
  :'blocks'::text, '2::15 2:3:20 2:20:5 4::15 4:20:5 12:3:20 12:20:5', 'a damaged block stays alone'
);
select is(:damaged, 1, 'and is marked');

insert into logloom.log_streams (tenant_id, name, kind, config, position_seq, query_dsl)
select t, t || ' ' || q, 'webhook', '{}', 1 + (q = 'ahead')::int, nullif(q, 'all')
from unnest('{acme,rows}'::text[]) t, unnest('{ahead,all,level:error,level:}'::text[]) q;
select pg_temp.retain(0);
select is(
  pg_temp.blocks(), '2::15 2:3:20 2:20:5 4::15 4:20:5 12:20:5', 'retention drops whole blocks'
);
select is(pg_temp.found(t), '65 debug 20 error 15 info 30', t || ': counts and records agree')
from unnest(array['acme', 'rows']) t;
select is(
  array(
    select concat_ws(' ', s.name, pg_temp.day(0) - logloom_private.utc_day(f.ts_from))
    from logloom.log_stream_failures f join logloom.log_streams s on s.stream_id = f.stream_id
    order by s.name collate "C", f.ts_from desc
  ),
  '{acme all 4,acme all 12,acme all 21,acme level: 4,acme level: 12,acme level: 21,
    acme level:error 21,rows all 4,rows all 12,rows all 21,rows level: 4,rows level: 12,
    rows level: 21,rows level:error 21}',
  'streams that lost records note gaps for the days of these'
);
select is(r.records, 95::bigint, 'with a receipt') from logloom.retention_runs r;
select pg_temp.repeat_while('logloom_private.verify_on()');
select is_empty('select from logloom_private.verification_differences', 'a verification agrees');
insert into logloom.retention_runs (
  tenant_id, kind, status, requested_by, query_dsl, ts_from, ts_to
)
values ('acme', 'erasure', 'queued', 'alice', 'service:api NOT level:debug', '-infinity', now());
select pg_temp.repeat_while($$logloom_private.deletion_step(
  (select r.run_id from logloom.retention_runs r where r.kind = 'erasure'))$$);
select is(
  pg_temp.blocks(), '2::8 2:3:20 2:20:2 4::8 4:20:2 12:20:2', 'an erasure reaches all blocks'
);
select is(pg_temp.found('acme'), '42 debug 20 error 6 info 16', 'and the counts agree');

update logloom.plans set archive_days = 3650;
select pg_temp.retain(3);
select is(pg_temp.blocks(), '2::8 2:3:20 2:20:2 4::8 4:20:2 12:20:2', 'what is not archived stays');
create temp table archived as
select jsonb_agg(to_jsonb(l)) as records from pg_temp.all_records() l
where l.tenant_id = 'acme' and logloom_private.utc_day(l.ts) = pg_temp.day(2);
insert into logloom_private.archived_days values ('acme', pg_temp.day(2), 1);
insert into logloom.archive_parts (
  tenant_id, first_day, last_day, write_seq, object_key, status, first_ts, last_ts, records, bytes,
  sha256, verified_at
)
select 'acme', pg_temp.day(2), pg_temp.day(2), 1, 'key', 'verified', d.d, d.d + '23 h', 30, 1, 'x',
  now()
from logloom_private.day_start(pg_temp.day(2)) d (d);
select pg_temp.retain(3);
select is(pg_temp.blocks(), '2::8 2:20:2 4::8 4:20:2 12:20:2', 'what is archived goes');
select pg_temp.repeat_while('logloom_private.verify_on()');
select is_empty(
  $$select from logloom_private.verification_differences d
    where d.kind = 'archive' and d.day = pg_temp.day(2)$$,
  'the archive may have more'
);
select is(
  logloom_private.store_restored(p, jsonb_populate_record(null::logloom.archive_restores, '{
    "query_dsl": "*", "requested_at": "now", "ts_from": "-infinity", "ts_to": "infinity"
  }'), a.records), 20, 'a restore adds only what is missing'
)
from logloom.archive_parts p, archived a;
update logloom.plans set archive_days = 0;
select pg_temp.act_as_user('acme', 'alice');
select from public.set_retention_rules(p_rules => '[]');
select pg_temp.act_as_postgres();
select pg_temp.retain(8);
select is(pg_temp.blocks(), '2::8 2::20h 2:20:2 4:20:2 12:20:2', 'sealed records keep their days');
select pg_temp.retain(19), pg_temp.retain(21);
select is(s.rules_days_max, null, 'until the longest of them is over')
from logloom.tenant_settings s where s.tenant_id = 'acme';

-- Sealing goes on with the days of the last block and does not count all rows for the others.
set local enable_seqscan = off;
update logloom_private.settings set seal_block_records = 10;
insert into logloom.tenants (tenant_id, plan_id) values ('debug', 'pro');
insert into logloom.tenant_settings (tenant_id, retention_rules, rules_days_max)
values ('debug', array[row('debug', null, 3)::public.logloom_retention_rule], 3);
select pg_temp.add_records(jsonb_agg(jsonb_build_object(
  'tenant', 'debug', 'level', case when i = 1 then 'warn' else 'debug' end,
  'ts', logloom_private.day_start(pg_temp.day(2)) + i * interval '1 minute'
)))
from generate_series(1, 400) i;
select pg_temp.repeat_while('logloom_private.seal_day_step(pg_temp.day(2), now())');
select cmp_ok(
  s.idx_tup_fetch, '<', 4000::bigint, 'it reads each of 400 rows a few times, in 40 steps'
)
from pg_stat_xact_user_tables s where s.relname = logloom_private.partition_name(pg_temp.day(2));

select * from finish();
rollback;
