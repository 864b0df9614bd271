create function public.remove_tenant_member(
  p_user_id text default null,
  p_tenant_id text default null
)
returns public.logloom_success
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  perform logloom_private.change_member(p_tenant_id, p_user_id, 'member', true);
  return row(true)::public.logloom_success;
end;
$$;

comment on function public.remove_tenant_member(text, text) is
  'Removes a user from the tenant: their tokens are refused from the next request on. For owners; '
  'the last one cannot be removed. Returns {success}. Errors: PT400, PT401, PT403, PT404.';
