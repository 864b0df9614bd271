begin;
-- The day of 26 October 2025 has 25 hours there.
set local timezone = 'Europe/Berlin';
select plan(5);

select is_empty(
  $$select c.relname
    from pg_inherits i
    join pg_class c on c.oid = i.inhrelid
    cross join regexp_match(
      pg_get_expr(c.relpartbound, c.oid), 'FROM \(''(.*)''\) TO \(''(.*)''\)'
    ) b
    where i.inhparent = 'logloom.logs'::regclass
      and (b[1]::timestamptz, b[2]::timestamptz) is distinct from (
        to_date(c.relname, '"logs_"YYYY_MM_DD')::timestamp at time zone 'UTC',
        (to_date(c.relname, '"logs_"YYYY_MM_DD') + 1)::timestamp at time zone 'UTC'
      )$$,
  'each partition holds a day of UTC'
);

insert into logloom_private.log_days (tenant_id, day)
values ('acme', '2025-10-26'), ('acme', '2025-10-27');
insert into logloom_private.log_counts (tenant_id, minute, events)
values
  ('acme', '2025-10-26 00:00Z', 1), ('acme', '2025-10-26 23:59Z', 2),
  ('acme', '2025-10-27 00:00Z', 4), ('acme', '2025-10-27 00:59Z', 8);
select logloom_private.recount_records('2025-10-26');
select is(
  (select sum(c.events) from logloom_private.log_counts c where c.tenant_id = 'acme'),
  12::numeric, 'a day that is counted anew is one of UTC'
);

select is(
  logloom_private.time_parameter('p_ts_from', '2025-10-26T10:00'),
  '2025-10-26T10:00Z'::timestamptz, 'a time that names no zone is one of UTC'
);
select is(
  logloom_private.time_parameter('p_ts_from', '2025-10-26'),
  '2025-10-26T00:00Z'::timestamptz, 'and so is a day'
);
select is(
  logloom_private.time_parameter('p_ts_from', '2025-10-26T10:00+01:00'),
  '2025-10-26T09:00Z'::timestamptz, 'a zone that is named counts'
);

select * from finish();
rollback;
