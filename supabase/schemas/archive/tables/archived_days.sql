create table logloom_private.archived_days (
  tenant_id text not null,
  day date not null,
  write_seq bigint not null,
  primary key (tenant_id, day)
);

comment on table logloom_private.archived_days is
  'Which records are in the archive: of a tenant''s day those up to write_seq. A record is '
  'archived by what it is, never by where it is stored, so sealing, merging and unsealing change '
  'nothing.';
