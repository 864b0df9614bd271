-- The address of a channel in a rule's notification_config, or null. A new channel needs a line
-- here, its columns <channel>s_per_hour of logloom.plans and <channel>_enabled of the preferences,
-- a value in notifications_channel_is_known and in alert_rules_destinations_are_known, and a way to
-- deliver in functions/logloom-notify/channels.ts.
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
