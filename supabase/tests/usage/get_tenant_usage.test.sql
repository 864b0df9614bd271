begin;
set local timezone = 'UTC';
\ir ../actors.psql
\ir ../ingest.psql
\ir ../search/records.psql
select plan(10);

select pg_temp.act_as_user('acme', 'alice');
select throws_ok(
  'select public.get_tenant_usage()', 'PT404', 'Tenant not found',
  'not found before its first write'
);
select pg_temp.act_as_postgres();

insert into logloom.tenants (tenant_id, plan_id) values ('acme', 'free');
update logloom.plans set monthly_events_limit = 1000, monthly_bytes_limit = 3000
where plan_id = 'free';
insert into logloom.usage_days (tenant_id, day, events, bytes)
select 'acme', date_trunc('month', now() at time zone 'UTC') - u.ago, u.events, u.bytes
from (
  values
    ('0 days'::interval, 100, 200),
    ('1 day', 7, 8),
    ('1 month', 1, 1),
    ('1 month 1 day', 50, 60)
) u (ago, events, bytes);
select pg_temp.ingest('acme', 23, 100);

select pg_temp.act_as_user('acme', 'alice');
create temp table months as
select m.month, m.month + interval '1 month' as month_end from date_trunc('month', now()) m (month);
create temp table answer as select to_jsonb(u) as usage from public.get_tenant_usage() u;
select is(
  a.usage - '{month,resets_at,projected_events,projected_bytes,days,months}'::text[],
  '{
    "tenant_id": "acme", "events": 123, "bytes": 300, "monthly_events_limit": 1000,
    "monthly_bytes_limit": 3000, "events_percent": 12.30, "bytes_percent": 10.00,
    "stored": {"hot_bytes": 0, "sealed_bytes": 0}, "restored_records": 0,
    "dropped": 0, "rules": [], "services": [], "spans": 0
  }',
  'this month and the limits, with queued events'
)
from answer a;
select is(
  a.usage -> 'months',
  jsonb_build_array(jsonb_build_object(
    'month', to_char(now() at time zone 'UTC', 'YYYY-MM'), 'events', 123, 'bytes', 300
  )),
  'one month by default'
)
from answer a;
select is(sum((d ->> 'events')::integer), 123::bigint, 'by day')
from answer a, jsonb_array_elements(a.usage -> 'days') d;
select is(
  (a.usage ->> 'resets_at')::timestamptz, m.month_end, 'the limits reset with the next month'
)
from answer a, months m;
select ok(
  (a.usage ->> 'projected_events')::bigint >= 123
    and abs(
      (a.usage ->> 'projected_events')::numeric
      - 123 * extract(epoch from m.month_end - m.month)
        / greatest(86400, extract(epoch from now() - m.month))
    ) <= 1,
  'the projection assumes that the month goes on like it began'
)
from answer a, months m;
select is(
  (
    select jsonb_agg(to_jsonb(m) - 'month')
    from public.get_tenant_usage(p_months => 3) u, unnest(u.months) m
  ),
  '[{"events": 123, "bytes": 300}, {"events": 8, "bytes": 9}, {"events": 50, "bytes": 60}]',
  'months newest first'
);
select throws_ok(
  format('select public.get_tenant_usage(p_months => %s)', n), 'PT400', 'Invalid p_months: 1 to 24',
  n || ' months'
)
from unnest('{0,25}'::integer[]) n;

-- Adds old rows, and a block with its own counts.
select pg_temp.act_as_postgres();
select pg_temp.add_records(
  jsonb_agg(jsonb_build_object('ago', (240 + i % 3 * 24) || ' hours', 'msg', 'event ' || i))
)
from generate_series(1, 30) i;
select logloom_private.seal_block(
  'acme', array[logloom_private.utc_day(now() - interval '240 hours')], true
);
select pg_temp.add_records(jsonb_agg(jsonb_build_object('ago', '240 hours', 'msg', 'event ' || i)))
from generate_series(1, 10) i;
create temp table partitions as
select
  sum(
    pg_total_relation_size(format('logloom.%I', logloom_private.partition_name(d.day))::regclass)
  ) as bytes,
  (select c.bytes from logloom_private.blocks c where c.holds_counts) as sealed_bytes
from logloom_private.log_days d;
grant select on partitions to public;
select pg_temp.act_as_user('acme', 'alice');
select is(
  (public.get_tenant_usage()).stored,
  row(p.sealed_bytes, p.bytes)::public.logloom_stored,
  'the space of rows is known next to a block with its own counts'
)
from partitions p;

select * from finish();
rollback;
