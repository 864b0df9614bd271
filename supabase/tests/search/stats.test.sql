begin;
\ir ../actors.psql
\ir records.psql
-- Numbers are printed with all digits, whatever the database's default is.
set extra_float_digits = 1;
select plan(44);

select pg_temp.add_records($$[
  {"ago": "10 minutes", "level": "error", "service": "api", "attrs": {"ms": 10, "path": "/a"}},
  {"ago": "9 minutes", "level": "error", "service": "api", "attrs": {"ms": 30}},
  {"ago": "8 minutes", "level": "error", "service": "web", "attrs": {"ms": 20}},
  {"ago": "7 minutes", "level": "info", "service": "web", "attrs": {"ms": "slow"}},
  {"ago": "6 minutes", "level": "info"},
  {"ago": "6 minutes", "attrs": {"ms": 0.5, "a b": true}},
  {"ago": "5 minutes", "level": "error", "service": "api", "tenant": "umbrella"}
]$$);
select pg_temp.act_as_user('acme', 'alice');

create function pg_temp.stats(p_query_dsl text, p_limit integer default null)
returns text
language sql
as $$
  select string_agg(s."group"::text || ' ' || coalesce(s.value::text, 'null'), '; ' order by s.n)
  from rows from (public.log_stats(p_query_dsl, null, null, p_limit))
    with ordinality s ("group", value, "values", total_groups, warnings, n)
$$;

select is(pg_temp.stats(c.query_dsl), c.rows, c.query_dsl)
from (
  values
    ('', '{} 6'),
    ('level:error', '{} 3'),
    ('level:error | count()', '{} 3'),
    ('service:api | rate()', '{} 0.03333333333333333'),
    ('| sum(attrs.ms)', '{} 60.5'),
    ('| avg(attrs.ms)', '{} 15.125'),
    ('| min(attrs.ms)', '{} 0.5'),
    ('| max(attrs.ms)', '{} 30'),
    ('| p50(attrs.ms)', '{} 15'),
    ('| count_distinct(service)', '{} 2'),
    ('msg:nothing | count()', '{} 0'),
    ('msg:nothing | rate()', '{} 0'),
    ('msg:nothing | sum(attrs.ms)', '{} 0'),
    ('msg:nothing | count_distinct(host)', '{} 0'),
    ('msg:nothing | avg(attrs.ms)', '{} null'),
    ('msg:nothing | count() by level', null),
    ('level:debug | count() by level', null),
    ('| count() by level', '{"level": "error"} 3; {"level": "info"} 2; {"level": null} 1'),
    (
      '| count() by service, level',
      '{"level": "error", "service": "api"} 2; {"level": "error", "service": "web"} 1; '
        '{"level": "info", "service": "web"} 1; {"level": "info", "service": null} 1; '
        '{"level": null, "service": null} 1'
    ),
    (
      '| max(attrs.ms) by service',
      '{"service": "api"} 30; {"service": "web"} 20; {"service": null} 0.5'
    ),
    (
      '| p95(attrs.ms) by attrs.path, attrs."a b"',
      '{"attrs.path": null, "attrs.\"a b\"": null} 29.5; '
        '{"attrs.path": "/a", "attrs.\"a b\"": null} 10; '
        '{"attrs.path": null, "attrs.\"a b\"": "true"} 0.5'
    ),
    (
      'service:api | count() by ts',
      format(
        '{"ts": "%s"} 1; {"ts": "%s"} 1',
        to_jsonb((now() - interval '10 minutes') at time zone 'UTC') #>> '{}' || '+00:00',
        to_jsonb((now() - interval '9 minutes') at time zone 'UTC') #>> '{}' || '+00:00'
      )
    )
) c (query_dsl, rows);
select is(pg_temp.stats('| count() by level', 1), '{"level": "error"} 3', 'the largest come first');
select is(
  (select count(*)::integer from public.log_stats(
    '| count() by ' || (select string_agg('attrs.a' || i, ',') from generate_series(1, 150) i)
  )),
  1, 'groups by 150 fields'
);
select throws_ok(
  'select public.log_stats(p_limit => 0)', 'PT400', 'Invalid p_limit: 1 to 1000', 'p_limit'
);
select throws_ok(
  $$select public.log_stats('level:')$$, 'PT400', 'A value is missing after "level:"',
  'a query that does not compile'
);

-- Hints for a query that found nothing
create function pg_temp.hints(p_warnings public.logloom_query_warning[])
returns text
language sql
return (
  select regexp_replace(
    string_agg(format('%s: %s → %s', w.position, w.message, w.suggestion), '; '),
    '\.? Replace the whole query', '', 'g'
  )
  from unnest(p_warnings) w
);
select is(
  pg_temp.hints((public.search_logs(c.query_dsl)).warnings), c.hints, 'nothing: ' || c.query_dsl
)
from (
  values
    (
      'level:error service:wep',
      '13: There is no service wep: did you mean web? → level:error service:web'
    ),
    (
      '@ms:>5ms @Path:*',
      '10: No event has @Path: did you mean @path? → @ms:>5 @path:*; '
        '1: @ms holds plain numbers, which have no unit → @ms:>5 @path:*'
    ),
    (
      'service:umbrella @path:>5ms @none:<1kB',
      '29: None of the newest events has @none. They have @ms, @a b, @path; the fields are ts, '
        'received_at, id, level, msg, service, env, req_id, user_id, route, host, any → ; '
        '1: None of the newest records has service umbrella; they have api, web → '
    ),
    (
      'service:web @Pat:*',
      '13: None of the newest events has @Pat. They have @ms; the fields are ts, received_at, id, '
        'level, msg, service, env, req_id, user_id, route, host, any → '
    ),
    (
      '@service:api',
      '1: @service is an attribute, and no event has it: service is a field → service:api'
    ),
    ('@path:/A', '1: @path has another letter case: /a → @path:/a'),
    ('@path:"/?"', '1: In quotes, * and ? are characters → @path:/?'),
    (
      '-service:x (@path:a OR level:debug)',
      '13: @path is compared with the whole value → -service:x (@path:*a* OR level:debug)'
    ),
    ('^zebra x', '1: This is written as in another language → msg:~"^zebra x"'),
    (
      'service:(webb OR x) env:prod',
      '10: There is no service webb: did you mean web? → service:(web OR x) env:prod; '
        '18: None of the newest records has service x; they have api, web → '
    )
  ) c (query_dsl, hints);
select is(
  (select pg_temp.hints(s.warnings) from public.log_stats('service:wep | max(@ms)') s),
  '1: There is no service wep: did you mean web? → service:web | max(@ms)',
  'an aggregate of nothing'
);
select is(
  (select pg_temp.hints(s.warnings) from public.log_stats(c.query_dsl) s limit 1), c.hints,
  'a name that no event has: ' || c.query_dsl
)
from (
  values
    (
      'service:api | max(@MS) by service',
      '19: No event has @MS: did you mean @ms? → service:api | max(@ms) by service'
    ),
    ('| count() by @Path', '14: No event has @Path: did you mean @path? → | count() by @path')
) c (query_dsl, hints);
select is(pg_temp.hints((public.log_series(c.query_dsl)).warnings), c.hints, 'a series of nothing')
from (
  values
    ('service:wep', '1: There is no service wep: did you mean web? → service:web'),
    (
      'service:wep | count() by host',
      '1: There is no service wep: did you mean web? → service:web | count() by host'
    )
) c (query_dsl, hints);
reset role;
select is(
  (
    select string_agg(h ->> 'message', '; ')
    from jsonb_array_elements(logloom_private.hints_for_nothing(
      jsonb_populate_record(
        null::logloom_private.reading_scope,
        jsonb_build_object(
          'tenant_id', 'acme', 'filter', (logloom_private.parse_query('service:api')).tree,
          'hidden_fields', array['attrs.path']
        )
      ),
      'service:wep @Pa:1', tstzrange(now() - interval '1 hour', now())
    )) h
  ),
  'None of the newest events has @Pa. They have @ms; the fields are ts, received_at, id, level, '
    'msg, service, env, req_id, user_id, route, host, any; '
    'None of the newest records has service wep; they have api',
  'a reader learns no services of other records, and no hidden attributes'
);

-- Random records: as rows, sealed, and some of them sealed
create temporary table many as
select
  s.seed, (array['api', 'web', null])[1 + hashtext('service' || n || s.seed) & 3] as service,
  (array['error', 'info'])[1 + hashtext('level' || n || s.seed) & 1] as level,
  case when n % 7 > 0 then hashtext('v' || n || s.seed) % (10 + n % 30) end as v
from generate_series(1, 300) n
cross join (select (random() * 1e6)::integer as seed) s;
select pg_temp.add_records((
  select jsonb_agg(jsonb_build_object(
    'env', 'many', 'service', m.service, 'level', m.level, 'attrs', jsonb_build_object('v', m.v)
  ))
  from many m
));
grant select on many to public;
select pg_temp.act_as_user('acme', 'alice');
select is(
  (
    select jsonb_object_agg(coalesce(s."group" ->> 'service', '-'), s."values")
    from public.log_stats(
      'env:many | count_distinct(@v) as all, count_distinct(@v) if (level:error) as bad by service'
    ) s
  ),
  (
    select jsonb_object_agg(
      coalesce(m.service, '-'), jsonb_build_object('all', m.all, 'bad', m.bad)
    )
    from (
      select
        m.service, count(distinct m.v) as "all",
        count(distinct m.v) filter (where m.level = 'error') as bad
      from many m
      group by 1
    ) m
  ),
  format('count_distinct of random records, seed %s', (select m.seed from many m limit 1))
);
reset role;

-- Rules that sampled, in the hour of receipt.
select pg_temp.act_as_postgres();
insert into logloom.ingest_rule_hours
select 'acme', gen_random_uuid(), date_trunc('hour', now()) - h.ago, 9, 9, 0, 0, h.sampled, 0, 0
from (values (interval '0', 5), (interval '9 hours', 0)) h (ago, sampled);
select pg_temp.act_as_user('acme', 'alice');
select results_eq(
  $$
    select cardinality((public.log_series(null, r.ts_from, r.ts_to)).warnings), s.value,
      s.warnings[1].message
    from (values ('now-1h', null), ('now-10h', 'now-5h')) r (ts_from, ts_to)
    cross join lateral public.log_stats(null, r.ts_from, r.ts_to) s
  $$,
  $$ values
    (1, 306::double precision, '≈ ingest rules sampled events in this range: to estimate all '
      'events, count() by @sample_rate and divide each count by its rate'),
    (0, 0, null) $$,
  'numbers of a range with sampled events say that they are approximate'
);
select * from finish();
rollback;
