-- Attempts to deliver by a channel that a plan allows in an hour.
create function logloom_private.channel_limit(p_channel text, p_plan logloom.plans)
returns integer
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  case p_channel
    when 'email' then return p_plan.emails_per_hour;
    when 'webhook' then return p_plan.webhooks_per_hour;
  end case;
end;
$$;
