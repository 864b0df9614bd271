begin;
\ir ../actors.psql
select plan(23);

-- Retention of free: 7 days. long keeps 30, short 2, gone has been deleted.
insert into app.tenants (tenant_id, plan_id)
values ('seven', 'free'), ('long', 'pro'), ('short', 'free');
insert into app.tenant_settings (tenant_id, retention_days) values ('short', 2);

create function pg_temp.fill(p_tenant_id text, p_days_ago integer, p_records integer)
returns void
language plpgsql
as $$
declare
  v_day constant date := private.utc_day(now()) - p_days_ago;
begin
  perform private.create_partition(v_day);
  insert into app.logs (id, tenant_id, ts, received_at, arrival, level, service)
  select gen_random_uuid(), p_tenant_id, private.day_start(v_day) + i * interval '1 second', now(),
    1, 'info', 'api'
  from generate_series(1, p_records) i;
end;
$$;
create function pg_temp.days_of(p_tenant_id text)
returns integer[]
language plpgsql
as $$
begin
  return array(
    select distinct private.utc_day(now()) - private.utc_day(l.ts)
    from app.logs l where l.tenant_id = p_tenant_id order by 1
  );
end;
$$;
create function pg_temp.counted(p_tenant_id text)
returns bigint
language plpgsql
as $$
begin
  return (select sum(c.events) from private.log_counts c where c.tenant_id = p_tenant_id);
end;
$$;
-- What the procedure does, in one transaction.
create function pg_temp.run()
returns void
language plpgsql
as $$
declare
  v_today constant date := private.utc_day(now());
  v_day date;
  v_tenant_id text;
begin
  perform private.begin_retention();
  foreach v_day in array private.partition_days() loop
    continue when v_day >= v_today;
    continue when private.drop_expired_day(v_day, v_today) = 'dropped';
    foreach v_tenant_id in array private.day_tenants(v_day) loop
      while private.delete_expired(v_tenant_id, v_day, v_today) > 0 loop
      end loop;
    end loop;
  end loop;
  perform private.end_retention();
end;
$$;

select pg_temp.fill(t, d, 25)
from unnest(array['seven', 'long', 'short', 'gone']) t, unnest(array[0, 2, 3, 7, 8]) d;
select pg_temp.fill('seven', 20, 5), pg_temp.fill('gone', 20, 5);
update private.settings set deletion_batch_records = 10;

select is(
  private.delete_expired('seven', private.utc_day(now()) - 8, private.utc_day(now())), 10,
  'a batch is bounded'
);
select is(
  private.delete_expired('seven', private.utc_day(now()) - 7, private.utc_day(now())), 0,
  'a day that is kept loses nothing'
);
select is(
  private.delete_expired('seven', private.utc_day(now()), private.utc_day(now())), 0,
  'nor does today'
);
select is(
  array(
    select private.day_tenants(private.utc_day(now()) - d)::text from unnest(array[0, 20, 8]) d
  ),
  '{"{gone,long,seven,short}","{gone,seven}","{gone,long,seven,short}"}',
  'the tenants of a day'
);

delete from app.retention_runs;
select pg_temp.run();
select is(pg_temp.days_of('seven'), '{0,2,3,7}', 'seven whole days before today stay');
select is(pg_temp.days_of('short'), '{0,2}', 'a tenant may keep less');
select is(pg_temp.days_of('long'), '{0,2,3,7,8}', 'another more');
select is(pg_temp.days_of('gone'), '{0}', 'of a tenant that is gone nothing stays');
select ok(
  not private.partition_exists(private.utc_day(now()) - 20), 'a day that nobody keeps is dropped'
);
select ok(private.partition_exists(private.utc_day(now()) - 8), 'one that somebody keeps is not');
select ok(
  not private.partition_exists(private.utc_day(now()) - 5), 'an empty day of the past is dropped'
);
select ok(private.partition_exists(private.utc_day(now()) - 1), 'yesterday stays, empty or not');
select ok(private.partition_exists(private.utc_day(now()) + 3), 'as do the days to come');

select is(
  array[pg_temp.counted('seven'), pg_temp.counted('short'), pg_temp.counted('long')],
  '{100,50,125}', 'the counts by minute say the same as the records'
);
select is_empty(
  $$select from private.log_counts c
    where c.minute < private.day_start(private.utc_day(now()) - 19)$$,
  'of a day that was dropped no counts stay'
);
select results_eq(
  $$select r.tenant_id, r.status, r.records, r.partitions,
      private.utc_day(now()) - private.utc_day(r.ts_to)
    from app.retention_runs r order by r.tenant_id$$,
  $$values
    ('seven', 'done', 20::bigint, 1, 7),
    ('short', 'done', 75::bigint, 0, 2)$$,
  'each tenant''s run says what it lost'
);

select pg_temp.run();
select is(
  (select count(*) from app.retention_runs), 2::bigint, 'with nothing to delete there is no run'
);

update app.tenant_settings set retention_days = 7 where tenant_id = 'short';
select pg_temp.run();
select is(pg_temp.days_of('short'), '{0,2}', 'raising it brings nothing back');
update app.tenants set plan_id = 'free' where tenant_id = 'long';
select pg_temp.run();
select is(pg_temp.days_of('long'), '{0,2,3,7}', 'a smaller plan shortens it');

insert into app.retention_runs (tenant_id, kind, status, requested_by, ts_to)
values ('seven', 'retention', 'running', 'retention', now());
select pg_temp.run();
select is(
  (select count(*) from app.retention_runs where status = 'interrupted'), 1::bigint,
  'a run that was killed is marked'
);

select pg_temp.act_as_user('seven', 'alice');
select is(
  (
    select array_agg(r.status || ' ' || r.records order by r.requested_at desc)
    from public.list_retention_runs() r
  ),
  '{"interrupted 0","done 20"}', 'a user sees the tenant''s runs, newest first'
);
select is(
  (
    select r.records from public.list_retention_runs(
      p_limit => 1, p_after => (select f.run_id from public.list_retention_runs(p_limit => 1) f)
    ) r
  ),
  20::bigint, 'page by page'
);
select throws_ok(
  format('select public.list_retention_runs(p_after => %L)', gen_random_uuid()),
  'PT400', 'Invalid p_after: no such run', 'after an unknown run'
);

select * from finish();
rollback;
