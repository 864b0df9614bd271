begin;
\ir ../search/records.psql
-- 26 October 2025 has 25 hours in Berlin.
set local timezone = 'Europe/Berlin';
select plan(8);

insert into logloom_private.log_days (tenant_id, day)
values ('acme', '2025-10-26'), ('acme', '2025-10-27');
insert into logloom_private.log_counts (tenant_id, minute, events)
values
  ('acme', '2025-10-26 00:00Z', 1), ('acme', '2025-10-26 23:59Z', 2),
  ('acme', '2025-10-27 00:00Z', 4), ('acme', '2025-10-27 00:59Z', 8);
select logloom_private.recount_records('2025-10-26');
select is(
  (select sum(c.events) from logloom_private.log_counts c where c.tenant_id = 'acme'),
  12::numeric, 'recounting uses the UTC day'
);

select is(
  logloom_private.time_parameter('p_ts_from', '2025-10-26T10:00'),
  '2025-10-26T10:00Z'::timestamptz, 'a time without a zone is in UTC'
);
select is(
  logloom_private.time_parameter('p_ts_from', '2025-10-26'),
  '2025-10-26T00:00Z'::timestamptz, 'so is a day'
);
select is(
  logloom_private.time_parameter('p_ts_from', '2025-10-26T10:00+01:00'),
  '2025-10-26T09:00Z'::timestamptz, 'a time with a zone keeps it'
);

-- An operator may use these time zones. In Cairo 24 April begins at one o'clock. In Shanghai times
-- are printed with CST, which also stands for Chicago's time.
select pg_temp.add_records(
  jsonb_agg(jsonb_build_object(
    'ts', '2026-04-22 03:30Z'::timestamptz + i * interval '6 hours', 'level', 'info'
  ))
)
from generate_series(0, 20) i;
select logloom_private.seal_block('acme', array_agg(d.day::date), true)
from generate_series('2026-04-22'::timestamp, '2026-04-27', '1 day') d (day);
set local timezone = 'Africa/Cairo';
select is(
  logloom_private.unseal_day('acme', '2026-04-23'), 21::bigint,
  'a block is unsealed although one of its days has 23 hours'
);
select results_eq(
  $$select logloom_private.utc_day(l.ts), count(*)
    from logloom.logs l where l.tenant_id = 'acme' group by 1 order by 1$$,
  $$values
    ('2026-04-22'::date, 4::bigint), ('2026-04-23', 4), ('2026-04-24', 4), ('2026-04-25', 4),
    ('2026-04-26', 4), ('2026-04-27', 1)$$,
  'into UTC days'
);
set local timezone = 'Asia/Shanghai';
set local datestyle = 'SQL, DMY';
select logloom_private.recount_records('2026-04-23');
select results_eq(
  $$select logloom_private.utc_day(c.minute), sum(c.events)::integer
    from logloom_private.log_counts c
    where c.tenant_id = 'acme' and c.minute > '2026-04-01 00:00Z' group by 1 order by 1$$,
  $$values
    ('2026-04-22'::date, 4), ('2026-04-23', 4), ('2026-04-24', 4), ('2026-04-25', 4),
    ('2026-04-26', 4), ('2026-04-27', 1)$$,
  'recounting does not depend on the date style'
);
select results_eq(
  $$select d.day from logloom_private.log_days d
    where d.tenant_id = 'acme' and d.day = '2026-04-23'$$,
  $$values ('2026-04-23'::date)$$, 'and the day stays in log_days'
);

select * from finish();
rollback;
