-- A page of members with what Auth knows of them.
create function logloom_private.read_members(p_tenant_id text, p_limit integer, p_after text)
returns setof public.logloom_member
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because email addresses are in a table of Auth
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
  v_limit constant integer := logloom_private.list_limit(p_limit);
  v_after constant timestamptz := logloom_private.page_place(
    p_after::text, 'member', 'user_id',
    (
      select m.created_at from logloom.tenant_members m
      where m.tenant_id = v_tenant_id and m.user_id = p_after
    )
  );
begin
  return query
  with page as materialized (
    select m.*
    from logloom.tenant_members m
    where m.tenant_id = v_tenant_id
      and (p_after is null or (m.created_at, m.user_id) < (v_after, p_after))
    order by m.created_at desc, m.user_id desc
    limit v_limit
  )
  select p.user_id, p.role, coalesce(u.email, p.email), p.created_at, p.view_id
  from page p
  left join logloom_private.auth_users_by_id(array(select i.user_id from page i)) u
    on u.user_id = p.user_id
  order by p.created_at desc, p.user_id desc;
end;
$$;

create function public.list_tenant_members(
  p_tenant_id text default null,
  p_limit integer default null,
  p_after text default null
)
returns setof public.logloom_member
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select m.* from logloom_private.read_members(p_tenant_id, p_limit, p_after) m;
end;
$$;

comment on function public.list_tenant_members(text, integer, text) is
  'Members of the tenant, newest first; none where the tenant does not use roles. p_limit 1 to '
  '1000 (default 100), p_after: user_id of the last item of the page before. '
  'Errors: PT400, PT401, PT403.';
