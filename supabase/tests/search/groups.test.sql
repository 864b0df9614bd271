begin;
\ir ../actors.psql
\ir records.psql
select plan(9);

select pg_temp.add_records($$[
  {"ts": "2026-01-05T10:00:00Z", "level": "error", "service": "api", "host": "a",
    "msg": "took 17 ms", "attrs": {"code": 500, "user": {"id": 7}}},
  {"ts": "2026-01-05T10:00:01Z", "level": "error", "service": "api", "host": "b",
    "msg": "took 4 ms", "attrs": {"code": 500, "user": {"id": 8}}},
  {"ts": "2026-01-05T10:01:02Z", "level": "info", "service": "web", "host": "a",
    "msg": "took 233 ms", "attrs": {"code": "200"}},
  {"ts": "2026-01-05T10:06:03Z", "level": "info", "service": "web", "host": "a",
    "msg": "ready", "attrs": {"code": 200}},
  {"ts": "2026-01-05T10:06:04Z", "level": "info", "service": "job", "attrs": {"code": null}},
  {"ts": "2026-01-05T10:07:05Z", "level": "warn", "host": "", "msg": "ready"}
]$$);
select pg_temp.act_as_user('acme', 'alice');

create function pg_temp.grouped(p_query text)
returns table (groups text, value double precision)
language sql
begin atomic
  select s."group"::text, s.value
  from public.log_stats(p_query, '2026-01-05T10:00:00Z', '2026-01-05T11:00:00Z') s;
end;

select results_eq(
  $$select * from pg_temp.grouped('| count() by host')$$,
  $$values ('{"host": "a"}', 3::double precision), ('{"host": ""}', 1), ('{"host": "b"}', 1),
    ('{"host": null}', 1)$$,
  'by a field; the empty text is not null'
);
select results_eq(
  $$select * from pg_temp.grouped('| count() by attrs.code')$$,
  $$values ('{"attrs.code": "200"}', 2::double precision), ('{"attrs.code": "500"}', 2),
    ('{"attrs.code": null}', 2)$$,
  'by an attribute: a number as text, JSON null as null'
);
select results_eq(
  $$select * from pg_temp.grouped('| count() by attrs.code, host, level | sort by host, level')$$,
  $$values ('{"host": "", "level": "warn", "attrs.code": null}', 1::double precision),
    ('{"host": "a", "level": "error", "attrs.code": "500"}', 1),
    ('{"host": "a", "level": "info", "attrs.code": "200"}', 2),
    ('{"host": "b", "level": "error", "attrs.code": "500"}', 1),
    ('{"host": null, "level": "info", "attrs.code": null}', 1)$$,
  'by several fields'
);
select results_eq(
  $$select * from pg_temp.grouped('took -level:info | count() by host')$$,
  $$values ('{"host": "a"}', 1::double precision), ('{"host": "b"}', 1)$$,
  'with a filter'
);
select results_eq(
  $$select * from pg_temp.grouped('| count() by attrs.user.id')$$,
  $$values ('{"attrs.user.id": null}', 4::double precision), ('{"attrs.user.id": "7"}', 1),
    ('{"attrs.user.id": "8"}', 1)$$,
  'by a nested attribute'
);
select results_eq(
  $$select s."group" ->> 'pattern', s.value, s."values" ->> 'first', s."values" ->> 'last',
      s."values" ->> 'example' in ('took 17 ms', 'took 4 ms', 'took 233 ms', 'ready')
    from public.log_stats('| patterns', '2026-01-05T10:00:00.5Z', '2026-01-05T11:00:00Z') s$$,
  $$values
    ('ready', 2::double precision, '2026-01-05T10:06:03.000000Z', '2026-01-05T10:07:05.000000Z',
      true),
    ('took <*> ms', 2, '2026-01-05T10:00:01.000000Z', '2026-01-05T10:01:02.000000Z', true),
    (null, 1, '2026-01-05T10:06:04.000000Z', '2026-01-05T10:06:04.000000Z', null)$$,
  'patterns with their first and last time in the range and an example'
);
select is(
  (select jsonb_agg(jsonb_build_array(s."group" -> 'host', jsonb_path_query_array(
    s.points, '$[*][1] ? (@ > 0)')))
    from public.log_series(
      '| count() by host', '2026-01-05T10:00:00Z', '2026-01-05T10:10:00Z', 2
    ) a, unnest(a.series) s),
  '[["a", [2, 1]], ["", [1]], ["b", [1]], [null, [1]]]', 'a series for each group'
);
select results_eq(
  $$select f.field, f.count, (f.values[1]).value, (f.values[1]).count
    from public.list_log_fields('', '2026-01-05T10:00:00Z', '2026-01-05T11:00:00Z') f
    where f.field in ('host', 'msg', 'attrs.code')$$,
  $$values ('host', 5::bigint, 'a', 3::bigint), ('msg', 5, null, null),
    ('attrs.code', 4, '200', 2)$$,
  'fields with their most frequent values'
);

reset role;
update logloom_private.settings set search_stage_records = 1;
create or replace function logloom_private.max_templates()
returns integer
language sql
immutable
return 1;
select pg_temp.act_as_user('acme', 'alice');
select is(
  (select (s.warnings[1]).message
    from public.log_stats('| patterns', '2026-01-05T10:00:00Z', '2026-01-05T11:00:00Z') s limit 1),
  'patterns reached its limit of 1 records, or 1 templates of blocks: these are the newest',
  'a reached limit of patterns is a warning'
);
select * from finish();
rollback;
