create function logloom_private.read_archive(
  p_tenant_id text,
  p_limit integer,
  p_after uuid
)
returns setof public.logloom_archive_part
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because the API roles do not read logloom_private.settings
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
  v_after logloom.archive_parts;
begin
  perform logloom_private.require_role(v_tenant_id, 'member');
  select p.* into v_after
  from logloom.archive_parts p
  where p.tenant_id = v_tenant_id and p.part_id = p_after and p.status <> 'draft';
  if p_after is not null and v_after.part_id is null then
    perform logloom_private.refuse('parameters.no_such_place', 'file', 'part_id');
  end if;
  return query
  select
    p.part_id, p.tenant_id, p.first_day, p.last_day, p.first_ts, p.last_ts, p.records, p.bytes,
    p.status, p.verified_at, s.archive_bucket, p.object_key, p.sha256
  from logloom.archive_parts p
  cross join logloom_private.settings s
  where p.tenant_id = v_tenant_id and p.status <> 'draft'
    and (p_after is null or (p.last_day, p.number) < (v_after.last_day, v_after.number))
  order by p.last_day desc, p.number desc
  limit p_limit;
end;
$$;

create function public.list_log_archive(
  p_tenant_id text default null,
  p_limit integer default null,
  p_after uuid default null
)
returns setof public.logloom_archive_part
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select a.*
  from logloom_private.read_archive(p_tenant_id, logloom_private.list_limit(p_limit), p_after) a;
end;
$$;

comment on function public.list_log_archive(text, integer, uuid) is
  'Files of the tenant''s archive, those of the last days first, for members. p_limit 1 to 1000 '
  '(default 100), p_after: part_id of the last item of the page before. '
  'Errors: PT400, PT401, PT403.';
