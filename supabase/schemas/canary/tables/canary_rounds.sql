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
  'What the canary saw, a row a minute, kept for a day: when its record was acknowledged, found by '
  'a search, by a tail, and when the records of the last hour were counted.';

comment on column logloom_private.canary_rounds.key_id is
  'The API key of the round, which ends with it. Its value is nowhere.';

comment on column logloom_private.canary_rounds.missing is
  'Records of the last hour that were acknowledged and are not counted.';

comment on column logloom_private.canary_rounds.doubled is
  'Records that are counted beyond those sent in the last hour.';
