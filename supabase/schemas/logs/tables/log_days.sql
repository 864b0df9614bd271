create table logloom_private.log_days (
  tenant_id text not null,
  day date not null,
  primary key (tenant_id, day)
);

create index log_days_day_tenant_id_idx on logloom_private.log_days (day, tenant_id);

comment on table logloom_private.log_days is
  'The UTC days in which a tenant has records, so that a search names those days only. A day stays '
  'here until its partition goes or retention finds nothing of the tenant left in it.';
