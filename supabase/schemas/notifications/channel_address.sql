-- The address of a channel in a rule's notification_config or, sealed, in its secrets; or null. A
-- new channel needs a line here, a value in notifications_channel_is_known and in
-- alert_rules_destinations_are_known, and a way to deliver in functions/logloom-notify/channels.ts.
create function logloom_private.channel_address(
  p_channel text,
  p_config jsonb,
  p_secrets jsonb
)
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
    when 'slack' then return p_secrets ->> 'slack_url';
    when 'discord' then return p_secrets ->> 'discord_url';
    when 'teams' then return p_secrets ->> 'teams_url';
    when 'pagerduty' then return p_secrets ->> 'pagerduty_key';
  end case;
end;
$$;
