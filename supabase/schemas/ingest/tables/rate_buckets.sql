-- Unlogged: after a crash every tenant may send a burst again, which is all that is lost.
create unlogged table logloom_private.rate_buckets (
  tenant_id text primary key,
  events double precision not null,
  requests double precision not null,
  filled_at timestamptz not null
)
with (fillfactor = 50);

comment on table logloom_private.rate_buckets is
  'Token buckets of tenants whose plan has a rate: what was left at filled_at. A debt is negative.';
