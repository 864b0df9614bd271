begin;
\ir ../actors.psql
\ir records.psql
select plan(11);

select pg_temp.add_records($$[
  {"level": "error", "service": "api", "msg": "x", "attrs": {
    "status": 500, "http": {"method": "GET"}, "a \"b\"": true, "tags": ["a"], "void": null,
    "mixed": 1, "é": "x", "deep": {"a": {"b": {"c": {"d": 1}}}}
  }},
  {"level": "error", "service": "web", "attrs": {
    "status": 404, "http": {"method": "GET"}, "mixed": "one"
  }},
  {"level": "info", "service": "web", "attrs": {"status": 500}},
  {"ago": "2 hours", "host": "earlier"},
  {"tenant": "umbrella", "host": "not yours"}
]$$);
select pg_temp.act_as_user('acme', 'alice');

select is(
  (select string_agg(f.field || ' ' || f.type || ' ' || f.count, ', ' order by f.n)
    from rows from (public.list_log_fields()) with ordinality f (field, type, count, values, n)),
  'attrs.status number 3, id uuid 3, level string 3, received_at timestamp 3, service string 3, '
    'ts timestamp 3, attrs.http.method string 2, attrs.mixed mixed 2, '
    'attrs."a \"b\"" boolean 1, attrs.deep.a.b.c.d number 1, attrs.tags array 1, attrs.é string 1, '
    'msg string 1',
  'fields, most frequent first, as a query names them'
);
select is(
  (select f.values::text from public.list_log_fields() f where f.field = c.field), c.facets,
  'values of ' || c.field
)
from (
  values
    ('level', '{"(error,2)","(info,1)"}'),
    ('service', '{"(web,2)","(api,1)"}'),
    ('attrs.status', '{"(500,2)","(404,1)"}'),
    ('attrs.tags', '{}')
) c (field, facets);
select is_empty(
  $$select f.field from public.list_log_fields() f
    where not (public.validate_query(f.field || ':*')).valid$$,
  'each field is one that a query takes'
);
select is(
  (select f.count from public.list_log_fields(p_ts_from => 'now-3h') f where f.field = 'host'),
  1::bigint, 'of the range'
);
select is(
  (select string_agg(f.field || ' ' || f.count || ' ' || f.values::text, ', ' order by f.n)
    from rows from (public.list_log_fields('service:web'))
      with ordinality f (field, type, count, values, n)
    where f.field in ('service', 'level', 'attrs.status', 'attrs.tags')),
  'attrs.status 2 {"(404,1)","(500,1)"}, level 2 {"(error,1)","(info,1)"}, service 2 {"(web,2)"}',
  'only what the query finds is counted'
);
select throws_ok(
  $$select public.list_log_fields('* | count()')$$, 'PT400',
  'Invalid p_query_dsl: this operation returns records, not count()', 'an aggregate has no fields'
);
select pg_temp.act_as_postgres();
create or replace function logloom_private.sample_bytes()
returns integer
language sql
immutable
return 100000000;
insert into logloom.tenants (tenant_id, plan_id) values ('many', 'pro');
select pg_temp.add_records(
  jsonb_agg(
    jsonb_build_object('tenant', 'many', 'ago', i * interval '100 ms', 'host', 'h' || i % 11)
  )
  || jsonb_build_object('tenant', 'many', 'ago', '5 s', 'attrs', (
    select jsonb_object_agg('a' || n, n) from generate_series(1, 200) n
  ))
)
from generate_series(1, 5000) i;
select pg_temp.act_as_user('many', 'mary');
select results_eq(
  $$select f.field, f.count, cardinality(f.values)
    from public.list_log_fields() f order by f.count desc, f.field limit 2$$,
  $$values ('id', 5000::bigint, 0), ('received_at', 5000, 0)$$,
  'the sample is bounded'
);
select results_eq(
  $$select count(*), max(cardinality(f.values)) from public.list_log_fields() f$$,
  $$values (200::bigint, 10)$$,
  'and so are the lists of fields and of their values'
);

select * from finish();
rollback;
