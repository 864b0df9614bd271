-- Secrets as operations answer them: {"token": {"set": true}}.
create function logloom_private.shown_secrets(p_secrets jsonb)
returns jsonb
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select coalesce(jsonb_object_agg(s.name, '{"set": true}'::jsonb), '{}')
    from jsonb_object_keys(p_secrets) s (name)
  );
end;
$$;
