-- Whether Supabase Auth has a session. Null where there is no Auth, where postgres may not read its
-- sessions, or where the schema auth is another's.
create function logloom_private.auth_session_is_there(p_session_id text)
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_sessions constant regclass := to_regclass('auth.sessions');
  v_is_there boolean;
begin
  if v_sessions is null or not pg_input_is_valid(p_session_id, 'uuid') then
    return null;
  end if;
  execute format('select exists (select from %s s where s.id = $1)', v_sessions)
  into v_is_there
  using p_session_id::uuid;
  return v_is_there;
exception when syntax_error_or_access_rule_violation then
  return null;
end;
$$;
