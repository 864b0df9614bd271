-- At the storage limit the oldest days of all tenants are dropped, or ingest is refused.
begin;
\ir ../actors.psql
\ir ../search/records.psql
\ir ../ingest.psql
set local client_min_messages = warning;
select plan(20);

-- A record takes 1000 bytes, as a row and in a block.
create or replace function logloom_private.relation_bytes(p_relation regclass)
returns bigint
language plpgsql
stable
as $$
declare
  v_records bigint;
begin
  if p_relation::text not like 'logloom.logs\_%' then
    return 0;
  end if;
  execute format('select count(*) from %s', p_relation) into v_records;
  return v_records * 1000;
end;
$$;

insert into logloom.tenants (tenant_id, plan_id)
values ('acme', 'pro'), ('globex', 'pro'), ('small', 'pro'), ('kept', 'free'), ('ops', 'pro');
-- Days of the tenant "kept" wait for the archive, because there is no bucket.
update logloom.plans set archive_days = 100 where plan_id = 'free';
update logloom_private.settings set project_tenant_id = 'ops';

create function pg_temp.day(p_days_ago integer)
returns date
language sql
return logloom_private.utc_day(now()) - p_days_ago;
select pg_temp.add_records(jsonb_agg(jsonb_build_object(
  'tenant', f.tenant, 'level', 'info', 'msg', 'event ' || i,
  'ts', logloom_private.day_start(pg_temp.day(d)) + i * interval '1 second'
)))
from (
  values ('acme', 0, 5, 10), ('globex', 2, 3, 5), ('kept', 4, 4, 10), ('small', 3, 5, 1)
) f (tenant, newest, oldest, records),
  generate_series(f.newest, f.oldest) d, generate_series(1, f.records) i
\g /dev/null
-- A block with records of three days.
select logloom_private.write_block(
  'small',
  logloom_private.read_records('select l.* from logloom.logs l where l.tenant_id = ''small'''), true
), pg_temp.remove_records('l.tenant_id = ''small''')
\g /dev/null
update logloom_private.blocks set bytes = round(1000 * records / 1.2) where tenant_id = 'small';
select logloom_private.compact_log_counts();

-- Does the job's work in one transaction, with this limit.
create function pg_temp.bound(p_limit bigint, p_policy text default 'drop_oldest')
returns bigint
language plpgsql
as $$
begin
  update logloom_private.settings set max_storage_bytes = p_limit, storage_policy = p_policy;
  perform pg_temp.repeat_while('logloom_private.bound_storage() is not null');
  return (select s.bytes from logloom_private.storage s);
end;
$$;
-- Returns the receipts since the last call: tenant, age of the deleted day in days, and records.
create function pg_temp.receipts()
returns text[]
language sql
as $$
  with seen as (
    update logloom.audit_events e set subject = 'seen'
    where e.action = 'logs.day_dropped' and e.subject <> 'seen'
    returning *
  )
  select array_agg(
    format(
      '%s %s %s', e.tenant_id, logloom_private.utc_day(now()) - o.subject::date,
      e.details ->> 'records'
    )
    order by o.subject, e.tenant_id
  )
  from seen e
  join logloom.audit_events o using (event_id)
$$;
create function pg_temp.told()
returns text[]
language sql
as $$
  select array_agg(q.msg[1] || ' ' || q.level[1] order by q.batch_id)
  from logloom_private.queue q
  where q.tenant_id = 'ops'
$$;

select is(pg_temp.bound(null), 83000::bigint, 'without a limit everything stays, and is measured');
select is(
  logloom_private.storage_health() - 'measured_at',
  '{
    "status": "healthy", "stored_bytes": 83000, "limit_bytes": null, "percent": null,
    "policy": "drop_oldest", "days_until_full": null, "bytes_per_day": null, "reusable_bytes": 0
  }',
  'and health shows its size'
);

select is(pg_temp.bound(103750), 83000::bigint, 'at 80 % nothing is dropped');
select is(
  logloom_private.storage_health() ->> 'reason', 'Storage is 80 % full (81 kB of 101 kB)',
  'but health is degraded'
);
select pg_temp.bound(103750);
select is(
  pg_temp.told(), '{Storage is 80 % full (81 kB of 101 kB) warn}', 'and operators are told once'
);
select is(
  (logloom_private.read_health() #>> '{endpoints,ready,checks,storage,status}'), 'degraded',
  'ready shows it'
);

select is(pg_temp.bound(83000), 73000::bigint, 'at the limit the oldest day is dropped');
select is(pg_temp.receipts(), '{acme 5 10}', 'with a receipt for the tenant that had it');
select is(pg_temp.bound(60000), 45000::bigint, 'days are dropped until 95 % are left');
select is(
  pg_temp.receipts(), '{acme 4 10,acme 3 10,globex 3 5,small 3 3}',
  'a block is dropped with its last day, and days that wait for the archive stay'
);
select results_eq(
  $$select distinct r.kind, r.status, r.requested_by from logloom.retention_runs r$$,
  $$values ('storage', 'done', 'storage')$$, 'the list of deletions shows them'
);
select is(
  pg_temp.bound(30000), 20000::bigint, 'days are dropped unarchived before ingest is refused'
);
select is(pg_temp.receipts(), '{kept 4 10,acme 2 10,globex 2 5}', 'with receipts');

select is(pg_temp.bound(20000), 20000::bigint, 'today and yesterday always stay');
select is(
  pg_temp.ingest('acme', 1) #- '{headers,X-RateLimit-Reset}' #- '{headers,X-Logloom-Writer}'
    #- '{headers,X-RateLimit-Limit}' #- '{headers,X-RateLimit-Remaining}',
  '{
    "status": 503, "message": "Storage is full, try again later",
    "headers": {"Retry-After": "60"}
  }',
  'if these two days are too large, ingest is refused'
);
select is(
  array[h ->> 'status', h ->> 'reason'],
  '{unhealthy,"Storage is full (20 kB of 20 kB): ingest is refused"}', 'as health says'
)
from logloom_private.storage_health() h;
select is(
  pg_temp.told(),
  '{Storage is 80 % full (81 kB of 101 kB) warn,Storage is 100 % full (81 kB of 81 kB) warn,'
    'Storage is full (20 kB of 20 kB): ingest is refused warn}',
  'operators are told once, and again after it was below 70 %'
);

select is(
  array[
    pg_temp.bound(20000, 'refuse')::text, pg_temp.ingest('acme', 1) ->> 'status',
    pg_temp.bound(40000, 'refuse')::text, pg_temp.ingest('acme', 1) ->> 'status'
  ],
  '{20000,503,20000,200}', 'with the policy refuse nothing is dropped, and ingest resumes by itself'
);

insert into logloom_private.storage_hours (hour, measured_at, bytes)
select date_trunc('hour', s.measured_at, 'UTC') - d * interval '24 hours',
  s.measured_at - d * interval '24 hours', 20000 - d * 5000
from logloom_private.storage s, generate_series(1, 2) d;
select is(
  array[h -> 'bytes_per_day', h -> 'days_until_full', h -> 'percent'], '{5000,4.0,50.0}',
  'the forecast uses the last days'
)
from logloom_private.storage_health() h;
update logloom_private.settings set max_storage_bytes = 25000;
select is(
  logloom_private.storage_health() ->> 'reason',
  'Storage is 80 % full (20 kB of 24 kB), full in 1.0 days at this rate', 'and health names it'
);

select * from finish();
rollback;
