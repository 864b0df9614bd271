create table logloom_private.alert_rounds (
  singleton boolean primary key default true,
  window_end timestamptz not null,
  write_seq_from bigint not null,
  write_seq_to bigint not null,
  finished_at timestamptz,
  staged_by integer,
  rules_through uuid,
  constraint alert_rounds_has_one_row check (singleton)
);

comment on table logloom_private.alert_rounds is
  'The last round: where its windows ended, and which write_seqs it added to the groups.';

comment on column logloom_private.alert_rounds.staged_by is
  'The backend whose temporary table has the records that arrived for the round.';

comment on column logloom_private.alert_rounds.rules_through is
  'Rules up to this one were evaluated, in the order of their ids.';
