create table logloom_private.alert_spending (
  tenant_id text primary key,
  spent_ms double precision not null
);

comment on table logloom_private.alert_spending is
  'What the rules of a tenant took of the present round beyond what is done for all at once: who '
  'took least comes next.';
