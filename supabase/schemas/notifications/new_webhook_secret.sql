-- A secret in the form of Standard Webhooks.
create function logloom_private.new_webhook_secret()
returns text
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  return 'whsec_' || encode(extensions.gen_random_bytes(32), 'base64');
end;
$$;
