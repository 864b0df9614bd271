create table logloom.usage_days (
  tenant_id text not null,
  day date not null,
  events bigint not null,
  bytes bigint not null,
  refused bigint not null default 0,
  dropped bigint not null default 0,
  spans bigint not null default 0,
  primary key (tenant_id, day)
)
-- Today's rows change all the time. Free space on the page saves updates of the index.
with (fillfactor = 50);

create policy usage_days_select_tenant on logloom.usage_days
for select to authenticated
using (tenant_id = (select logloom_private.current_tenant_id()));

grant select on logloom.usage_days to authenticated, service_role;

comment on table logloom.usage_days is
  'Events and bytes accepted per tenant and UTC day of receipt. meter_batches adds to it. Batches '
  'after queue_pointer.metered_through are not in it yet.';

comment on column logloom.usage_days.refused is
  'Records that the database itself made for the tenant (such as by logloom.log()) and that the '
  'limits refused.';

comment on column logloom.usage_days.dropped is
  'Events that ingest rules removed. They are in events only if settings.count_dropped is on.';

comment on column logloom.usage_days.spans is
  'How many of the events are spans, or events of spans. Queued batches are not in it yet.';
