-- Returns active, revoked or expired. A key that is both revoked and expired is revoked.
create function logloom_private.api_key_status(p_revoked_at timestamptz, p_expires_at timestamptz)
returns text
language sql
stable
return case
  when p_revoked_at is not null then 'revoked'
  when p_expires_at <= now() then 'expired'
  else 'active'
end;
