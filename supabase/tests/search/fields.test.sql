begin;
\ir ../actors.psql
\ir records.psql
select plan(21);

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
  'fields, most frequent first, as queries name them'
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
  'a query accepts each field'
);
select is(
  (select f.count from public.list_log_fields(p_ts_from => 'now-3h') f where f.field = 'host'),
  1::bigint, 'only fields of the range'
);
select is(
  (select string_agg(f.field || ' ' || f.count || ' ' || f.values::text, ', ' order by f.n)
    from rows from (public.list_log_fields('service:web'))
      with ordinality f (field, type, count, values, n)
    where f.field in ('service', 'level', 'attrs.status', 'attrs.tags')),
  'attrs.status 2 {"(404,1)","(500,1)"}, level 2 {"(error,1)","(info,1)"}, service 2 {"(web,2)"}',
  'only records of the query count'
);
select throws_ok(
  $$select public.list_log_fields('* | count()')$$, 'PT400',
  'Invalid p_query_dsl: this operation returns records, not count()', 'an aggregate is refused'
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
  $$select count(*), max(cardinality(f.values)) from public.list_log_fields() f$$,
  $$values (200::bigint, 10)$$,
  'the lists of fields and of their values are bounded'
);
select results_eq(
  $$select f.field, f.count from public.list_log_fields(p_name => 'S.A19') f order by 1 limit 2$$,
  $$values ('attrs.a19', 1::bigint), ('attrs.a190', 1)$$,
  'a field is found by a part of its name'
);
select is_empty(
  $$select f.field from public.list_log_fields(p_name => '100%s') f$$,
  'also by a part that no field has'
);
select pg_temp.act_as_postgres();

-- The last tenth of this range differs from the rest, and the range has more records than the
-- sample.
create or replace function logloom_private.sample_records()
returns integer
language sql
immutable
return 200;
insert into logloom.tenants (tenant_id, plan_id) values ('spread', 'pro');
select pg_temp.add_records(
  jsonb_agg(
    jsonb_build_object(
      'tenant', 'spread', 'ago', i * interval '1700 ms',
      'level', case when i % 4 = 0 then 'error' else 'info' end,
      'service', case when i % 10 = 0 then 'api' else 'web' end,
      'host', case when i <= 200 then 'new' else 'old' end,
      'attrs', jsonb_build_object(
        'status', case when i <= 200 then 500 else 200 end, 'n', i,
        'deep', jsonb_build_object('host', case when i <= 200 then 'new' else 'old' end)
      )
    )
  )
)
from generate_series(1, 2000) i;
select pg_temp.act_as_user('spread', 'sue');
create function pg_temp.values_of(p_query text, p_field text)
returns text
language sql
as $$
  select string_agg(v.value || ' ' || v.count, ', ' order by v.count desc, v.value)
  from public.list_log_fields(p_query) f, unnest(f.values) v
  where f.field = p_field
$$;
select is(
  (select array_agg(f.field order by f.field collate "C") from public.list_log_fields() f
    where f.exact),
  case when current_setting('logloom_test.sealed', true) in ('all', 'some')
    then '{attrs.status,host,level,service}' else '{level,service}' end::text[],
  'levels, services and fields with few values are exact'
);
select results_eq(
  $$select f.field, f.count, f.records, pg_temp.values_of('', f.field)
    from public.list_log_fields() f where f.exact order by 1$$,
  $$select f.field, sum(s.value)::bigint, 2000::bigint,
      string_agg(s."group" ->> f.field || ' ' || s.value, ', ' order by s.value desc)
    from public.list_log_fields() f
    cross join public.log_stats('| count() by ' || f.field) s
    where f.exact
    group by 1 order by 1$$,
  'exact counts equal those of count() by'
);
select results_eq(
  $$select f.field, pg_temp.values_of('level:error', f.field), f.exact, f.records
    from public.list_log_fields('level:error') f where f.field in ('level', 'service') order by 1$$,
  $$values ('level', 'error 500', true, 500::bigint), ('service', 'web 400, api 100', true, 500)$$,
  'also of a query'
);
select results_eq(
  $$select f.field, f.exact, f.count = f.records, f.records between 180 and 240,
      (select v.count / f.records::numeric between 0.05 and 0.2
        from unnest(f.values) v where v.value = 'new')
    from public.list_log_fields('$$ || q.query || $$') f where f.field = 'attrs.deep.host'$$,
  $$values ('attrs.deep.host', false, true, true, true)$$,
  'a sample is spread over the range: ' || q.query
)
from unnest('{"",level:info,@n:>0}'::text[]) q (query);
select results_eq(
  $$select f.exact, f.records, f.count from public.list_log_fields('@n:<=150') f
    where f.field in ('host', 'id')$$,
  $$values (true, 150::bigint, 150::bigint), (true, 150, 150)$$,
  'all fields are exact if the sample is all records'
);
select pg_temp.act_as_postgres();
savepoint counted;
delete from logloom_private.log_counts where tenant_id = 'spread';
select pg_temp.act_as_user('spread', 'sue');
select results_eq(
  $$select f.exact, f.records between 180 and 240
    from public.list_log_fields(
      'level:error', to_jsonb(date_trunc('minute', now()) - interval '1 hour') #>> '{}',
      to_jsonb(date_trunc('minute', now())) #>> '{}'
    ) f
    where f.field = 'attrs.n'$$,
  'values (false, true)', 'fields are listed even if the stored counts have lost the records'
);
rollback to counted;
select pg_temp.act_as_postgres();
create function pg_temp.fields_in_view()
returns text
language sql
security definer
as $$
  select string_agg(f.field || ' ' || f.exact || ' ' || f.values::text, ', ' order by f.field)
  from logloom_private.read_log_fields(
    row(
      'spread', null, 'key', (logloom_private.compile_query('service:web')).tree,
      '{level,attrs.status}', null, null, null, null, null
    )::logloom_private.reading_scope,
    '', null, null, null
  ) f
  where f.field in ('level', 'service', 'attrs.status')
$$;
select pg_temp.act_as_service_role();
select is(
  pg_temp.fields_in_view(), 'service true {"(web,1800)"}',
  'counts of a view leave out hidden records'
);

select * from finish();
rollback;
