-- Unlogged: a crash only means that every tenant may send a burst again.
create unlogged table logloom_private.rate_buckets (
  tenant_id text primary key,
  events double precision not null,
  requests double precision not null,
  filled_at timestamptz not null
)
with (fillfactor = 50);

comment on table logloom_private.rate_buckets is
  'Token buckets of tenants whose plan has a rate: the tokens at filled_at. A negative number is a '
  'debt.';
