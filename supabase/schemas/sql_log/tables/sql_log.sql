-- Records that SQL has logged, until a step moves them and deletes their rows. While a transaction
-- holds an old snapshot, vacuum cannot remove these dead rows. Steps skip them: sql_log_place says
-- where live rows begin. TRUNCATE, as for the queue's slots, would wait for every transaction that
-- has logged.
create table logloom_private.sql_log (
  xact_id xid8 not null default pg_current_xact_id(),
  id bigint generated always as identity,
  tenant_id text not null,
  creates_tenant boolean not null,
  is_count boolean not null default false,
  record logloom_private.own_record not null,
  bytes integer not null,
  primary key (xact_id, id)
);

comment on table logloom_private.sql_log is
  'Records of logloom.log(), until move_sql_log moves them to the queue after the commit. '
  'is_count: the record says how many records the transaction left out.';

create table logloom_private.sql_log_place (
  singleton boolean primary key default true,
  xact_from xid8 not null default '0',
  open_xacts xid8[] not null default '{}',
  constraint sql_log_place_has_one_row check (singleton)
);

insert into logloom_private.sql_log_place default values;

comment on table logloom_private.sql_log_place is
  'Which rows of sql_log may not be moved yet: those of transactions from xact_from on, and those '
  'of open_xacts.';

-- The minute is in the key: a step never waits for an alert round, which takes earlier minutes.
create table logloom_private.late_sql_logs (
  tenant_id text,
  noted_at timestamptz,
  first_ts timestamptz not null,
  primary key (tenant_id, noted_at)
);

comment on table logloom_private.late_sql_logs is
  'Tenants whose transactions logged and committed later than alert_grace. noted_at: the minute in '
  'which the records were moved to the queue. first_ts: the earliest ts. An alert round that sees '
  'these records evaluates their windows again.';
