begin;
\ir ../ingest.psql
select plan(11);

select 1048576 - logloom_private.bare_record_bytes('acme', '2000-01-01T00:00:00.000001Z')
  as max_event_bytes
\gset

insert into logloom.tenants (tenant_id, plan_id) values ('acme', 'free');
insert into logloom.api_keys (tenant_id, name, key_prefix, key_digest, expires_at, revoked_at)
values
  ('acme', 'live', 'll_aaaaaaaa', sha256('live'), null, null),
  ('acme', 'revoked', 'll_bbbbbbbb', sha256('revoked'), null, now()),
  ('acme', 'expired', 'll_cccccccc', sha256('expired'), now() - interval '1 second', null);

set local role service_role;

-- Returns the hint, which the edge function puts into WWW-Authenticate.
create function pg_temp.hint_for(p_sql text)
returns text
language plpgsql
as $$
declare
  v_hint text;
begin
  execute p_sql;
  return 'let in';
exception when sqlstate 'PT401' then
  get stacked diagnostics v_hint = pg_exception_hint;
  return v_hint;
end;
$$;

prepare call_with_key as
select pg_temp.send_request(
  p_key_digest => encode(sha256($1::bytea), 'hex'), p_ts => array[null]::timestamptz[]
);

select is(
  pg_temp.send_request(
    p_key_digest => encode(sha256('live'), 'hex'), p_ts => array[null, null]::timestamptz[]
  ),
  '{"success": true, "ingested": 2, "rejected": 0}', 'a live API key enqueues'
);
select throws_ok(
  format('execute call_with_key(%L)', key), 'PT401',
  'Invalid token, API key, or missing tenant_id', 'this key is refused: ' || key
)
from unnest(array['revoked', 'expired', 'unknown']) key;
select throws_ok(
  $$select pg_temp.send_request(p_tenant_id => ' ', p_ts => array[now()])$$,
  'PT404', 'There is no tenant  ', 'a blank tenant is refused'
);
select throws_ok(
  $$select pg_temp.send_request(p_ts => array[now()])$$,
  'PT401', 'Invalid token, API key, or missing tenant_id', 'a request without a caller is refused'
);
select is(
  pg_temp.hint_for(format('execute call_with_key(%L)', k.key)), k.hint,
  'the hint for a key: ' || k.key
)
from (values
  ('revoked', 'The API key was revoked: create_api_key makes another.'),
  ('expired', 'The API key has expired: create_api_key makes another.'),
  ('revoke', 'There is no such API key or ingest token in this project.')
) k (key, hint);
select is(
  pg_temp.send_request(p_key_digest => encode(sha256('live'), 'hex')),
  -- 1 MiB minus the names, the tenant and the time of receipt.
  jsonb_build_object(
    'authenticated', true, 'max_event_bytes', :max_event_bytes, 'max_event_values', 160000
  ),
  'without p_ts the call only authenticates, and says how large an event may be'
);

reset role;
select is(
  (select count(*)::integer from logloom_private.queue),
  1, 'a refused call leaves nothing in the queue'
);

select * from finish();
rollback;
