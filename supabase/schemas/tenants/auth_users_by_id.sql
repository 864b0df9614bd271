-- Confirmed email addresses of users of Supabase Auth. No rows where there is no Auth, where
-- postgres may not read its users, or where the schema auth is another's: a round of alerts goes on
-- all the same.
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
