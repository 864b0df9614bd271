create type public.logloom_audit_trail_event as (
  event_id uuid, tenant_id text, occurred_at timestamptz, source text, actor text, action text,
  targets jsonb, context jsonb, client_id text, day date, position bigint, erased_at timestamptz
);

comment on type public.logloom_audit_trail_event is
  'An event of the audit trail. source: app (the project''s own) or logloom. actor: a user''s id, '
  'or a role. targets: what was changed, [{type, id, …}]. context: further details; for a row of '
  'an audited table its old and new values. day, position: the place in the chain, if it has one.';

create type public.logloom_audit_verdict as (
  events bigint, erased bigint, day_from date, day_to date, digest text, fault text, fault_day date,
  fault_position bigint, fault_event_id uuid, next_day date
);

comment on type public.logloom_audit_verdict is
  'What was verified: events, how many of them are erased, their first and last day, and the '
  'digest of the last one as hex. fault: null, or the first fault: event_missing, event_changed, '
  'link_changed, digest_changed or day_missing. next_day: where to go on if the range has too many '
  'events for one call.';

create type logloom_private.audited_statement as (
  name text, keys text[], hidden_columns text[], columns_have_changed boolean, tenant_column text,
  row_source text, tenant_id text, actor text, client_id text, context jsonb
);

comment on type logloom_private.audited_statement is
  'What the events of a statement on an audited table have in common. name, keys: the table and '
  'its primary key. hidden_columns: columns that are not recorded. columns_have_changed: a column '
  'of audit_table() has another name now. tenant_column: the column with a row''s tenant; '
  'tenant_id: the tenant of rows that name none. row_source: SQL that selects the columns of a '
  'row, or null for all.';
