-- A search opens only days in which the tenant has records.
begin;
\ir ../actors.psql
\ir records.psql
select plan(16);

insert into logloom.tenants (tenant_id, plan_id) values ('acme', 'free'), ('umbrella', 'free');
create function pg_temp.day(p_ago integer)
returns timestamptz
language sql
as $$ select date_trunc('day', now()) - make_interval(days => p_ago) $$;
create function pg_temp.id(p_number integer)
returns uuid
language sql
as $$ select ('01a1fe60-0000-7000-8000-0000' || lpad(to_hex(p_number), 8, '0'))::uuid $$;
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
language sql
as $$
  select count(distinct m[1])
  from pg_temp.plan_of('select l.msg ' || logloom_private.source_sql(
    logloom_private.tenant_rows_sql(p_tenant_id, p_from, now() + interval '1 hour', 'true')
  )) p,
    regexp_matches(p, 'on (logs_\d{4}_\d\d_\d\d)', 'g') m
$$;
select is(pg_temp.partitions('acme', '1970-01-01'), 5::bigint, 'five days, five partitions');
select is(pg_temp.partitions('acme', pg_temp.day(3)), 3::bigint, 'only days of the range');
select is(pg_temp.partitions('nobody', '1970-01-01'), 0::bigint, 'no partition without days');
select pg_temp.act_as_user('umbrella', 'uma');
select is(
  (public.get_log('01a1fe60-0000-7000-8000-000000000096')).msg, '150',
  'a record of any day is found by its id'
);

-- There are more days than a search opens at once.
select is(
  pg_temp.messages((public.search_logs('', '1970-01-01', 'now+1h', 1000)).logs),
  (select string_agg(d::text, ' ' order by d) from generate_series(0, 150) d),
  'all days are searched, newest first'
);
select is(
  pg_temp.messages((public.search_logs('', '1970-01-01', 'now+1h', 1000, null, 'asc')).logs),
  (select string_agg(d::text, ' ' order by d desc) from generate_series(0, 150) d),
  'or oldest first'
);
select is(
  (select s.value from public.log_stats('msg:* | count()', '1970-01-01', 'now+1h') s),
  151::double precision, 'their records are counted'
);
select is(
  (select s.values ->> 'max(ts)' from public.log_stats(
    'msg:7 | min(ts), max(ts)', '1970-01-01', 'now+1h'
  ) s),
  (select s.values ->> 'max(ts)' from public.log_stats(
    'msg:7 | min(ts), max(ts)', pg_temp.day(8)::text, pg_temp.day(6)::text
  ) s),
  'aggregated'
);
select is(
  (public.log_histogram('msg:*', '1970-01-01', 'now+1h', 10)).total,
  151::bigint, 'shown in a histogram'
);
select is(
  (select f.count from public.list_log_fields('', '1970-01-01', 'now+1h') f where f.field = 'msg'),
  151::bigint, 'and sampled for their fields'
);

-- When its time is up, a page ends with the current part of the range.
select pg_temp.act_as_postgres();
update logloom_private.settings set search_page_time = '0';
create function pg_temp.pages(p_order text)
returns text
language plpgsql
as $$
declare
  v_page public.logloom_log_page;
  v_pages text[] := '{}';
begin
  loop
    v_page := public.search_logs(
      'msg:1*', pg_temp.day(40)::text, 'now+1h', 1000, v_page.next_cursor, p_order
    );
    v_pages := v_pages || coalesce(pg_temp.messages(v_page.logs), '');
    exit when v_page.next_cursor is null;
  end loop;
  return array_to_string(v_pages, ' | ');
end;
$$;
grant execute on function pg_temp.pages(text) to authenticated;
select pg_temp.act_as_user('umbrella', 'uma');
select is(
  pg_temp.pages('desc'), '1 10 11 | 12 13 14 15 16 17 18 19 21 | 31 | ',
  'a page may end early, newest first'
);
select is(
  pg_temp.pages('asc'), '31 | 21 19 18 | 17 16 15 14 13 12 11 10 | 1',
  'or oldest first, and later pages have the rest'
);
select pg_temp.act_as_postgres();
update logloom_private.settings set search_page_time = '1 hour';
select pg_temp.act_as_user('acme', 'alice');
select is(
  pg_temp.messages((public.search_logs('', '1970-01-01', 'now+1h')).logs),
  '0 1 2 50 120', 'all records are found'
);

select pg_temp.act_as_postgres();
update logloom.plans set retention_days_default = 7 where plan_id = 'free';
select pg_temp.act_as_user('acme', 'alice');
select is(
  pg_temp.messages((public.search_logs('', '1970-01-01', 'now+1h')).logs),
  '0 1 2', 'records past the retention are not shown, deleted or not'
);
select throws_ok(
  $$select public.get_log('01a1fe60-0000-7000-8000-00000000041a')$$, 'PT404', null,
  'not by its id either'
);
select is(
  (public.log_histogram('', '1970-01-01', 'now+1h', 10)).total, 3::bigint,
  'nor counted'
);

select * from finish();
rollback;
