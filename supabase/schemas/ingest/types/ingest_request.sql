create type logloom_private.ingest_request as (
  p_tenant_id text,
  p_key_digest text,
  p_idempotency_key text,
  p_body_digest text,
  p_bytes integer,
  p_positions integer[],
  p_rejected integer,
  p_errors json,
  p_slice integer,
  p_claims jsonb,
  p_cut integer,
  -- fields sent joined: p_{name} {type}[],
  p_ts timestamptz[], p_level text[], p_msg text[], p_service text[], p_env text[], p_req_id text[],
  p_user_id text[], p_route text[], p_host text[], p_attrs jsonb[],
  -- fields end
  p_all_errors boolean,
  p_guessed jsonb
);

comment on type logloom_private.ingest_request is
  'One request of ingest: the parameters of public.ingest_logs, which says what they are. Its '
  'events are parallel arrays, p_ts of full length.';
