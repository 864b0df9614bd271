-- Reads the claims from the token of an Authorization header, as the client sent them. PostgREST
-- has already verified the signature. Returns null if the header has no token of three parts.
-- Returns {} (nobody) if the claims are not a JSON object or have a duplicate member.
create function logloom_private.sent_claims(p_authorization text)
returns jsonb
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_part constant text := split_part(p_authorization, '.', 2);
  v_text text;
begin
  if split_part(p_authorization, '.', 3) = '' or split_part(p_authorization, '.', 4) <> '' then
    return null;
  end if;
  v_text := convert_from(
    decode(
      rpad(translate(v_part, '-_', '+/'), (length(v_part) + 3) / 4 * 4, '='), 'base64'
    ),
    'UTF8'
  );
  -- Of two members with the same name, PostgREST takes the first, and other readers the last.
  if v_text is json object with unique keys then
    return v_text::jsonb;
  end if;
  return '{}';
exception when data_exception or character_not_in_repertoire then
  return '{}';
end;
$$;

-- Returns the verified claims of the request's token, as PostgREST set them. Null outside a
-- request.
create function logloom_private.claims()
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return nullif(current_setting('request.jwt.claims', true), '')::jsonb;
-- jsonb cannot hold NUL or half a surrogate pair, and its depth is limited. A token with such
-- claims counts as no token.
exception when data_exception or statement_too_complex then
  return null;
end;
$$;

create function logloom_private.current_user_id()
returns text
language sql
stable
return logloom_private.claims() ->> 'sub';

-- Whether the request runs as service_role. Works within definer functions, too.
create function logloom_private.is_service_role()
returns boolean
language sql
stable
return current_setting('role', true) = 'service_role';

-- True if the token's OAuth client is not in settings.writing_clients: the token may only read. Its
-- holder may call the reading operations, but cannot read tables.
create function logloom_private.reads_only(p_claims jsonb)
returns boolean
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role reads the settings
begin
  return p_claims ->> 'client_id' is not null and not exists (
    select
    from logloom_private.settings s
    where p_claims ->> 'client_id' = any (s.writing_clients)
  );
end;
$$;

-- Returns the user of the request. Raises PT401 if the token has no claim sub.
create function logloom_private.require_user_id()
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_user_id constant text := logloom_private.current_user_id();
begin
  if v_user_id is null or v_user_id !~ '[^[:space:]]' then
    perform logloom_private.refuse('callers.user_is_missing');
  end if;
  return v_user_id;
end;
$$;

-- Raises PT403 for a token from an anonymous sign-in, unless tenants_by_anonymous_users is on.
create function logloom_private.require_lasting_user(p_claims jsonb)
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if coalesce(p_claims -> 'is_anonymous', 'false') not in ('false', 'null')
    and not (select s.tenants_by_anonymous_users from logloom_private.settings s)
  then
    perform logloom_private.refuse('tenants.not_made_by_anonymous_users');
  end if;
end;
$$;

-- Raises PT403 for a token that may only read.
create function logloom_private.require_writing_client(p_claims jsonb)
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if logloom_private.reads_only(p_claims) then
    perform logloom_private.refuse('callers.client_may_only_read');
  end if;
end;
$$;
