create function public.ingest_logs(
  p_tenant_id text default null,
  p_key_digest text default null,
  p_idempotency_key text default null,
  p_body_digest text default null,
  p_bytes integer default null,
  p_positions integer[] default null,
  p_rejected integer default null,
  p_errors json default null,
  p_slice integer default null,
  p_claims jsonb default null,
  p_cut integer default null,
  -- fields sent joined: p_{name} {type}[] default null,
  p_ts timestamptz[] default null, p_level text[] default null, p_msg text[] default null,
  p_service text[] default null, p_env text[] default null, p_req_id text[] default null,
  p_user_id text[] default null, p_route text[] default null, p_host text[] default null,
  p_attrs jsonb[] default null,
  -- fields end
  p_all_errors boolean default null,
  p_guessed jsonb default null
)
returns json
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
set statement_timeout = '5s'
as $$
declare
  v_answer constant logloom_private.ingest_answer := logloom_private.ingest(
    row(
      p_tenant_id, p_key_digest, p_idempotency_key, p_body_digest, p_bytes, p_positions,
      p_rejected, p_errors, p_slice, p_claims, p_cut,
      -- fields sent joined: p_{name},
      p_ts, p_level, p_msg, p_service, p_env, p_req_id, p_user_id, p_route, p_host, p_attrs,
      -- fields end
      p_all_errors, p_guessed
    )::logloom_private.ingest_request,
    null
  );
begin
  -- PostgREST wants each header in an object of its own. In JSON text a quote within a value stands
  -- behind a backslash.
  perform set_config(
    'response.headers',
    '[' || replace(v_answer.headers::text, '", "', '"}, {"') || ']',
    true
  );
  return v_answer.body;
end;
$$;

comment on function public.ingest_logs is
  'What the edge function ingest calls, once a request. The caller is p_key_digest (hex SHA-256 '
  'of an API key), or who p_claims (of a token whose signature was verified) name, or p_tenant_id. '
  'Events are parallel arrays; p_ts is of full '
  'length, null where missing; without p_ts the call only authenticates and tells the limits. '
  'p_positions: index in the request of each event, null when nothing was rejected before; '
  'p_rejected, p_errors: what was. p_slice: number, from 0, of this part of a request that is '
  'committed in several calls: the first one decides whether the limits of the plan allow the '
  'request. p_cut: events of which a part was cut off, '
  'since the record would be larger than max_record_bytes or max_record_values allow. '
  'p_all_errors: errors are to list every rejected event, not the first hundred. p_guessed: of '
  'events whose ts stood under a name that may mean something else, the place in the arrays from '
  '1 and the member {place: {name: value}}: out of range it is an attribute and no ts. '
  'Returns the answer to the client {success, ingested, rejected, cut, errors}. '
  'Errors: PT401, PT404, PT409, PT413, PT429, PT503; statement_timeout is the enqueue timeout of '
  'the watermark.';
