-- Attempts to deliver by a channel that the tenant's plan allows in an hour.
create function logloom_private.channel_limit(p_channel text, p_tenant_id text)
returns integer
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    to_jsonb(logloom_private.plan_of(p_tenant_id)) ->> (p_channel || 's_per_hour')
  )::integer;
end;
$$;
