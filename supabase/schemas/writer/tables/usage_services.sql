create table logloom_private.usage_services (
  tenant_id text not null,
  day date not null,
  service text,
  events bigint not null,
  record_bytes bigint not null,
  unique nulls not distinct (tenant_id, day, service)
)
-- Today's rows change all the time. Free space on the page saves updates of the index.
with (fillfactor = 50);

-- Deleting old days reads only these days.
create index usage_services_day_idx on logloom_private.usage_services using brin (day);

comment on table logloom_private.usage_services is
  'Events of logloom.usage_days by service. The writer adds events in the step that moves them, '
  'dead letters too. Events that ingest rules removed are not in it. record_bytes: bytes of the '
  'JSON text of their records.';

comment on column logloom_private.usage_services.service is
  'Null: events without a service, or with a name longer than 200 characters, or of services that '
  'came after the first max_counted_services() of the day.';

create type logloom_private.service_count as (
  tenant_id text, day date, service text, events bigint, record_bytes bigint
);
