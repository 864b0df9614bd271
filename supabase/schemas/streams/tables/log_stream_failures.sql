create table logloom.log_stream_failures (
  failure_id uuid primary key default gen_random_uuid(),
  stream_id uuid not null references logloom.log_streams on delete cascade,
  tenant_id text not null,
  kind text not null,
  occurred_at timestamptz not null default clock_timestamp(),
  record_id uuid,
  record_ts timestamptz,
  records integer,
  ts_from timestamptz,
  ts_to timestamptz,
  status integer,
  error text not null,
  constraint log_stream_failures_kind_is_known check (kind in ('refused', 'rejected', 'gap')),
  constraint log_stream_failures_gap_has_bounds check (
    (kind = 'gap') = (ts_from is not null and ts_to is not null)
  )
);

create index log_stream_failures_stream_id_occurred_at_idx
on logloom.log_stream_failures (stream_id, occurred_at desc, failure_id desc);
create index log_stream_failures_tenant_id_idx on logloom.log_stream_failures (tenant_id);
create index log_stream_failures_occurred_at_idx on logloom.log_stream_failures (occurred_at);
create unique index log_stream_failures_gaps_idx
on logloom.log_stream_failures (stream_id, ts_from) where kind = 'gap';

create policy log_stream_failures_select_tenant on logloom.log_stream_failures
for select to authenticated
using (tenant_id = (select logloom_private.current_tenant_id()));

grant select on logloom.log_stream_failures to authenticated, service_role;

comment on table logloom.log_stream_failures is
  'What a stream did not send. refused: a record that the receiver does not accept. rejected: the '
  'receiver accepted a batch except for some records and does not say which. gap: records of '
  '[ts_from, ts_to) that retention deleted before they were sent.';

create table logloom_private.stream_round (
  singleton boolean primary key default true,
  noted_through bigint not null default 0,
  constraint stream_round_has_one_row check (singleton)
);

insert into logloom_private.stream_round default values;

comment on table logloom_private.stream_round is
  'The write sequence up to which streams with new records were marked. Marking a stream idle '
  'locks this row.';
