create type public.logloom_key_reads as (operation text, day date, reads bigint);

comment on type public.logloom_key_reads is
  'How many requests of a key an operation answered on a UTC day.';

create type public.logloom_api_key_usage as (
  key_id uuid,
  name text,
  created_at timestamptz,
  last_used_at timestamptz,
  days_since_creation integer,
  days_since_last_use integer,
  reads public.logloom_key_reads[]
);

comment on type public.logloom_api_key_usage is
  'Use of an API key. days_since_…: whole days; days_since_last_use is null if the key was never '
  'used. reads: by operation and day, for the last 31 days.';

create function public.get_api_key_usage(p_tenant_id text default null, p_key_id uuid default null)
returns public.logloom_api_key_usage
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
  v_result public.logloom_api_key_usage;
begin
  perform logloom_private.require_parameter('p_key_id', p_key_id is null);
  select
    k.key_id, k.name, k.created_at, k.last_used_at,
    floor(extract(epoch from now() - k.created_at) / 86400),
    floor(extract(epoch from now() - k.last_used_at) / 86400),
    logloom_private.my_key_reads(v_tenant_id, k.key_id)
  into v_result
  from logloom.api_keys k
  where k.tenant_id = v_tenant_id and k.key_id = p_key_id;
  if not found then
    perform logloom_private.refuse('api_keys.not_found');
  end if;
  return v_result;
end;
$$;

comment on function public.get_api_key_usage(text, uuid) is
  'When an API key was created and last used, the whole days since each, and its reads by '
  'operation and day. Errors: PT400, PT401, PT403, PT404.';
