-- Returns the confirmed email addresses of users of Supabase Auth. Returns no rows if the project
-- has no Supabase Auth (its schema auth may be another program's), or if postgres may not read the
-- users. Does not fail, because an error would stop a round of alerts.
create function logloom_private.auth_users_by_id(p_user_ids text[])
returns table (user_id text, email text)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_users constant regclass := to_regclass('auth.users');
  v_ids constant uuid[] := array(
    select i.id::uuid from unnest(p_user_ids) i (id) where pg_input_is_valid(i.id, 'uuid')
  );
begin
  if v_users is null or cardinality(v_ids) = 0 then
    return;
  end if;
  return query execute format(
    'select u.id::text, u.email::text from %s u '
    'where u.id = any ($1) and u.email_confirmed_at is not null', v_users
  )
  using v_ids;
exception when syntax_error_or_access_rule_violation then
  return;
end;
$$;

-- Returns the known email addresses of users in a tenant as {user_id: address}.
create function logloom_private.addresses_of_users(p_tenant_id text, p_user_ids text[])
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select coalesce(
      jsonb_object_agg(i.id, coalesce(u.email, m.email)) filter (
        where coalesce(u.email, m.email) is not null
      ),
      '{}'
    )
    from unnest(p_user_ids) i (id)
    left join logloom_private.auth_users_by_id(p_user_ids) u on u.user_id = i.id
    left join logloom.tenant_members m on m.tenant_id = p_tenant_id and m.user_id = i.id
  );
end;
$$;

-- Returns the user of Supabase Auth with this confirmed email address. Raises PT404 if there is
-- none, PT400 if there is no Auth.
create function logloom_private.auth_user_of_email(p_email text)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_users constant regclass := to_regclass('auth.users');
  v_user_id text;
begin
  if v_users is null then
    perform logloom_private.refuse('tenants.user_id_is_missing');
  end if;
  execute format(
    'select u.id::text from %s u where u.email = lower($1) '
    'and u.email_confirmed_at is not null order by u.created_at limit 1', v_users
  )
  into v_user_id
  using p_email;
  if v_user_id is null then
    perform logloom_private.refuse('tenants.no_user_has_this_email');
  end if;
  return v_user_id;
end;
$$;

-- True if Supabase Auth has this session. Null if the project has no Supabase Auth (its schema auth
-- may be another program's), or if postgres may not read the sessions.
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

-- True if a member of the tenant has confirmed this email address to Supabase Auth. The address
-- that add_tenant_member got is a label and proves nothing.
create function logloom_private.is_address_of_member(p_tenant_id text, p_address text)
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return exists (
    select
    from logloom_private.auth_users_by_id(
      array(select m.user_id from logloom.tenant_members m where m.tenant_id = p_tenant_id)
    ) u
    where lower(u.email) = lower(p_address)
  );
end;
$$;
