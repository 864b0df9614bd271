begin;
select plan(8);

create function pg_temp.send_together(p_requests json) returns json language sql as $$
  select public.ingest_text(string_agg(r.value::text, e'\x1c' order by r.n))
  from json_array_elements(p_requests) with ordinality r (value, n)
$$;

insert into logloom.tenants (tenant_id, plan_id) values ('acme', 'free');
update logloom_private.jobs set last_succeeded_at = now() where name = 'write_logs';
update logloom.plans set monthly_events_limit = 3 where plan_id = 'free';
set local role service_role;

create temp table answers as
select a.value, a.n
from json_array_elements(
  pg_temp.send_together(
    '[
      {"p_tenant_id": "acme", "p_bytes": 20, "p_ts": [null, null], "p_msg": ["a", "b"]},
      {"p_tenant_id": "acme", "p_bytes": 10, "p_ts": ["not a time"]},
      {"p_key_digest": "00", "p_bytes": 10, "p_ts": [null]},
      {
        "p_tenant_id": "acme", "p_bytes": 10, "p_ts": ["1970-01-01T00:00:00Z", null],
        "p_msg": ["old", "c"]
      },
      {"p_tenant_id": "acme", "p_bytes": 10, "p_ts": [null]}
    ]'
  )
) with ordinality a (value, n);

select is(
  (select array_agg(a.value ->> 'status' order by a.n) from answers a),
  '{200,500,401,200,429}', 'each request has its own status, in order'
);
select is(
  (select array_agg((a.value ->> 'body')::jsonb - 'details' order by a.n) from answers a),
  array[
    '{"success": true, "ingested": 2, "rejected": 0}',
    '{"code": "22007", "message": ""}',
    '{
      "code": "PT401", "message": "Invalid token, API key, or missing tenant_id",
      "hint": "There is no such API key or ingest token in this project."
    }',
    '{
      "success": true, "ingested": 1, "rejected": 1, "errors": [{
        "index": 0, "code": "ts_out_of_range",
        "message": "ts is older than the retention of 7 days"
      }]
    }',
    '{
      "code": "PT429", "message": "Monthly event limit reached: 3 events",
      "hint": "The limit is the plan''s. The count starts again next month (UTC)."
    }'
  ]::jsonb[],
  'its own body'
);
select is(
  (select array_agg(a.value #>> '{headers,X-RateLimit-Remaining}' order by a.n) from answers a),
  '{1,null,null,0,0}', 'and its own headers'
);
select ok(
  (select a.value #>> '{headers,Retry-After}' is not null from answers a where a.n = 5),
  'with Retry-After where it was refused'
);
select is(
  nullif(current_setting('response.headers', true), ''), null, 'no header applies to the whole call'
);
reset role;
select is(
  (select array_agg(row(q.events, q.bytes, q.msg)::text order by q.batch_id)
    from logloom_private.queue q),
  array[row(2, 20, '{a,b}'::text[])::text, row(1, 10, '{c}'::text[])::text],
  'accepted requests are queued in a row each, and nothing else'
);

insert into logloom.api_keys (tenant_id, name, key_prefix, key_digest)
values ('acme', 'live', 'll_aaaaaaaa', sha256('live'));
insert into logloom.tenants (tenant_id, plan_id) values ('globex', 'pro');
update logloom.plans set monthly_events_limit = 1000 where plan_id = 'free';
update logloom.plans set monthly_events_limit = 2000 where plan_id = 'pro';
set local role service_role;
create temp table answers_of_two as
select a.value, a.n
from json_array_elements(
  pg_temp.send_together(
    replace(
      '[
        {"p_key_digest": "KEY", "p_bytes": 10, "p_ts": ["not a time"]},
        {"p_key_digest": "KEY", "p_bytes": 9000000, "p_ts": [null]},
        {"p_key_digest": "KEY", "p_bytes": 10, "p_ts": [null]},
        {"p_tenant_id": "globex", "p_bytes": 10, "p_ts": [null]},
        {"p_key_digest": "KEY", "p_bytes": 10, "p_ts": [null]},
        {"p_key_digest": "KEY"}
      ]',
      'KEY', encode(sha256('live'), 'hex')
    )::json
  )
) with ordinality a (value, n);
reset role;
select is(
  (
    select array_agg(
      format(
        '%s %s of %s', a.value ->> 'status', a.value #>> '{headers,X-RateLimit-Remaining}',
        a.value #>> '{headers,X-RateLimit-Limit}'
      )
      order by a.n
    )
    from answers_of_two a
  ),
  array[
    '500  of ', '413  of ', '200 996 of 1000', '200 1999 of 2000', '200 995 of 1000',
    '200 995 of 1000'
  ],
  'each request has the limits of its caller, and earlier ones count'
);
select is(
  (select k.last_used_at from logloom.api_keys k), now(),
  'the use of a key is recorded although its first request was refused'
);

select * from finish();
rollback;
