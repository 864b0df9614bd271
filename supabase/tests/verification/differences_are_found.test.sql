-- A verification finds and names what differs from what was stored, and changes nothing.
begin;
\ir ../actors.psql
\ir ../search/records.psql
select plan(19);

insert into logloom.tenants (tenant_id, plan_id) values ('acme', 'free'), ('other', 'free');
select set_config('logloom_test.sealed', 'some', true);
select pg_temp.add_records(
  (
    select jsonb_agg(jsonb_build_object(
      'tenant', t.tenant_id, 'ago', '10 days', 'service', 'api', 'level', 'info',
      'msg', format('request %s', i)
    ))
    from generate_series(1, 90) i, (values ('acme'), ('other')) t (tenant_id)
  )
);

-- Runs a whole verification.
create function pg_temp.verify()
returns logloom_private.verifications
language sql
as $$
  select pg_temp.repeat_while('logloom_private.verify_on()');
  select v.*
  from logloom_private.verifications v
  order by v.verification_id desc
  limit 1
$$;

create function pg_temp.found()
returns setof text
language sql
as $$
  select concat_ws(
    ' ', d.kind, d.tenant_id, d.day = logloom_private.utc_day(now() - interval '10 days'), d.detail
  )
  from logloom_private.verification_differences d
  where d.verification_id = (select max(v.verification_id) from logloom_private.verifications v)
  order by d.difference_id
$$;

-- Flips a bit in a block, or flips it back.
create function pg_temp.flip()
returns void
language sql
as $$
  update logloom_private.blocks b
  set digits = set_byte(b.digits || ''::bytea, 0, get_byte(b.digits, 0) # 1)
  where b.tenant_id = 'acme'
$$;

create function pg_temp.health(p_member text)
returns text
language sql
return logloom_private.read_health() #>> array['checks', 'verification', p_member];

create temp table kept as select r.* from pg_temp.all_records() r;

select is(pg_temp.health('status'), 'healthy', 'healthy before the first verification');
select results_eq(
  'select (v).blocks, (v).records, (v).differences from pg_temp.verify() v',
  'values (2::bigint, 180::bigint, 0::bigint)', 'all blocks and all records are verified'
);
select isnt(pg_temp.health('last_finished'), null, 'health shows when it ended');
select is(logloom_private.verify_step(), null, 'the job waits until the next verification is due');
update logloom_private.settings set verify_every = '0';
select cmp_ok(
  logloom_private.verify_step(), '>', interval '0', 'then it begins one and pauses after each step'
);
select pg_temp.verify();

-- A flipped bit in a block.
select pg_temp.flip();
select is((pg_temp.verify()).differences, 1::bigint, 'a flipped bit is found');
select results_eq(
  'select pg_temp.found()', $$values ('block acme t its checksum differs')$$, 'and described'
);
select is(
  (
    select d.block_id
    from logloom_private.verification_differences d
    where d.verification_id = (select max(v.verification_id) from logloom_private.verifications v)
  ),
  (select b.block_id from logloom_private.blocks b where b.tenant_id = 'acme'),
  'with its block'
);
select is(pg_temp.health('status'), 'degraded', 'health is degraded');
select is(pg_temp.health('differences'), '1', 'and shows the number');
select pg_temp.flip();
select is((pg_temp.verify()).differences, 0::bigint, 'a repaired block is no difference');
select is(pg_temp.health('status'), 'healthy', 'and health is healthy again');

-- One record is deleted without its count, another exists both as a row and in a block.
delete from logloom.logs l
where l.tenant_id = 'other' and l.id = (
  select r.id from logloom.logs r where r.tenant_id = 'other' order by r.id limit 1
);
insert into logloom.logs
select k.*
from kept k
where k.tenant_id = 'acme'
  and not exists (select from logloom.logs l where l.tenant_id = 'acme' and l.id = k.id)
order by k.id
limit 1;
select is((pg_temp.verify()).differences, 3::bigint, 'missing and duplicate records are found');
select matches(
  string_agg(f, E'\n'),
  '^count acme t .*: 1 more records than counted for service "api", level info
id acme t [0-9a-f-]{36} is stored 2 times
count other t .*: -1 more records than counted for service "api", level info$',
  'by tenant, day and minute'
)
from pg_temp.found() f;

-- The repair from docs/guides/operations.md.
delete from logloom.logs l
using logloom_private.blocks b, logloom_private.block_records(b.tenant_id, b.block_id, null, null) r
where l.tenant_id = b.tenant_id and l.id = r.id;
select logloom_private.recount_records(logloom_private.utc_day(now() - interval '10 days'));
select is(
  (
    select array_agg(n.name order by n.name)
    from unnest(enum_range(null::logloom_private.lock_name)) n (name)
    join pg_locks l on l.locktype = 'advisory' and l.pid = pg_backend_pid()
      and l.objid::bigint = logloom_private.lock_key(n.name)::bigint & 4294967295
    where n.name in ('deletion', 'writer', 'log_counts')
  ),
  '{deletion,writer,log_counts}', 'recounting locks out sealing and deletions, too'
);
select is((pg_temp.verify()).differences, 0::bigint, 'a recounted day has no difference');

select is(
  (
    select count(*)::integer
    from pg_proc p
    where p.oid in (
      'logloom_private.verify()'::regprocedure, 'logloom_private.verify_step()'::regprocedure,
      'logloom_private.verify_on()'::regprocedure
    ) and (
      has_function_privilege('authenticated', p.oid, 'execute')
      or has_function_privilege('service_role', p.oid, 'execute')
    )
  ),
  0, 'only operators may call it'
);
select is((select count(*)::integer from logloom_private.blocks b), 2, 'no block was changed');
select is(
  (select count(*)::integer from logloom_private.verifications v where v.finished_at is null),
  0, 'no verification is left open'
);

select * from finish();
rollback;
