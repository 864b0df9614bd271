create table logloom_private.kept_longer (
  kept_id uuid primary key default gen_random_uuid(),
  tenant_id text not null,
  first_day date not null,
  last_day date not null,
  kept_until timestamptz not null,
  constraint kept_longer_days_are_in_order check (first_day <= last_day)
);

create index kept_longer_tenant_id_idx on logloom_private.kept_longer (tenant_id, kept_until);

comment on table logloom_private.kept_longer is
  'Days that a tenant keeps for a while although its retention does not: those that were brought '
  'back. Past kept_until a row means nothing.';
