-- Days that are over become blocks, late records are added, and no answer changes.
begin;
\ir ../actors.psql
\ir ../search/records.psql
select plan(40);

-- A Wednesday of a week that is over.
create temp table clock as
select (date_trunc('week', now() at time zone 'UTC') - interval '12 days')::date as day;
grant select on clock to public;
update logloom_private.settings set seal_day_records = 50, seal_week_records = 5;

create function pg_temp.add_day(p_day date, p_tenant text, p_records integer, p_write_seq bigint)
returns void
language sql
as $$
  select pg_temp.add_records(
    jsonb_agg(jsonb_build_object(
      'tenant', p_tenant,
      'ts', (p_day::timestamp at time zone 'UTC') + i * interval '61.5 seconds',
      'level', (array['info', 'warn', 'error'])[1 + i % 3],
      'service', (array['api', 'web'])[1 + i % 2],
      'msg', format('request %s of %s took %s ms', i, p_tenant, i * 7 % 100),
      'req_id', md5(p_tenant || i || p_write_seq),
      'attrs', jsonb_build_object('status', 200 + i % 5, 'path', '/p/' || i % 7)
    )),
    p_write_seq
  )
  from generate_series(1, p_records) i
$$;

-- Runs steps of the job until nothing is due.
create function pg_temp.seal(p_now timestamptz)
returns void
language sql
as $$
  select pg_temp.repeat_while(format('logloom_private.seal_step_at(%L) is not null', p_now))
$$;

create function pg_temp.answers()
returns jsonb
language plpgsql
as $$
declare
  v_from constant timestamptz := (select c.day - 7 from clock c)::timestamp at time zone 'UTC';
  v_to constant timestamptz := v_from + interval '15 days';
begin
  perform pg_temp.act_as_user('acme', 'alice');
  return jsonb_build_array(
    to_jsonb(public.search_logs(
      p_query_dsl => 'msg:took',
      p_ts_from => v_from::text, p_ts_to => v_to::text, p_limit => 1000
    )) - 'next_cursor',
    to_jsonb(public.search_logs(
      p_query_dsl => 'attrs.status:>=202 level:warn',
      p_ts_from => v_from::text, p_ts_to => v_to::text,
      p_limit => 7, p_order => 'asc'
    )) - 'next_cursor',
    (
      select jsonb_agg(s)
      from public.log_stats(
        p_query_dsl => 'request | count() by service, level',
      p_ts_from => v_from::text, p_ts_to => v_to::text
      ) s
    ),
    (
      select jsonb_agg(s)
      from public.log_stats(
        p_query_dsl => '| p95(attrs.status) by attrs.path',
      p_ts_from => v_from::text, p_ts_to => v_to::text
      ) s
    ),
    to_jsonb(public.log_histogram(
      p_query_dsl => 'msg:~"took 7. ms"',
      p_ts_from => v_from::text, p_ts_to => v_to::text, p_buckets => 30
    )),
    (
      select jsonb_agg(f)
      from public.list_log_fields(p_ts_from => v_from::text, p_ts_to => v_to::text) f
    )
  );
end;
$$;

select pg_temp.add_day(c.day, 'acme', 120, 1), pg_temp.add_day(c.day, 'umbrella', 12, 2),
  pg_temp.add_day(c.day + 1, 'umbrella', 13, 3), pg_temp.add_day(c.day, 'tiny', 2, 4)
from clock c;
insert into logloom.tenants (tenant_id, plan_id)
values ('acme', 'pro'), ('umbrella', 'pro'), ('tiny', 'pro'), ('plain', 'pro');
insert into logloom.tenant_settings (tenant_id, compression) values ('plain', false);
select pg_temp.add_day(c.day, 'plain', 60, 5) from clock c;
create temp table counts as select * from logloom_private.log_counts;
create temp table before as select pg_temp.answers() as answers;
select pg_temp.act_as_postgres();

select pg_temp.seal(
  (select c.day + 1 from clock c)::timestamp at time zone 'UTC' + interval '5 hours'
);
select is((select count(*) from logloom_private.blocks), 0::bigint, 'not before seal_after');

select pg_temp.seal(
  (select c.day + 1 from clock c)::timestamp at time zone 'UTC' + interval '6 hours'
);
select is(
  (select array_agg(s.tenant_id || ' ' || s.records) from logloom_private.blocks s),
  '{acme 120}', 'a tenant with enough records is sealed by the day'
);
select pg_temp.seal(clock_timestamp());
select is(
  (
    select array_agg(s.tenant_id || ' ' || s.records order by s.tenant_id)
    from logloom_private.blocks s
  ),
  '{acme 120,umbrella 25}', 'a small tenant is sealed by the week'
);
select is(
  (select array_agg(distinct l.tenant_id order by l.tenant_id) from logloom.logs l),
  '{plain,tiny}', 'rows stay where compression is off and where there are too few'
);
select is(
  (select sum(d.differences)::integer from logloom_private.sealing_days d), 0, 'nothing differed'
);
select ok(
  not logloom_private.partition_exists(c.day + 1), 'a day that is sealed whole has no partition'
)
from clock c;
select ok(logloom_private.partition_exists(c.day), 'a day with rows has a partition') from clock c;
select is(
  (select d.removed_records from logloom_private.sealing_days d, clock c where d.day = c.day),
  0::bigint, 'and was replaced'
);
select results_eq(
  'select c.tenant_id, c.minute, c.service, c.level, sum(c.events)
   from (
     select r.tenant_id, r.minute, r.service, r.level, r.events from logloom_private.log_counts r
     union all
     select b.tenant_id, date_bin(''1 minute'', b.ts, ''epoch''), b.service, b.level, b.events
     from logloom.tenants t
     cross join logloom_private.block_counts(t.tenant_id, ''-infinity'', ''infinity'') b
   ) c
   group by 1, 2, 3, 4 having sum(c.events) <> 0 order by 1, 2, 3, 4',
  'select tenant_id, minute, service, level, sum(events) from counts
   group by 1, 2, 3, 4 order by 1, 2, 3, 4',
  'the counts are unchanged'
);
select results_eq(
  $$select c.tenant_id, sum(c.events)::integer from logloom_private.log_counts c
    group by 1 having sum(c.events) <> 0 order by 1$$,
  $$values ('acme', 120), ('plain', 60), ('tiny', 2)$$,
  'a block of several days holds its counts'
);
create temp table bytes as
select
  sum(s.bytes) as bytes,
  format('logloom.%I', logloom_private.partition_name(c.day))::regclass as partition
from logloom_private.blocks s, clock c
where s.tenant_id = 'acme'
group by c.day;
grant select on bytes to public;
select is(pg_temp.answers(), b.answers, 'no answer has changed') from before b;
select pg_temp.act_as_postgres();
create temp table one as
select r.id, r.ts, r.msg
from logloom_private.blocks c, logloom_private.sealed_records(c, '{7}', null) r
where c.tenant_id = 'acme';
grant select on one to public;
select pg_temp.act_as_user('acme', 'alice');
select is(
  (public.get_log(o.id)).msg, o.msg, 'a sealed record that came days late is found by its id'
)
from one o;
select is((public.get_log(o.id, o.ts)).msg, o.msg, 'also with p_ts') from one o;
select pg_temp.act_as_postgres();

-- get_tenant_usage shows the stored bytes.
select results_eq(
  'select s.tenant_id, sum(s.bytes) from logloom_private.blocks s group by 1 order by 1',
  'select s.tenant_id, (sum(pg_column_size(s.*)) + sum((
     select sum(pg_column_size(k.*)) from logloom_private.block_columns k
     where k.tenant_id = s.tenant_id and k.block_id = s.block_id
   )))::numeric from logloom_private.blocks s group by 1 order by 1',
  'bytes is the stored size'
);
select pg_temp.act_as_user('acme', 'alice');
select is(
  to_jsonb((public.get_tenant_usage()).stored),
  jsonb_build_object('sealed_bytes', b.bytes, 'hot_bytes', 0), 'usage shows sealed bytes'
)
from bytes b;
select pg_temp.act_as_user('plain', 'pia');
select is(
  (public.get_tenant_settings()).stored,
  row(0, pg_total_relation_size(b.partition))::public.logloom_stored, 'and bytes of rows'
)
from bytes b;
select pg_temp.act_as_postgres();

-- Late records are sealed, too.
select pg_temp.add_day(c.day, 'acme', 60, 6), pg_temp.add_day(c.day + 1, 'umbrella', 6, 7)
from clock c;
drop table before;
create temp table before as select pg_temp.answers() as answers;
select pg_temp.act_as_postgres();
select pg_temp.seal(clock_timestamp() + interval '50 hours');
select is(
  (
    select array_agg(s.tenant_id || ' ' || s.records order by s.tenant_id)
    from logloom_private.blocks s
  ),
  '{acme 180,umbrella 31}', 'late records are sealed and small blocks merged'
);
select is(pg_temp.answers(), b.answers, 'late records change each answer once') from before b;
select pg_temp.act_as_postgres();

-- The Monday has enough records for its own block, and the other days of the week have few. So
-- retention can delete the Monday before the others.
select pg_temp.add_day(c.day - 2, 'mondays', 60, 9),
  pg_temp.add_day(c.day - 1, 'mondays', 20, 10), pg_temp.add_day(c.day, 'mondays', 20, 11)
from clock c;
select pg_temp.seal(clock_timestamp() + interval '80 hours');
select is(
  (
    select array_agg(s.records || ' of ' || (logloom_private.utc_day(s.last_ts) - c.day + 2)
      order by s.first_ts)
    from logloom_private.blocks s, clock c
    where s.tenant_id = 'mondays'
  ),
  '{60 of 0,40 of 2}', 'a large day is not merged with its week'
);
select pg_temp.act_as_postgres();

-- Unsealing turns blocks into rows again.
select is(logloom_private.unseal_day('umbrella', c.day), 31::bigint, 'a week comes back as a whole')
from clock c;
select is(
  (select count(*) from logloom.logs l where l.tenant_id = 'umbrella'), 31::bigint,
  'its records are rows again'
);
select pg_temp.act_as_user('umbrella', 'eve');
select is(
  (
    select s.value
    from clock c, public.log_stats(
      p_query_dsl => 'took', p_ts_from => c.day::text, p_ts_to => (c.day + 2)::text
    ) s
  ),
  31::double precision, 'and they are found'
);
select pg_temp.act_as_postgres();

-- An erasure reaches blocks.
select pg_temp.act_as_user('acme', 'alice');
select is(
  (public.delete_logs(
    p_query_dsl => 'attrs.status:204', p_ts_from => c.day::text,
    p_ts_to => (c.day + 2)::text, p_dry_run => true
  )).records,
  36::bigint, 'a dry run counts what is sealed'
)
from clock c;
select lives_ok(
  format(
    'select public.delete_logs(p_query_dsl => ''attrs.status:204'', p_ts_from => %L,
      p_ts_to => %L, p_dry_run => false)',
    c.day, c.day + 2
  ),
  'an erasure is requested'
)
from clock c;
select pg_temp.act_as_postgres();
select pg_temp.repeat_while('logloom_private.run_deletion_step() is not null');
select is(
  (select r.records from logloom.retention_runs r where not r.dry_run), 36::bigint,
  'the receipt counts sealed records'
);
select is(
  (select s.records from logloom_private.blocks s where s.tenant_id = 'acme'), 144,
  'the block has the others'
);
select is(
  (select sum(c.events)::integer from logloom_private.log_counts c where c.tenant_id = 'acme'), 144,
  'and so have the counts'
);

-- An erasure has already checked a later day when an earlier day is unsealed.
insert into logloom.tenants (tenant_id, plan_id) values ('again', 'pro');
select pg_temp.add_day(c.day, 'again', 60, 13), pg_temp.add_day(c.day + 2, 'again', 5, 14)
from clock c;
select logloom_private.seal_block('again', array[c.day]),
  logloom_private.leave_days('{again}', array[c.day])
from clock c;
create temp table run as select gen_random_uuid() as run_id;
insert into logloom.retention_runs (
  run_id, tenant_id, kind, status, requested_by, query_dsl, ts_from, ts_to
)
select
  r.run_id, 'again', 'erasure', 'queued', 'alice', 'attrs.status:204',
  c.day::timestamp at time zone 'UTC' + interval '10 minutes',
  (c.day + 3)::timestamp at time zone 'UTC'
from clock c, run r;
select logloom_private.deletion_step(r.run_id) from run r;
select logloom_private.unseal_day('again', c.day) from clock c;
select pg_temp.repeat_while('logloom_private.deletion_step((select r.run_id from run r))');
select logloom_private.finish_deletion((select r.run_id from run r), null);
select is(
  (select r.records from logloom.retention_runs r join run using (run_id)), 11::bigint,
  'the erasure finds the unsealed records'
);
select is(
  (
    select count(*) from logloom.logs l
    where l.tenant_id = 'again' and l.attrs @> '{"status": 204}'
  ),
  2::bigint, 'and keeps records outside its range'
);

-- Retention reaches blocks.
insert into logloom.tenant_settings (tenant_id, retention_days) values ('acme', 1);
do $$
begin
  perform logloom_private.begin_retention((select c.day + 3 from clock c));
  while (select p.finished_at is null from logloom_private.retention_place p) loop
    perform logloom_private.retention_step();
  end loop;
end;
$$;
select is(
  (select count(*) from logloom_private.blocks s where s.tenant_id = 'acme'), 0::bigint,
  'retention deletes blocks'
);
select is(
  (
    select sum(r.records) from logloom.retention_runs r
    where r.kind = 'retention' and r.tenant_id = 'acme'
  ),
  144::numeric, 'and counts their records'
);
select is(
  (select coalesce(sum(c.events), 0)::integer from logloom_private.log_counts c
    where c.tenant_id = 'acme'),
  0, 'their counts are gone'
);
select is(
  (select count(*) from logloom.logs l where l.tenant_id = 'umbrella'), 31::bigint,
  'another tenant keeps its own'
);
select is(
  (select count(*) from logloom_private.log_days d where d.tenant_id = 'acme'), 0::bigint,
  'the tenant has no days left'
);
select is(
  (select count(*) from logloom_private.block_columns), 0::bigint, 'columns go with their blocks'
);

-- Retention drops a day between copying and replacing its partition.
select pg_temp.add_day(c.day - 30, 'acme', 3, 8) from clock c;
insert into logloom_private.sealing_days (day, removed_records, checked_at)
select c.day - 30, 5, now() from clock c
-- A step for the month may have added this day already.
on conflict (day) do update
set removed_records = excluded.removed_records, checked_at = excluded.checked_at;
select ok(logloom_private.prepare_replacement(c.day - 30), 'the remaining rows are copied')
from clock c;
select is(logloom_private.drop_expired_day(c.day - 30, c.day), 'dropped', 'nobody keeps the day')
from clock c;
select lives_ok('select pg_temp.seal(clock_timestamp())', 'the job goes on');
select results_eq(
  'select d.removed_records, d.prepared_by::text,
     to_regclass(format(''logloom.%I'', logloom_private.remainder_name(d.day)))::text
   from logloom_private.sealing_days d, clock c where d.day = c.day - 30',
  'values (0::bigint, null::text, null::text)', 'the copy is dropped, and nothing is due'
);

-- Rows that cannot be deleted are not sealed.
create function pg_temp.stay()
returns trigger
language plpgsql
as $$
begin
  return case when old.level <> 'error' then old end;
end;
$$;
do $$
begin
  execute format(
    'create trigger stay before delete on logloom.%I for each row execute function pg_temp.stay()',
    logloom_private.partition_name((select c.day from clock c))
  );
end;
$$;
select throws_ok(
  format(
    'select logloom_private.seal_block(''umbrella'', array[%L]::date[])',
    (select c.day from clock c)
  ),
  'LL001', null, 'sealing fails if rows cannot be deleted'
);

select * from finish();
rollback;
