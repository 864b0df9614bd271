-- The queue: one row (batch) per request, with the events as arrays, in slots that rotate. A slot
-- is filled, closed, moved and emptied by TRUNCATE. No dead rows stay behind, whatever snapshots
-- other transactions hold.

create sequence logloom_private.queue_batch_id as bigint;

create table logloom_private.queue (
  slot smallint not null,
  batch_id bigint not null,
  batch_key uuid not null,
  tenant_id text not null,
  key_id uuid,
  received_at timestamptz not null,
  events integer not null,
  bytes integer not null,
  ts_min timestamptz not null,
  ts_max timestamptz not null,
  ts timestamptz[] compression lz4 not null,
  level text[] compression lz4,
  msg text[] compression lz4,
  service text[] compression lz4,
  env text[] compression lz4,
  req_id text[] compression lz4,
  user_id text[] compression lz4,
  route text[] compression lz4,
  host text[] compression lz4,
  attrs jsonb[] compression lz4,
  record_bytes integer[] compression lz4,
  dropped integer not null default 0,
  spans integer not null default 0,
  rule_counts logloom_private.ingest_rule_count[],
  primary key (batch_id, slot)
)
partition by list (slot);

create index queue_tenant_id_batch_id_idx on logloom_private.queue (tenant_id, batch_id);

create table logloom_private.queue_slot_0 partition of logloom_private.queue for values in (0);
create table logloom_private.queue_slot_1 partition of logloom_private.queue for values in (1);
create table logloom_private.queue_slot_2 partition of logloom_private.queue for values in (2);

comment on table logloom_private.queue is
  'Committed events on their way to logloom.logs: one row per request, with parallel arrays. An '
  'array is null if no event has the field. A null ts stands for received_at.';

comment on column logloom_private.queue.batch_key is
  'UUIDv7 whose last 16 bits are 0. With an event''s index in these bits it is the id of the '
  'record.';

comment on column logloom_private.queue.bytes is
  'Size of the request body, without the part of dropped events (unless settings.count_dropped).';

comment on column logloom_private.queue.dropped is
  'Events of the request that ingest rules removed. A request may have no other events.';

comment on column logloom_private.queue.record_bytes is
  'Bytes of the JSON text of each event''s record.';

comment on column logloom_private.queue.ts_min is
  'Earliest ts of the batch. ts_min and ts_max say which partitions the batch needs.';

create table logloom_private.queue_slots (
  slot smallint primary key,
  moved_through bigint not null default 0,
  moved_events bigint not null default 0,
  metered_events bigint not null default 0,
  truncated_at timestamptz not null default now()
);

insert into logloom_private.queue_slots (slot) values (0), (1), (2);

comment on table logloom_private.queue_slots is 'How much of each slot has been moved.';

comment on column logloom_private.queue_slots.moved_through is
  'All batches of the slot up to this batch_id are in logloom.logs. Written together with the '
  'records.';

comment on column logloom_private.queue_slots.moved_events is
  'Events moved since the slot was emptied.';

create table logloom_private.queue_marks (
  slot smallint not null references logloom_private.queue_slots on delete restrict,
  batch_to bigint not null,
  received_at timestamptz not null,
  primary key (slot, batch_to)
);

create table logloom_private.queue_pointer (
  singleton boolean primary key default true,
  open_slot smallint not null references logloom_private.queue_slots on delete restrict,
  closed_slot smallint references logloom_private.queue_slots on delete restrict,
  metered_through bigint not null default 0,
  constraint queue_pointer_has_one_row check (singleton),
  constraint queue_pointer_slots_differ check (open_slot <> closed_slot)
);

insert into logloom_private.queue_pointer (open_slot) values (0);

create index queue_pointer_open_slot_idx on logloom_private.queue_pointer (open_slot);
create index queue_pointer_closed_slot_idx on logloom_private.queue_pointer (closed_slot);

comment on column logloom_private.queue_slots.metered_events is
  'Events metered since the slot was emptied. metered_events minus moved_events is the number of '
  'events that still wait.';

comment on table logloom_private.queue_marks is
  'How old waiting batches are, without reading them. A row has the earliest received_at of '
  'batches that were metered together, up to batch_to. It is kept until these batches are moved.';

comment on table logloom_private.queue_pointer is
  'The slot that is filled now, and the closed one that is moved now.';

comment on column logloom_private.queue_pointer.metered_through is
  'All batches up to this batch_id are counted in logloom.usage_days and in metered_events.';
