create function public.list_alert_silences(
  p_tenant_id text default null,
  p_limit integer default null,
  p_after uuid default null
)
returns setof public.logloom_alert_silence
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
  v_limit constant integer := logloom_private.list_limit(p_limit);
  v_list_bytes constant integer := logloom_private.list_bytes();
  v_after constant timestamptz := logloom_private.page_place(
    p_after::text, 'silence', 'silence_id',
    (
      select s.created_at from logloom.alert_silences s
      where s.tenant_id = v_tenant_id and s.silence_id = p_after
    )
  );
begin
  return query
  select (p.item).*
  from (
    select
      logloom_private.alert_silence_of(s) as item,
      sum(octet_length(s."group"::text) + octet_length(coalesce(s.comment, ''))) over (
        order by s.created_at desc, s.silence_id desc
        rows between unbounded preceding and 1 preceding
      ) as bytes_before
    from (
      select l.*
      from logloom.alert_silences l
      where l.tenant_id = v_tenant_id
        and (p_after is null or (l.created_at, l.silence_id) < (v_after, p_after))
      order by l.created_at desc, l.silence_id desc
      limit v_limit
    ) s
    order by s.created_at desc, s.silence_id desc
  ) p
  where coalesce(p.bytes_before, 0) < v_list_bytes;
end;
$$;

comment on function public.list_alert_silences(text, integer, uuid) is
  'Silences of the tenant, newest first; those that are over, too, for 30 days. p_limit 1 to 1000 '
  '(default 100), p_after: silence_id of the last item of the page before. '
  'Errors: PT400, PT401, PT403.';
