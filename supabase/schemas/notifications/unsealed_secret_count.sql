-- Secrets of webhooks that are kept in plain text, since the function logloom-notify has no key, or
-- was not called yet.
create function logloom_private.unsealed_secret_count()
returns integer
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select count(*)
    from logloom_private.webhook_secrets w
    where starts_with(w.secret, 'whsec_') or starts_with(w.previous_secret, 'whsec_')
  );
end;
$$;
