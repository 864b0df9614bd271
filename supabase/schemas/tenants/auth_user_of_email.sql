-- The user of Supabase Auth with this confirmed email address. PT404, PT400 without Auth.
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
