-- Attempts to deliver by a kind of channel that the tenant's plan allows in an hour.
create function logloom_private.channel_limit(p_kind text, p_tenant_id text)
returns integer
language sql
stable
return (
  to_jsonb(logloom_private.plan_of(p_tenant_id)) ->> (p_kind || 's_per_hour')
)::integer;
