begin;
select plan(10);

insert into logloom.tenants (tenant_id, plan_id) values ('acme', 'free');
update logloom_private.jobs set last_succeeded_at = now() where name = 'write_logs';

-- ␜, ␝, ␞ and ␟ stand for the separators.
create function pg_temp.separated(p_text text) returns text language sql as $$
  select translate(p_text, '␜␝␞␟', e'\x1c\x1d\x1e\x1f')
$$;

select is(
  logloom_private.request_of_text(
    pg_temp.separated(
      '{"p_tenant_id": "acme", "p_bytes": 9, "p_positions": [0, 2]}'
      || '␞2026-11-21T12:00:00Z␟␝␞info␟␝␞a "b" \ {c}, null␟␞␝␟NULL␞␞␞␞␞h␟␝'
      || '␞[{"a": [1.0, null, "é"]}, null]'
    )
  )::text,
  json_populate_record(
    null::logloom_private.ingest_request,
    '{
      "p_tenant_id": "acme", "p_bytes": 9, "p_positions": [0, 2],
      "p_ts": ["2026-11-21T12:00:00Z", null], "p_level": ["info", null],
      "p_msg": ["a \"b\" \\ {c}, null", ""], "p_service": [null, "NULL"], "p_host": ["h", null],
      "p_attrs": [{"a": [1.0, null, "é"]}, null]
    }'
  )::text,
  'columns equal the JSON, with nulls, empty texts and any characters'
);
select is(
  logloom_private.request_of_text('{"p_bytes": 9, "p_ts": [null], "p_msg": ["a\u001eb"]}')::text,
  json_populate_record(
    null::logloom_private.ingest_request,
    '{"p_bytes": 9, "p_ts": [null], "p_msg": ["a\u001eb"]}'
  )::text,
  'a request may be JSON only'
);
select is(
  (logloom_private.request_of_text(pg_temp.separated('{}␞␞␞␞␞␞␞␞␞␞'))).p_ts, '{}'::timestamptz[],
  'a request without events has an empty column of times'
);
select is(
  (logloom_private.request_of_text('{}')).p_ts, null::timestamptz[],
  'a request that only authenticates has no column of times'
);

set local role service_role;
create temp table answers as
select a.value, a.n
from json_array_elements(
  public.ingest_text(
    translate(
      '{"p_tenant_id": "acme", "p_bytes": 20}␞␝␟␝␞␞a␟b␞␞␞␞␞␞␞'
      || '␜{"p_tenant_id": "acme", "p_bytes": 10}␞not a time␞␞␞␞␞␞␞␞␞'
      || '␜{"p_key_digest": "00", "p_bytes": 10}␞␝␞␞␞␞␞␞␞␞␞'
      || '␜not JSON'
      || '␜{"p_tenant_id": "acme", "p_bytes": 10, "p_ts": [null], "p_msg": ["\u001f"]}'
      || '␜{"p_tenant_id": "acme"}',
      '␜␝␞␟', e'\x1c\x1d\x1e\x1f'
    )
  )
) with ordinality a (value, n);
select is(
  (select array_agg(a.value ->> 'status' order by a.n) from answers a),
  '{200,500,401,500,200,200}', 'each request of a call has its own status, in order'
);
select is(public.ingest_text()::text, '[]', 'a call without a request has no answer');
reset role;
select is(
  (select array_agg(row(q.events, q.bytes, q.msg)::text order by q.batch_id)
    from logloom_private.queue q),
  array[row(2, 20, '{a,b}'::text[])::text, row(1, 10, array[e'\x1f'])::text],
  'accepted requests are queued'
);

set local role service_role;
select throws_ok(
  'select logloom_private.request_of_text(''{}'')', '42501', null,
  'service_role may not call request_of_text'
);
set local role authenticated;
select throws_ok(
  'select public.ingest_text(''{}'')', '42501', null, 'users may not call ingest_text'
);
set local role anon;
select throws_ok(
  'select public.ingest_text(''{}'')', '42501', null, 'anon may not call ingest_text'
);

select * from finish();
rollback;
