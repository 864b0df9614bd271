create type logloom_private.ingest_rule_count as (
  id uuid,
  seen integer,
  matched integer,
  masked integer,
  dropped integer,
  sampled integer,
  not_checked integer,
  bytes integer
);

comment on type logloom_private.ingest_rule_count is
  'What a rule did to a slice of a request. seen, matched: events. masked: values replaced. '
  'not_checked: values that it could not check in time. dropped, sampled: events removed. bytes: '
  'bytes saved by this.';

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
  p_guessed jsonb,
  p_dropped integer,
  p_rule_counts logloom_private.ingest_rule_count[],
  p_rules_version text,
  p_spans integer
);

comment on type logloom_private.ingest_request is
  'One request of ingest. The caller is p_key_digest (hex SHA-256 of an API key or ingest token), '
  'p_claims (of a verified token), or p_tenant_id. Events are parallel arrays. p_ts has a value '
  'for each event, or null for an event without a time. Without p_ts the request only '
  'authenticates and asks for the limits. p_positions: the index of each event in the request. '
  'Null if the function ingest rejected none. p_rejected, p_errors: the events that the function '
  'ingest rejected. p_slice: the number, from 0, of this part of a request that comes in several '
  'calls. The first one decides about the plan''s limits. p_cut: events that were cut to '
  'max_record_bytes or max_record_values. p_all_errors: errors list all rejected events, not the '
  'first hundred. p_guessed: events whose ts came from an ambiguous name, as {place: {name: '
  'value}}. Places count from 1. If such a ts is out of range, it becomes an attribute. p_dropped: '
  'events of this slice that rules of the tenant removed. p_rule_counts: what each rule did. '
  'p_rules_version: the version of the rules that were applied; null: none. p_spans: how many of '
  'the events are spans, or events of spans.';
