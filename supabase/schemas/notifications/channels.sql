-- A channel has a line in each of these, a column of logloom.plans, a value in
-- notifications_channel_is_known and in alert_rules_destinations_are_known, and a way to deliver in
-- functions/logloom-notify/channels.ts.

-- The address of a channel in a rule's notification_config, or null.
create function logloom_private.channel_address(p_channel text, p_config jsonb)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  -- A channel that is not named here is an error, never somebody else's address.
  case p_channel
    when 'email' then return p_config ->> 'email';
    when 'webhook' then return p_config ->> 'webhook_url';
  end case;
end;
$$;

-- Whether the tenant wants to hear by a channel at all.
create function logloom_private.channel_is_enabled(
  p_channel text,
  p_preferences public.logloom_notification_preferences
)
returns boolean
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  case p_channel
    when 'email' then return p_preferences.email_enabled;
    when 'webhook' then return p_preferences.webhook_enabled;
  end case;
end;
$$;

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
