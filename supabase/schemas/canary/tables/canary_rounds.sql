create table logloom_private.canary_rounds (
  round_id uuid primary key default gen_random_uuid(),
  sent_at timestamptz not null default clock_timestamp(),
  key_id uuid,
  acknowledged_at timestamptz,
  searched_at timestamptz,
  tailed_at timestamptz,
  counted_at timestamptz,
  missing bigint,
  doubled bigint,
  error text
);

create index canary_rounds_sent_at_idx on logloom_private.canary_rounds (sent_at);

comment on table logloom_private.canary_rounds is
  'The canary''s rounds, one a minute, kept for a day. A round has the times when its record was '
  'acknowledged, found by a search and found by a tail. It also has the time when the last hour''s '
  'records were counted.';

comment on column logloom_private.canary_rounds.key_id is
  'The API key of the round. It is deleted when the round ends. Its value is not stored.';

comment on column logloom_private.canary_rounds.missing is
  'How many acknowledged records of the last hour were not counted.';

comment on column logloom_private.canary_rounds.doubled is
  'How many records a count found beyond those sent in the last hour.';
