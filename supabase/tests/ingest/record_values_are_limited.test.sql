-- The memory for reading a record is limited by the number of its values as well as by its bytes.
begin;
\ir ../actors.psql
\ir ../ingest.psql
select plan(16);

select is(logloom_private.values_in(v.json), v.count, 'values of ' || v.json)
from (
  values
  ('{}', 12), ('{"a": 1}', 13), ('{"a": 1, "b": null}', 15), ('{"a": []}', 25),
  ('{"a": [1, true, ""]}', 27), ('[[[]], {}]', 49)
) v (json, count);

-- Commas and brackets within texts, next to quotes and backslashes.
select is(
  logloom_private.has_more_values(v.attrs, v.count), false,
  'at most ' || v.count || ' in ' || left(v.attrs::text, 50)
)
from (
  values
  ('{",[{": ",[{:"}'::jsonb, 13), ('{"a\"[,": "\\", "b": "\\\",["}'::jsonb, 15),
  (jsonb_build_object('a', repeat('"\,[', 100000)), 13)
) v (attrs, count);
select is(
  logloom_private.has_more_values('{"a\"[,": "\\", "b": "\\\",["}', 14), true,
  'more than 14 values are found'
);

create function pg_temp.send(p_attrs jsonb) returns integer language sql as $$
  select (pg_temp.send_request(
    p_tenant_id => 'acme', p_ts => array[null, null]::timestamptz[],
    p_attrs => array[null, p_attrs]
  ) ->> 'ingested')::integer
$$;
create function pg_temp.numbers(p_count integer) returns jsonb language sql as $$
  select jsonb_build_object('n', array_fill(1, array[p_count]))
$$;

-- The object and the array count 11 each. The member that holds the array counts 2.
select is(pg_temp.send(pg_temp.numbers(159976)), 2, 'a record may have 160000 values');
select throws_ok(
  $$select pg_temp.send(pg_temp.numbers(159977))$$,
  'PT413', 'A record has more than 160000 values', 'one more is refused'
);
select throws_ok(
  $$select pg_temp.send(jsonb_build_object('n', array_fill('{}'::jsonb, array[14000])))$$,
  'PT413', 'A record has more than 160000 values', 'objects count more than numbers'
);
select is(
  pg_temp.send(jsonb_build_object('text', repeat('[1], ', 200000))), 2, 'a text is one value'
);
update logloom_private.settings set max_record_values = 4096 where singleton;
select throws_ok(
  $$select pg_temp.send(pg_temp.numbers(4073))$$,
  'PT413', 'A record has more than 4096 values', 'the limit is a setting'
);
select is(pg_temp.send(pg_temp.numbers(4072)), 2, 'which applies at once');

select * from finish();
rollback;
