-- Reads PostgREST's pre-request function from the settings of the role authenticator. A setting for
-- this database wins. Returns the function's name as PostgREST reads it (not quoted), and whether
-- it is set for this database alone. Null if there is none.
create function logloom_private.pre_request_setting(out function text, out of_database boolean)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  select substr(c.entry, length('pgrst.db_pre_request=') + 1), s.setdatabase <> 0
  into function, of_database
  from pg_catalog.pg_db_role_setting s
  cross join unnest(s.setconfig) c (entry)
  where s.setrole = 'authenticator'::regrole
    and s.setdatabase in (
      0, (select d.oid from pg_catalog.pg_database d where d.datname = current_database())
    )
    and c.entry like 'pgrst.db\_pre\_request=%'
  order by s.setdatabase desc
  limit 1;
end;
$$;

-- Calls the project's own pre-request function; adopt_pre_request() writes this body. There is no
-- set clause, so the project's function sees and can change the settings of the request.
create function logloom_private.call_host_pre_request()
returns void
language plpgsql
as $$
begin
  null;
end;
$$;

-- Makes PostgREST call p_function before every request; null for none.
create function logloom_private.set_pre_request(p_function text, p_of_database boolean)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_role constant text := 'alter role authenticator'
    || case when p_of_database then format(' in database %I', current_database()) else '' end;
begin
  if p_function is null then
    execute v_role || ' reset pgrst.db_pre_request';
  else
    execute v_role || format(' set pgrst.db_pre_request = %L', p_function);
  end if;
  notify pgrst, 'reload config';
end;
$$;

-- Makes check_request() PostgREST's pre-request function. check_request() then calls the function
-- that was set before. Call this again as postgres if the project sets another function later.
create function logloom_private.adopt_pre_request()
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_ours constant text := 'logloom_private.check_request';
  v_setting constant record := logloom_private.pre_request_setting();
  v_host text := nullif(v_setting.function, '');
begin
  if v_host = v_ours then
    return;
  end if;
  if v_host is null and logloom_private.is_restored() then
    -- A dump does not contain settings of roles: only this table knows the function.
    select i.host_pre_request into v_host
    from logloom_private.installation i
    where exists (
      select
      from pg_catalog.pg_proc p
      join pg_catalog.pg_namespace n on n.oid = p.pronamespace
      where p.proname = substr(i.host_pre_request, strpos(i.host_pre_request, '.') + 1)
        and (
          strpos(i.host_pre_request, '.') = 0
          or n.nspname = split_part(i.host_pre_request, '.', 1)
        )
    );
  end if;
  -- PostgREST reads the part before the first dot as the schema, and quotes both parts.
  execute format(
    'create or replace function logloom_private.call_host_pre_request() returns void '
      'language plpgsql volatile security invoker as %L',
    format(
      e'\nbegin\n  %s;\nend;\n',
      case
        when v_host is null then 'null'
        when v_host like '%.%' then format(
          'perform %I.%I()', split_part(v_host, '.', 1), substr(v_host, strpos(v_host, '.') + 1)
        )
        else format('perform %I()', v_host)
      end
    )
  );
  update logloom_private.installation set host_pre_request = v_host where singleton;
  perform logloom_private.set_pre_request(v_ours, coalesce(v_setting.of_database, false));
end;
$$;

-- Degraded if PostgREST does not call our check before a request. The operations stay safe, because
-- each checks its caller itself. But a missing header gives no 400, another method no 405, doubles
-- lose their last digits, and times may be in the project's time zone.
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
