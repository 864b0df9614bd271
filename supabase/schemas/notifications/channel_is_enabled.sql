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
