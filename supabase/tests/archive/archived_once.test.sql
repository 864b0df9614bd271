-- Each record is archived once, whether it is a row or sealed, early or late. Retention keeps
-- records that are not archived.
begin;
\ir ../actors.psql
\ir ../search/records.psql
\ir bucket.psql
select plan(23);

insert into logloom.tenants (tenant_id, plan_id)
select 'small', t.plan_id from logloom.tenants t where t.tenant_id = 'acme';
create temp table clock as
select
  -- The first day of a month that ended long ago, and a later day of that month.
  m.month::date as month, m.month::date + 10 as day
from date_trunc('month', now() at time zone 'UTC' - interval '100 days') m (month);
grant select on clock to public;
update logloom.plans
set archive_days = 3650, retention_days_default = 30, retention_days_max = 30,
  max_restored_days = 40;
update logloom_private.settings
set seal_day_records = 50, seal_week_records = 5, seal_block_records = 40;

create function pg_temp.add(p_tenant text, p_day date, p_records integer, p_write_seq bigint)
returns void
language sql
as $$
  select pg_temp.add_records(
    jsonb_agg(jsonb_build_object(
      'tenant', p_tenant,
      'ts', (p_day::timestamp at time zone 'UTC') + i * interval '61.5 seconds',
      'level', (array['info', 'error'])[1 + i % 2], 'service', 'api',
      'msg', format('request %s took %s ms', i, i * 7),
      'user_id', 'u' || i % 3,
      'attrs', jsonb_build_object('status', 200 + i % 5, 'n', i / 8.0)
    )),
    p_write_seq
  )
  from generate_series(1, p_records) i
$$;

-- True if retention must keep a day of the tenant, so many days after the clock's day.
create function pg_temp.awaits(p_tenant text, p_days integer default 0)
returns boolean
language sql
as $$
  select logloom_private.awaits_archive(
    p_tenant, c.day + p_days, logloom_private.utc_day(now())
  ) from clock c
$$;

create temp table given_out (tenant_id text, id uuid, first_day date, last_day date);

-- Settles the claim of a written file.
create function pg_temp.settle(p_work json)
returns void
language sql
as $$
  select logloom_private.settle_archive_work(
    (p_work ->> 'claim_id')::uuid, null,
    jsonb_build_object(
      'records', json_array_length(p_work -> 'columns' -> 'id'), 'bytes', 1000, 'sha256', 'digest'
    ),
    '[]'
  )
$$;

-- Does all due work like the edge function, but without a bucket. Returns the number of files.
create function pg_temp.archive()
returns integer
language plpgsql
as $$
declare
  v_work json;
  v_files integer := 0;
begin
  update logloom_private.archive_bucket b set planned_at = null where b.singleton;
  perform logloom_private.plan_archive(now());
  loop
    v_work := logloom_private.claim_archive_work() -> 'work';
    exit when v_work is null;
    if v_work ->> 'kind' <> 'write' then
      raise exception 'unexpected work: %', v_work;
    end if;
    insert into given_out
    select
      v_work ->> 'tenant_id', i::uuid, (v_work ->> 'first_day')::date,
      (v_work ->> 'last_day')::date
    from json_array_elements_text(v_work -> 'columns' -> 'id') i;
    perform pg_temp.settle(v_work);
    v_files := v_files + 1;
  end loop;
  return v_files;
end;
$$;

-- Returns how many records of the tenant were not archived exactly once.
create function pg_temp.amiss(p_tenant text)
returns bigint
language sql
as $$
  select count(*)
  from (
    select r.id from pg_temp.all_records() r where r.tenant_id = p_tenant
    except select g.id from given_out g
    union all
    select g.id from given_out g where g.tenant_id = p_tenant group by g.id having count(*) > 1
  ) a
$$;

select pg_temp.add('acme', c.day, 100, 101) from clock c;
select pg_temp.add('acme', c.day + 1, 12, 102) from clock c;
select pg_temp.add('small', c.day - 2, 7, 103) from clock c;
select pg_temp.add('small', c.day + 9, 7, 104) from clock c;

select ok(pg_temp.awaits('acme'), 'a day that is not archived waits');
select ok(not pg_temp.awaits('nobody'), 'a day of a deleted tenant does not wait');
select is(
  pg_temp.archive(), 7, 'a large day has files of its own, small ones share their month''s'
);
select is(pg_temp.amiss('acme') + pg_temp.amiss('small'), 0::bigint, 'each record is in one file');
select results_eq(
  $$ select g.tenant_id, g.first_day, g.last_day, count(*) from given_out g
    group by 1, 2, 3 order by 1, 2, 3 $$,
  $$ select * from (
      select 'acme', c.month, (c.month + interval '1 month' - interval '1 day')::date, 12::bigint
      from clock c
      union all
      select 'acme', c.day, c.day, 100::bigint from clock c
      union all
      select 'small', c.month, (c.month + interval '1 month' - interval '1 day')::date, 14::bigint
      from clock c
    ) w $$,
  'files are named after their days'
);
select ok(
  not pg_temp.awaits('acme') and not pg_temp.awaits('small', 9), 'an archived day does not wait'
);
select is(pg_temp.archive(), 0, 'nothing is archived twice');

-- A record stays archived when it moves between rows and blocks.
select logloom_private.seal_block('acme', array[c.day]) from clock c;
select logloom_private.seal_block('acme', array[c.day]) from clock c;
select logloom_private.merge_small_blocks('acme', c.day, 1, false) from clock c;
select is(pg_temp.archive(), 0, 'sealing and merging archive nothing again');
select ok(not pg_temp.awaits('acme'), 'and the day does not wait');
select logloom_private.unseal_day('acme', c.day) from clock c;
select is(pg_temp.archive(), 0, 'nor does unsealing');

-- Late records are archived: a few that stay rows, and many that are sealed.
select pg_temp.add('acme', c.day, 3, 105) from clock c;
select ok(pg_temp.awaits('acme'), 'a day with a late record waits');
select is(pg_temp.archive(), 1, 'late records get a file of their own');
select pg_temp.add('acme', c.day, 60, 106) from clock c;
select logloom_private.seal_block('acme', array[c.day]) from clock c;
select is(pg_temp.archive(), 3, 'also from a block that contains archived records');
select is(pg_temp.amiss('acme'), 0::bigint, 'each record is still in one file');

-- A file that was read before an erasure is discarded.
select pg_temp.add('acme', c.day + 2, 55, 107) from clock c;
update logloom_private.archive_bucket b set planned_at = null where b.singleton;
select logloom_private.plan_archive(now());
create temp table taken as select logloom_private.claim_archive_work() -> 'work' as work;
select logloom_private.begin_archive_erasure(
  gen_random_uuid(), 'acme', 'user_id:u1', now(), '1970-01-01', now()
);
select pg_temp.settle(t.work) from taken t;
select results_eq(
  $$ select g.reason from logloom_private.archive_garbage g, taken t
    where g.object_key = t.work ->> 'key' $$,
  array['abandoned'], 'its object is to be deleted'
);
select is_empty(
  $$ select from logloom.archive_parts p, taken t where p.object_key = t.work ->> 'key' $$,
  'and it has no part'
);
select is(
  logloom_private.end_archive_erasure(e.run_id), false, 'the erasure waits for its deletion'
)
from logloom_private.archive_erasures e;
select ok(
  logloom_private.claim_write() is null, 'nothing of the tenant is archived meanwhile'
);
delete from logloom_private.archive_garbage g where true;

-- If reading records takes too long, the next attempt reads fewer.
delete from logloom_private.archive_erasures e where true;
create function pg_temp.claimed()
returns integer
language sql
as $$
  update logloom_private.archive_passes p set next_attempt_at = now() where true;
  select (logloom_private.claim_write() ->> 'records')::integer
$$;
create or replace function logloom_private.archive_columns(p_records logloom.logs[])
returns json
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if (select p.failures = 1 from logloom_private.archive_passes p) then
    perform pg_sleep(60);
  end if;
  return '{}';
end;
$$;
set local statement_timeout = '300ms';
select is(pg_temp.claimed(), null, 'reading ends before the gateway''s timeout');
set local statement_timeout = 0;
select results_eq(
  $$ select p.failures, p.error from logloom_private.archive_passes p $$,
  $$ values (2, 'Reading the records took too long') $$,
  'and the pass notes the error'
);
select is(pg_temp.claimed(), 5, 'after two failures the next file has a quarter of the records');

-- archive_overtaken decides what happens if the archive is too late.
update logloom_private.settings set archive_overtaken = 'drop', archive_grace = '7 days';
select is(
  array(
    select logloom_private.awaits_archive('acme', c.day + 2, c.day + 2 + d)
    from unnest('{31,37,38}'::integer[]) d
  ),
  array[true, true, false], 'after archive_grace a day is not kept for the archive'
)
from clock c;

-- Retention waits for the archive.
update logloom_private.settings set archive_overtaken = 'keep';
select is(
  logloom_private.expired_tenants(c.day + 2, logloom_private.utc_day(now()), '', 100), '{}'::text[],
  'retention skips a tenant whose day waits'
)
from clock c;

select * from finish();
rollback;
