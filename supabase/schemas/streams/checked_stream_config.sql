-- Checks the config of a stream: its address and the other members of its kind. Raises PT400 if a
-- member is missing, unknown or malformed.
create function logloom_private.checked_stream_config(p_kind text, p_config jsonb)
returns jsonb
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_member record;
begin
  if jsonb_typeof(p_config) is distinct from 'object' then
    perform logloom_private.refuse('streams.config_is_no_object');
  end if;
  for v_member in
    select m.name, m.pattern, m.is_needed, p_config -> m.name as value
    from logloom_private.stream_config_members(p_kind) m
  loop
    if coalesce(v_member.value, 'null') = 'null' then
      if v_member.is_needed then
        perform logloom_private.refuse('streams.config_is_incomplete', v_member.name, p_kind);
      end if;
    elsif jsonb_typeof(v_member.value) <> 'string'
      or length(v_member.value #>> '{}') > 2000
      or v_member.value #>> '{}' !~ v_member.pattern
      -- A key in an address would be shown with the address.
      or v_member.value #>> '{}' ~ 'll[tp]?_[0-9A-Za-z]{36}'
    then
      perform logloom_private.refuse('streams.config_is_invalid', v_member.name);
    end if;
  end loop;
  for v_member in
    select c.key as name
    from jsonb_each(p_config) c
    where c.key not in (select m.name from logloom_private.stream_config_members(p_kind) m)
  loop
    perform logloom_private.refuse(
      'streams.config_is_unknown', left(v_member.name, 60), p_kind,
      (select string_agg(m.name, ', ') from logloom_private.stream_config_members(p_kind) m)
    );
  end loop;
  return jsonb_strip_nulls(p_config);
end;
$$;

-- Returns the members that the config of a kind has.
create function logloom_private.stream_config_members(p_kind text)
returns table (name text, is_needed boolean, pattern text)
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  -- Same rules as for webhooks: printable ASCII, no userinfo, plain HTTP only to this machine.
  v_address constant text :=
    '^(https://[A-Za-z0-9[][!-~]*|http://127\.0\.0\.1(:[0-9]{1,5})?([/?#][!-~]*)?)$';
begin
  return query
  select m.name, m.is_needed, m.pattern
  from (
    values
      ('url', '{webhook,otlp,loki,elasticsearch,splunk_hec,datadog}'::text[], true,
        '^(?![^/]*//[^/?#]*[@\\])' || substr(v_address, 2)),
      ('index', '{elasticsearch}', true, '^[a-z0-9][a-z0-9._-]{0,199}$'),
      ('index', '{splunk_hec}', false, '^[a-z0-9][a-z0-9._-]{0,199}$'),
      ('encoding', '{otlp}', false, '^(json|protobuf)$'),
      ('tags', '{datadog}', false, '^[A-Za-z0-9_:./,-]+$'),
      ('endpoint', '{s3}', true, '^(?![^/]*//[^/?#]*[@\\])(?!.*[?#])' || substr(v_address, 2)),
      ('region', '{s3}', true, '^[a-z0-9][a-z0-9-]{0,62}$'),
      ('bucket', '{s3}', true, '^[a-z0-9][a-z0-9.-]{1,62}$'),
      ('prefix', '{s3}', false,
        '^[A-Za-z0-9_=-][A-Za-z0-9._=-]*(/[A-Za-z0-9_=-][A-Za-z0-9._=-]*)*$'),
      ('access_key_id', '{s3}', true, '^[A-Za-z0-9_-]{3,128}$')
  ) m (name, kinds, is_needed, pattern)
  where p_kind = any (m.kinds);
end;
$$;

create function logloom_private.stream_secret_names(p_kind text)
returns text[]
language sql
immutable
return case p_kind
  when 'webhook' then '{signing_secret,header.*}'::text[]
  when 'splunk_hec' then '{token,header.*}'
  when 'datadog' then '{api_key,header.*}'
  when 's3' then '{secret_access_key}'
  else '{header.*}'
end;

-- Raises PT400 if a secret contains an API key of the tenant itself, because the sent records would
-- come back. When the edge function seals a key, it appends the key's digest.
create function logloom_private.refuse_own_keys(p_tenant_id text, p_secrets jsonb)
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if exists (
    select
    from jsonb_each_text(p_secrets) s
    join logloom.api_keys k
      on k.key_digest = decode(substring(s.value from '\.([0-9a-f]{64})$'), 'hex')
    where k.tenant_id = p_tenant_id
  ) then
    perform logloom_private.refuse('streams.leads_to_itself');
  end if;
end;
$$;
