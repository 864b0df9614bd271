-- For a small tenant a week becomes a block. Weeks with few records become one block of a month,
-- and months with few records stay rows. No answer changes.
begin;
\ir ../actors.psql
\ir ../search/records.psql
set local client_min_messages = warning;
select plan(13);

-- The Monday at the start of a span of four weeks that is over.
create temp table clock as
select logloom_private.span_start(logloom_private.utc_day(now()) - 60, 28) as day;
grant select on clock to public;

create function pg_temp.add(p_tenant text, p_day integer, p_records integer)
returns void
language sql
as $$
  select pg_temp.add_records(jsonb_agg(jsonb_build_object(
    'tenant', p_tenant,
    'ts', logloom_private.day_start((select c.day + p_day from clock c)) + i * interval '61.5 s',
    'level', (array['info', 'error', null])[1 + i % 3],
    'service', 'service ' || i % 4,
    'msg', format('request %s on day %s', i, p_day)
  )))
  from generate_series(1, p_records) i
$$;

-- Runs the job until nothing is due, as if it were the morning of day p_day of the span.
create function pg_temp.seal(p_day integer)
returns void
language sql
as $$
  select pg_temp.repeat_while(format(
    'logloom_private.seal_step_at(%L) is not null',
    logloom_private.day_start((select c.day + p_day from clock c)) + interval '8 hours'
  ))
$$;

-- Lists a tenant's blocks: first and last day, and number of records.
create function pg_temp.blocks_of(p_tenant text)
returns text[]
language sql
return array(
  select format(
    '%s-%s: %s', logloom_private.utc_day(b.first_ts) - c.day,
    logloom_private.utc_day(b.last_ts) - c.day, b.records
  )
  from logloom_private.blocks b, clock c
  where b.tenant_id = p_tenant
  order by b.first_ts
);

-- Returns histograms from counts and from records, and a search.
create function pg_temp.answers(p_tenant text)
returns jsonb
language plpgsql
as $$
declare
  v_from constant timestamptz := logloom_private.day_start((select c.day from clock c));
  v_answers jsonb;
begin
  perform pg_temp.act_as_user(p_tenant, 'alice');
  select jsonb_build_array(
    jsonb_agg(to_jsonb(public.log_histogram(
      p_query_dsl => q.query, p_ts_from => (v_from + f.since)::text,
      p_ts_to => (v_from + interval '29 days')::text, p_buckets => 1000
    ))),
    to_jsonb(public.search_logs(
      p_query_dsl => 'request', p_ts_from => v_from::text,
      p_ts_to => (v_from + interval '29 days')::text, p_limit => 1000
    )) - 'next_cursor'
  )
  into v_answers
  from unnest(array['', 'level:error', 'service:"service 1"', 'request']) q (query),
    unnest(array[interval '0', '90 seconds', '7 days 00:03:30.5']) f (since);
  perform pg_temp.act_as_postgres();
  return v_answers;
end;
$$;

insert into logloom.tenants (tenant_id, plan_id)
select t, 'pro' from unnest(array['weeks', 'months', 'tiny', 'busy', 'quick']) t;
select pg_temp.add('weeks', d, 12) from unnest(array[0, 2, 6, 8, 9, 13, 14, 16, 20, 21, 25, 27]) d;
select pg_temp.add('months', d, 4) from generate_series(0, 27, 3) d;
select pg_temp.add('tiny', d, 1) from generate_series(0, 27) d;
select pg_temp.add('busy', d, 200) from generate_series(0, 13) d;
insert into logloom.tenant_settings (tenant_id, retention_days) values ('quick', 60);
select pg_temp.add('quick', d, 12) from generate_series(0, 27) d;
create temp table before as
select t as tenant_id, pg_temp.answers(t) as answers
from unnest(array['weeks', 'months', 'tiny', 'busy', 'quick']) t;

select pg_temp.seal(6);
select is_empty('select from logloom_private.blocks', 'nothing before the week is over');
select pg_temp.seal(7);
select is(pg_temp.blocks_of('weeks'), '{0-6: 36}', 'a week that is over becomes a block');
select is(pg_temp.blocks_of('months'), '{}', 'a week with few records stays rows');
select pg_temp.seal(14);
select is(pg_temp.blocks_of('weeks'), '{0-13: 72}', 'the next one is merged with it');
select is(
  pg_temp.blocks_of('busy'), '{"0-6: 1400","7-13: 1400"}', 'weeks with many records are not merged'
);
select pg_temp.seal(29);
select is(pg_temp.blocks_of('weeks'), '{0-27: 144}', 'four weeks make a month');
select is(
  pg_temp.blocks_of('months'), '{0-27: 40}', 'weeks with few records go into a month at once'
);
select is(
  pg_temp.blocks_of('quick'), '{"0-13: 168","14-27: 168"}',
  'no block spans more than a quarter of the retention'
);
select is(
  (select count(*) from logloom.logs l where l.tenant_id = 'tiny'), 28::bigint,
  'a month with few records stays rows'
);
select is(pg_temp.answers(b.tenant_id), b.answers, 'no answer has changed: ' || b.tenant_id)
from before b
where b.tenant_id = 'weeks';
select is_empty(
  'select b.tenant_id from before b where pg_temp.answers(b.tenant_id) <> b.answers',
  'for any tenant'
);

-- A late record joins the block of its month.
select pg_temp.add('months', 1, 1);
create temp table late as select pg_temp.answers('months') as answers;
select pg_temp.seal(31);
select is(pg_temp.blocks_of('months'), '{0-27: 41}', 'a late record joins its month');
select is(pg_temp.answers('months'), l.answers, 'and is counted once') from late l;

select * from finish();
rollback;
