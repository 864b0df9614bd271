create table logloom_private.notified_alerts (
  notification_id uuid not null references logloom_private.notifications on delete cascade,
  alert_id uuid not null references logloom.alert_history on delete cascade,
  primary key (notification_id, alert_id)
);

create index notified_alerts_alert_id_idx on logloom_private.notified_alerts (alert_id);

comment on table logloom_private.notified_alerts is
  'Further alerts of a notification that collected those of several groups.';
