begin;
select plan(6);

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

select is(
  pg_temp.send('acme', 'k1', 'body', 3), '{"success": true, "ingested": 3, "rejected": 0}',
  'the first request is stored'
);
select is(
  pg_temp.send('acme', 'k1', 'body', 3), '{"success": true, "ingested": 3, "rejected": 0}',
  'a repeat returns the first answer'
);
select is((select sum(events)::integer from private.queue), 3, 'a repeat stores nothing');
select throws_ok(
  $$select pg_temp.send('acme', 'k1', 'other body', 3)$$,
  'PT409', 'Idempotency-Key was used with another body', 'the same key with another body'
);
select is(
  pg_temp.send('globex', 'k1', 'other body', 2), '{"success": true, "ingested": 2, "rejected": 0}',
  'keys are the tenant''s own'
);
update private.idempotency_keys
set created_at = now() - interval '24 hours 1 second'
where tenant_id = 'acme';
select is(
  pg_temp.send('acme', 'k1', 'other body', 1), '{"success": true, "ingested": 1, "rejected": 0}',
  'after its lifetime a key is new again'
);

select * from finish();
rollback;
