-- Secrets as operations show them: {"token": {"set": true}}.
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

-- Returns a receiver's secrets after applying p_secrets: names with sealed texts from the edge
-- functions (_shared/sealed_secrets.ts). null removes a secret. Raises PT400 for a name that is not
-- in p_names, and for a text that is not sealed. header.* in p_names allows every header, except
-- the headers that every batch has anyway.
create function logloom_private.changed_secrets(
  p_current jsonb,
  p_secrets jsonb,
  p_names text[]
)
returns jsonb
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_header constant text := '^header\.(?!(user-agent|content-type|idempotency-key|'
    'logloom-stream-.*|webhook-(id|timestamp|signature))$)[a-z][a-z0-9-]{0,90}$';
  v_sealed constant text := '^lls1\.[A-Za-z0-9_-]{8}\.[A-Za-z0-9_-]{38,}'
    '(\.=[A-Za-z0-9_-]{43})?(\.[0-9a-f]{64})?$';
  v_secret record;
begin
  if p_secrets is null then
    return p_current;
  elsif jsonb_typeof(p_secrets) <> 'object' or octet_length(p_secrets::text) > 200000 then
    perform logloom_private.refuse('parameters.secrets_are_invalid');
  end if;
  for v_secret in select s.key as name, s.value from jsonb_each(p_secrets) s loop
    if v_secret.name <> all (p_names)
      and not ('header.*' = any (p_names) and v_secret.name ~ v_header)
    then
      perform logloom_private.refuse(
        'parameters.secret_is_unknown', left(v_secret.name, 60), array_to_string(p_names, ', ')
      );
    elsif v_secret.value <> 'null' and (
      jsonb_typeof(v_secret.value) <> 'string'
      or length(v_secret.value #>> '{}') > 24000
      or v_secret.value #>> '{}' !~ v_sealed
    ) then
      perform logloom_private.refuse('parameters.secret_is_not_sealed', v_secret.name);
    end if;
  end loop;
  return jsonb_strip_nulls(p_current || p_secrets);
end;
$$;
