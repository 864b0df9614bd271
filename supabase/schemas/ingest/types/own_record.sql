create type logloom_private.own_record as (
  -- fields sent joined: {name} {type}
  ts timestamptz, level text, msg text, service text, env text, req_id text, user_id text,
  route text, host text, attrs jsonb
  -- fields end
);

comment on type logloom_private.own_record is
  'A record that the database itself makes, for ingest_own. A null ts stands for the time of '
  'receipt.';

create type logloom_private.own_answer as (stored integer, refused integer, error text);

comment on type logloom_private.own_answer is
  'How many records ingest_own stored and refused. error: why it refused some; null if it did not.';
