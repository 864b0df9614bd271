create table logloom_private.archive_endpoint (
  singleton boolean primary key default true,
  url text,
  secret text,
  constraint archive_endpoint_has_one_row check (singleton)
);

insert into logloom_private.archive_endpoint default values;

comment on table logloom_private.archive_endpoint is
  'Where the edge function logloom-archive is, and the secret that it knows its caller by.';
