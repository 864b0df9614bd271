-- Degraded if PostgREST does not call our check before a request. The operations stay safe, because
-- each checks its caller itself. But then a missing header gives no 400, another method gives no
-- 405, doubles lose their last digits, and times may be in the project's time zone.
create function logloom_private.pre_request_health()
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_function constant text := (logloom_private.pre_request_setting()).function;
  v_is_called boolean;
begin
  -- PostgREST calls ours, or a function of the project that calls ours.
  v_is_called := v_function = 'logloom_private.check_request' or exists (
    select
    from pg_catalog.pg_proc p
    join pg_catalog.pg_namespace n on n.oid = p.pronamespace
    where p.proname = substr(v_function, strpos(v_function, '.') + 1)
      and (strpos(v_function, '.') = 0 or n.nspname = split_part(v_function, '.', 1))
      and strpos(p.prosrc, 'logloom_private.check_request') > 0
  );
  return logloom_private.health_grade(
    null,
    case when v_is_called is not true then
      'PostgREST does not call logloom_private.check_request: '
        'logloom_private.adopt_pre_request() mends it'
    end
  );
end;
$$;
