-- A search opens the days in which the tenant has records, and no others.
begin;
\ir ../actors.psql
\ir records.psql
select plan(9);

insert into logloom.tenants (tenant_id, plan_id) values ('acme', 'free'), ('umbrella', 'free');
create function pg_temp.day(p_ago integer)
returns timestamptz
language plpgsql
as $$
begin
  return date_trunc('day', now()) - make_interval(days => p_ago);
end;
$$;
create function pg_temp.id(p_number integer)
returns uuid
language plpgsql
as $$
begin
  return ('01a1fe60-0000-7000-8000-0000' || lpad(to_hex(p_number), 8, '0'))::uuid;
end;
$$;
select pg_temp.add_records(
  (select jsonb_agg(jsonb_build_object(
    'tenant', 'umbrella', 'ts', pg_temp.day(d), 'msg', d, 'id', pg_temp.id(d)
  ))
  from generate_series(0, 150) d)
);
select pg_temp.add_records(
  (select jsonb_agg(jsonb_build_object('ts', pg_temp.day(d), 'msg', d, 'id', pg_temp.id(1000 + d)))
  from unnest(array[0, 1, 2, 50, 120]) d)
);

create function pg_temp.partitions(p_tenant_id text, p_from timestamptz)
returns bigint
language plpgsql
as $$
begin
  return (
    select count(distinct m[1])
    from pg_temp.plan_of('select l.msg ' || logloom_private.tenant_rows_sql(
      p_tenant_id, p_from, now() + interval '1 hour', 'true'
    )) p,
      regexp_matches(p, 'on (logs_\d{4}_\d\d_\d\d)', 'g') m
  );
end;
$$;
select is(pg_temp.partitions('acme', '1970-01-01'), 5::bigint, 'five days, five partitions');
select is(pg_temp.partitions('acme', pg_temp.day(3)), 3::bigint, 'those of the range');
select is(pg_temp.partitions('nobody', '1970-01-01'), 0::bigint, 'no day, no partition');
select throws_ok(
  $$select logloom_private.tenant_rows_sql(
    'umbrella', '1970-01-01', now() + interval '1 hour', 'true'
  )$$,
  'PT400', 'The range holds records on 151 days, and at most 100 are read at once',
  'too many days are refused'
);
select pg_temp.act_as_user('umbrella', 'uma');
select is(
  (public.get_log('01a1fe60-0000-7000-8000-000000000096')).msg, '150',
  'a record of any of them is found by its id'
);
select pg_temp.act_as_user('acme', 'alice');
select is(
  pg_temp.messages(
    (public.search_logs('', '1970-01-01', (now() + interval '1 hour')::text)).logs
  ),
  '0 1 2 50 120', 'all records are found'
);

select pg_temp.act_as_postgres();
update logloom.plans set retention_days_default = 7 where plan_id = 'free';
select pg_temp.act_as_user('acme', 'alice');
select is(
  pg_temp.messages(
    (public.search_logs('', '1970-01-01', (now() + interval '1 hour')::text)).logs
  ),
  '0 1 2', 'what the tenant does not keep is not shown, deleted or not'
);
select throws_ok(
  $$select public.get_log('01a1fe60-0000-7000-8000-00000000041a')$$, 'PT404', null,
  'not by its id either'
);
select is(
  (public.log_histogram('', '1970-01-01', (now() + interval '1 hour')::text, 10)).total, 3::bigint,
  'nor counted'
);

select * from finish();
rollback;
