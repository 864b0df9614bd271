create table logloom_private.counted_days (
  day date not null,
  noted_at timestamptz not null default now(),
  tenant_id text not null,
  primary key (tenant_id, day)
);

create index counted_days_noted_at_idx on logloom_private.counted_days (noted_at);

comment on table logloom_private.counted_days is
  'Days of a tenant whose counts were summed up since pack_log_counts last looked at all of them.';
