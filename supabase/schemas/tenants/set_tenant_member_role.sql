create function public.set_tenant_member_role(
  p_user_id text default null,
  p_role text default null,
  p_tenant_id text default null,
  p_view_id uuid default null
)
returns public.logloom_member
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return logloom_private.change_member(p_tenant_id, p_user_id, p_role, p_view_id => p_view_id);
end;
$$;

comment on function public.set_tenant_member_role(text, text, text, uuid) is
  'Sets what a member may do, from their next request on, and returns the member. p_role: viewer, '
  'member, admin or owner. p_view_id: the view that a viewer reads in. For owners; the last one '
  'stays an owner. '
  'Errors: PT400, PT401, PT403, PT404.';
