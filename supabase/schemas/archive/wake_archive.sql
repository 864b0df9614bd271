-- Wakes the edge function logloom-archive, which asks for work.
create function logloom_private.wake_archive()
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_endpoint logloom_private.archive_endpoint;
begin
  select e.* into v_endpoint from logloom_private.archive_endpoint e;
  if v_endpoint.url is null or v_endpoint.secret is null then
    raise exception 'logloom_private.archive_endpoint has no url or no secret';
  end if;
  perform logloom_private.call_function(
    v_endpoint.url, 'X-Logloom-Archive-Secret', v_endpoint.secret
  );
end;
$$;
