-- As what a channel is limited by the plan and switched by the tenant: email, or webhook for all
-- that goes by HTTP.
create function logloom_private.channel_kind(p_channel text)
returns text
language sql
immutable
return case p_channel when 'email' then 'email' else 'webhook' end;
