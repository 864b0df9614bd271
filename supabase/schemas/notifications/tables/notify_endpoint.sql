create table logloom_private.notify_endpoint (
  singleton boolean primary key default true,
  url text,
  secret text,
  constraint notify_endpoint_has_one_row check (singleton)
);

insert into logloom_private.notify_endpoint default values;

comment on table logloom_private.notify_endpoint is
  'Where the edge function logloom-notify is, with logloom-stream beside it, and the secret that '
  'they know their caller by.';
