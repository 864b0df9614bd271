-- No foreign key: whoever is counted here has a row of logloom_private.notifications.
create table logloom_private.notification_usage (
  tenant_id text not null,
  channel text not null,
  hour timestamptz not null,
  attempts integer not null,
  primary key (tenant_id, channel, hour)
);

comment on table logloom_private.notification_usage is
  'Attempts to deliver, by tenant, kind of channel (email, webhook) and hour of the clock: what '
  'the plan limits.';
