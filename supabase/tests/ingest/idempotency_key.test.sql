begin;
update logloom_private.settings set provision_by_secret_key = true;
set local timezone = 'UTC';
select plan(15);

insert into logloom.tenants (tenant_id, plan_id) values ('acme', 'free');
update logloom.plans set monthly_events_limit = 100 where plan_id = 'free';
insert into logloom_private.job_heartbeats (job, last_succeeded_at) values ('write_logs', now())
on conflict (job) do update set last_succeeded_at = excluded.last_succeeded_at;

create function pg_temp.send(p_tenant_id text, p_key text, p_body bytea, p_events integer)
returns jsonb
language plpgsql
as $$
begin
  return public.ingest_logs(
    p_tenant_id => p_tenant_id,
    p_idempotency_key => p_key,
    p_body_digest => encode(sha256(p_body), 'hex'),
    p_ts => array_fill(null::timestamptz, array[p_events])
  );
end;
$$;

create function pg_temp.refusal(p_sql text)
returns jsonb
language plpgsql
as $$
declare
  v_details text;
begin
  execute p_sql;
  return null;
exception when sqlstate 'PGRST' then
  get stacked diagnostics v_details = pg_exception_detail;
  return v_details;
end;
$$;

select is(
  pg_temp.send('acme', 'k1', 'body', 3), '{"success": true, "ingested": 3, "rejected": 0}',
  'the first request is stored'
);
select is(
  pg_temp.send('acme', 'k1', 'body', 3), '{"success": true, "ingested": 3, "rejected": 0}',
  'a repeat returns the first answer'
);
select is((select sum(events)::integer from logloom_private.queue), 3, 'a repeat stores nothing');
select throws_ok(
  $$select pg_temp.send('acme', 'k1', 'other body', 3)$$,
  'PGRST',
  '{"code" : "PT409", "message" : "Idempotency-Key was used with another body", '
  '"details" : "{\"name\": \"ingest.idempotency_key_has_another_body\"}", "hint" : '
  '"Send a new key with a new body; repeat a key only with the same body."}',
  'the same key with another body'
);
select is(
  pg_temp.refusal($$select pg_temp.send('acme', 'k1', 'other body', 3)$$),
  jsonb_build_object(
    'status', 409,
    'headers', jsonb_build_object(
      'X-RateLimit-Limit', '100', 'X-RateLimit-Remaining', '97',
      'X-RateLimit-Reset',
      extract(epoch from date_trunc('month', now()) + interval '1 month')::bigint::text
    )
  ),
  'is refused with what is left of the limit'
);
select is(
  pg_temp.send('globex', 'k1', 'other body', 2), '{"success": true, "ingested": 2, "rejected": 0}',
  'keys are the tenant''s own'
);
update logloom_private.idempotency_keys
set created_at = now() - interval '24 hours 1 second'
where tenant_id = 'acme';
select is(
  pg_temp.send('acme', 'k1', 'other body', 1), '{"success": true, "ingested": 1, "rejected": 0}',
  'after its lifetime a key is new again'
);

-- Slices of one request: one row, each slice stored once.
create function pg_temp.send_slice(p_slice integer, p_events integer, p_body bytea default 'large')
returns jsonb
language plpgsql
as $$
begin
  return public.ingest_logs(
    p_tenant_id => 'initech',
    p_idempotency_key => 'sha256:1',
    p_body_digest => encode(sha256(p_body), 'hex'),
    p_ts => array_fill(
      now() - case when p_slice = 1 then interval '100 years' else '0' end, array[p_events]
    ),
    p_slice => p_slice
  );
end;
$$;
create function pg_temp.stored()
returns integer
language plpgsql
as $$
begin
  return (select sum(q.events) from logloom_private.queue q where q.tenant_id = 'initech');
end;
$$;

select is(
  pg_temp.send_slice(0, 4), '{"success": true, "ingested": 4, "rejected": 0}',
  'the first slice is stored'
);
select is(
  pg_temp.send_slice(0, 4), '{"success": true, "ingested": 4, "rejected": 0}',
  'a repeat of it returns its answer'
);
select is(
  pg_temp.send_slice(1, 2) - 'errors', '{"success": false, "ingested": 0, "rejected": 2}',
  'another slice has an answer of its own'
);
select is(
  pg_temp.send_slice(2, 3), '{"success": true, "ingested": 3, "rejected": 0}',
  'the request goes on where it was interrupted'
);
select is(
  array[pg_temp.send_slice(1, 2) - 'errors', pg_temp.send_slice(2, 3)],
  array[
    '{"success": false, "ingested": 0, "rejected": 2}',
    '{"success": true, "ingested": 3, "rejected": 0}'
  ]::jsonb[],
  'repeats get the counts of the first time'
);
select is(
  array[pg_temp.stored(), (
    select count(*)::integer from logloom_private.idempotency_keys where tenant_id = 'initech'
  )],
  array[7, 1],
  'each slice is stored once, and all are noted in one row'
);
select throws_ok(
  $$select pg_temp.send_slice(3, 1, 'other')$$, 'PGRST', null, 'a slice of another body is refused'
);

select public.ingest_logs(
  p_tenant_id => 'rejected', p_idempotency_key => 'k' || n, p_body_digest => 'aa',
  p_ts => '{}'::timestamptz[], p_rejected => 1
)
from generate_series(1, 3) n;
select is_empty(
  $$select from logloom_private.idempotency_keys where tenant_id = 'rejected'$$,
  'a request of which nothing is stored leaves no row: whoever is over a limit stores nothing'
);

select * from finish();
rollback;
