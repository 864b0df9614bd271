-- PostgREST calls check_request() before every request of the project. Most of these requests do
-- not call Logloom. The function runs as the role of the request, which may be a role of the
-- project's own. So PUBLIC may call the functions that check_request() calls for such a request.

-- Returns which operation of Logloom a request with this path and search_path calls; null if it
-- calls none.
create function logloom_private.requested_operation(p_path text, p_search_path text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_name text := substr(p_path, length('/rpc/') + 1);
  v_code text[];
begin
  -- PostgREST puts the schema of the request first. A function of this name in another schema is
  -- not ours.
  if p_path is null or p_path not like '/rpc/%' or length(p_path) > 250
    or trim(both '"' from split_part(p_search_path, ',', 1)) <> 'public'
  then
    return null;
  end if;
  -- The path is still encoded: %5F is an underscore.
  loop
    v_code := regexp_match(v_name, '%(2[0-9A-Fa-f]|[3-7][0-9A-Fa-f])');
    exit when v_code is null;
    v_name := replace(v_name, '%' || v_code[1], convert_from(decode(v_code[1], 'hex'), 'UTF8'));
  end loop;
  if v_name = any (logloom_private.operations()) then
    return v_name;
  end if;
  return null;
end;
$$;

-- Checks a request that calls one of our operations. Raises:
-- - PT400 without an Authorization header;
-- - PT401 without a usable tenant (for service_role: without a token that is valid now);
-- - PT403 if a user calls an operation for service_role;
-- - PT405 for another method than POST.
create function logloom_private.check_operation(p_search_path text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_headers constant json := nullif(current_setting('request.headers', true), '')::json;
  v_method constant text := current_setting('request.method', true);
  v_operation constant text := logloom_private.requested_operation(
    current_setting('request.path', true), p_search_path
  );
  v_claims jsonb;
  v_is_known boolean := false;
begin
  if v_operation is null then
    return;
  end if;
  if v_headers ->> 'authorization' is null then
    perform logloom_private.refuse('callers.authorization_is_missing');
  end if;
  if current_user in ('authenticated', 'service_role') then
    v_claims := coalesce(
      logloom_private.sent_claims(v_headers ->> 'authorization'), logloom_private.claims()
    );
    v_is_known := case
      when current_user = 'service_role' then logloom_private.token_is_valid(v_claims, true)
      when not logloom_private.token_is_valid(v_claims) then false
      -- The one operation for users who have no tenant yet.
      when v_operation = 'create_tenant' then true
      else logloom_private.tenant_of_claims(logloom_private.claims()) is not null
    end;
  end if;
  if v_is_known is not true then
    perform logloom_private.refuse('callers.not_signed_in');
  end if;
  -- Checked here instead of by the privilege EXECUTE: with supautils 3.2.0 and 3.2.1 a missing
  -- privilege crashes the server.
  if current_user = 'authenticated'
    and v_operation = any (logloom_private.service_operations())
  then
    perform logloom_private.refuse('callers.operation_is_internal', v_operation);
  end if;
  if v_method <> 'POST' then
    perform logloom_private.refuse('callers.method_is_not_allowed', v_method);
  end if;
  -- Hosted projects have extra_float_digits 0: doubles lose their last digits. A project, or the
  -- header Prefer, may set a time zone. In another datestyle a time such as 23/11/2026 IST would be
  -- read in the wrong zone.
  perform
    set_config('extra_float_digits', '1', true),
    set_config('timezone', 'UTC', true),
    set_config('datestyle', 'ISO', true);
end;
$$;

-- PostgREST's pre-request function. Calls the project's own function, then our check. The check
-- ignores requests that do not call our operations. check_request() has no set clause, so the
-- project's function can change the request's settings, and search_path has the request's schema.
create function logloom_private.check_request()
returns void
language plpgsql
as $$
declare
  -- The project's function may change search_path.
  v_search_path constant pg_catalog.text := pg_catalog.current_setting('search_path');
begin
  perform logloom_private.call_host_pre_request();
  perform logloom_private.check_operation(v_search_path);
end;
$$;
