-- Answers from counts equal the answers of a scan, whatever happens to the records.
begin;
\ir ../actors.psql
\ir ../ingest.psql
\ir records.psql
select plan(22);
select setseed(0.42);

create function pg_temp.random_records(p_count integer)
returns jsonb
language sql
as $$
  select jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
    'tenant', (array['acme', 'acme', 'umbrella'])[1 + floor(random() * 3)],
    -- Times have random microseconds, and are often exactly at a minute's edge.
    'ts', case when random() < 0.2
      then date_trunc('minute', now()) - make_interval(mins => floor(random() * 120)::integer)
        - case when random() < 0.5 then interval '1 microsecond' else interval '0' end
      else now() - random() * interval '2 hours'
    end,
    'level', (array['debug', 'info', 'warn', 'error', null])[1 + floor(random() * 5)],
    'service', (array['api', 'web', 'a''b', '', null, 'ünï'])[1 + floor(random() * 6)],
    'msg', i
  )))
  from generate_series(1, p_count) i
$$;

create temp table queries (query_dsl text);
insert into queries
values
  (''), ('level:error'), ('level:>=warn'), ('-level:info'), ('-level:*'), ('service:api'),
  ('service:(api OR web) level:error'), ('-service:api'), ('service:*'), ('-service:*'),
  ('service:""'), ('service:"a''b" OR service:ünï'), ('service:a*'), ('service:~"^[aw]"'),
  ('service:[a TO b}'), ('NOT (level:debug OR service:web)'), ('service:nothing'),
  ('*'), ('* level:error'), ('level:error OR *'), ('-*'), ('* | count() by service'),
  ('| count() by level'), ('| count() by service'), ('| rate() by service, level'),
  ('level:error | rate()'), ('service:web | count() by level'), ('-service:* | rate() by level');

-- Makes the query scan records: it also reads another field, so it cannot use counts.
create function pg_temp.by_scan(p_query logloom_private.compiled_query)
returns logloom_private.compiled_query
language plpgsql
as $$
begin
  p_query.tree := jsonb_build_object('type', 'and', 'items', jsonb_build_array(
    p_query.tree, '{"type": "all", "reads": ["msg"]}'::jsonb
  ));
  return p_query;
end;
$$;

create function pg_temp.disagreements(p_rounds integer)
returns table (query_dsl text, ts_range tstzrange, counted text, scanned text)
language plpgsql
as $$
declare
  v_query logloom_private.compiled_query;
  v_scan logloom_private.compiled_query;
  v_counted_sql text;
  v_scanned_sql text;
  v_from timestamptz;
begin
  for i in 1..p_rounds loop
    v_from := now() - random() * interval '2 hours';
    if random() < 0.3 then
      v_from := date_trunc('minute', v_from);
    end if;
    ts_range := tstzrange(v_from, v_from + random() * interval '1 hour' + interval '1 microsecond');
    if random() < 0.3 then
      ts_range := tstzrange(v_from, date_trunc('minute', v_from) + interval '17 minutes');
    end if;
    for query_dsl in select q.query_dsl from queries q loop
      v_query := logloom_private.compile_query(query_dsl);
      v_scan := pg_temp.by_scan(v_query);
      for v_counted_sql, v_scanned_sql in
        values
          (
            logloom_private.log_stats_sql('acme', v_query, ts_range, 1000),
            logloom_private.log_stats_sql('acme', v_scan, ts_range, 1000)
          ),
          (
            logloom_private.log_histogram_sql('acme', v_query, ts_range, 300),
            logloom_private.log_histogram_sql('acme', v_scan, ts_range, 300)
          )
      loop
        execute 'select string_agg(r::text, '';'') from (' || v_counted_sql || ') r' into counted;
        execute 'select string_agg(r::text, '';'') from (' || v_scanned_sql || ') r' into scanned;
        if counted is distinct from scanned then
          return next;
        end if;
      end loop;
    end loop;
  end loop;
end;
$$;

-- Records are added and removed in every possible way.
select pg_temp.send_request(
  p_tenant_id => 'acme',
  p_ts => array_agg((r ->> 'ts')::timestamptz),
  p_level => array_agg(case when random() < 0.02 then 'loud' else r ->> 'level' end),
  p_service => array_agg(r ->> 'service')
)
from jsonb_array_elements(pg_temp.random_records(800)) r;
select logloom_private.flip_queue();
select logloom_private.write_step();
select is_empty('select * from pg_temp.disagreements(2)', 'after the writer');
select ok(
  (select count(*) > 0 from logloom_private.dead_letters), 'some events could not be written'
);
update logloom_private.dead_letters set level = 'error';
select logloom_private.replay_dead_letters();
select is_empty('select * from pg_temp.disagreements(2)', 'after a replay');
select pg_temp.add_records(pg_temp.random_records(800), 100);
select is_empty('select * from pg_temp.disagreements(2)', 'after late events');
select logloom_private.compact_log_counts();
select is_empty('select * from pg_temp.disagreements(2)', 'after compacting');
select is(
  (select count(*) from logloom_private.log_counts),
  (select count(*) from (
    select distinct l.tenant_id, date_bin('1 minute', l.ts, 'epoch'), l.level, l.service
    from logloom.logs l
  ) k),
  'then there is one row for each key'
);

-- Seals all days together, as a week is sealed: the records leave log_counts for the block.
create function pg_temp.seal(p_tenant_id text)
returns void
language sql
as $$
  select logloom_private.seal_block(
    p_tenant_id, array(
      select d.day from logloom_private.log_days d where d.tenant_id = p_tenant_id order by d.day
    ),
    true
  )
$$;
select pg_temp.seal('acme');
select is_empty('select * from pg_temp.disagreements(2)', 'after sealing with counts');
select pg_temp.seal('umbrella');
select logloom_private.compact_log_counts();
select is_empty('select from logloom_private.log_counts', 'sealed counts are not in log_counts');
select is_empty('select * from pg_temp.disagreements(2)', 'and after compacting');
select pg_temp.add_records(pg_temp.random_records(200), 102);
select is_empty('select * from pg_temp.disagreements(1)', 'after later events');
select pg_temp.seal('acme');
select logloom_private.rewrite_blocks('acme', array(
  select c.block_id from logloom_private.blocks c where c.tenant_id = 'acme'
));
select is_empty('select * from pg_temp.disagreements(1)', 'and after rewriting into one block');

-- An erasure in blocks, and unsealing
insert into logloom.tenants (tenant_id, plan_id) values ('acme', 'pro') on conflict do nothing;
insert into logloom.retention_runs (
  tenant_id, kind, status, requested_by, query_dsl, ts_from, ts_to
)
values (
  'acme', 'erasure', 'queued', 'alice', 'service:web level:(info OR error)',
  now() - interval '1 day', now() + interval '1 day'
);
select pg_temp.repeat_while(
  'logloom_private.deletion_step((select r.run_id from logloom.retention_runs r))'
);
select is_empty('select * from pg_temp.disagreements(2)', 'after an erasure in a block');
select logloom_private.unseal_day(d.tenant_id, d.day)
from (
  select distinct c.tenant_id, logloom_private.utc_day(c.first_ts) as day
  from logloom_private.blocks c
) d;
select is_empty('select from logloom_private.blocks', 'nothing is sealed any more');
select is_empty('select * from pg_temp.disagreements(2)', 'after unsealing');
select logloom_private.compact_log_counts();

select pg_temp.remove_records($$random() < 0.4 or l.service = 'web' and l.level = 'error'$$);
select is_empty('select * from pg_temp.disagreements(2)', 'after a deletion');
select logloom_private.compact_log_counts();
select is_empty(
  'select from logloom_private.log_counts c where c.is_other', 'no service is counted as other'
);
select is_empty('select * from pg_temp.disagreements(1)', 'and after compacting');
update logloom.logs l set service = 'api', ts = l.ts - interval '1 minute'
where l.service = 'a''b' and l.ts > now() - interval '110 minutes';
select logloom_private.recount_records(d.day)
from (select distinct logloom_private.utc_day(l.ts) as day from logloom.logs l) d;
select pg_temp.add_records(pg_temp.random_records(300), 101);
select is_empty('select * from pg_temp.disagreements(2)', 'after an update by hand and a recount');
select logloom_private.compact_log_counts();
select is_empty('select * from pg_temp.disagreements(2)', 'and after the last compacting');

select ok(
  (
    select bool_and(logloom_private.log_stats_sql(
      'acme', logloom_private.compile_query(q.query_dsl),
      tstzrange(now() - interval '1 hour', now()), 1
    ) ~ 'logloom_private\.log_counts')
    from queries q
  ),
  'the counts answered'
);
select ok(
  logloom_private.log_stats_sql(
    'acme', pg_temp.by_scan(logloom_private.compile_query('')), tstzrange(
      now() - interval '1 hour', now()
    ),
    1
  ) !~ 'logloom_private\.log_counts',
  'and the scan used no counts'
);

select pg_temp.remove_records('true');
select logloom_private.compact_log_counts();
select is_empty(
  'select c.tenant_id from logloom_private.log_counts c', 'without records there are no counts'
);

select * from finish();
rollback;
