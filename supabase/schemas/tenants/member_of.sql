-- A member as operations show it.
create function logloom_private.member_of(p_member logloom.tenant_members)
returns public.logloom_member
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return row(
    p_member.user_id, p_member.role,
    coalesce(
      (select u.email from logloom_private.auth_users_by_id(array[p_member.user_id]) u),
      p_member.email
    ),
    p_member.created_at,
    p_member.view_id
  )::public.logloom_member;
end;
$$;
