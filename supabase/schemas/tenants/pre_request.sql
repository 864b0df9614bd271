create type logloom_private.pre_request_setting as (function text, of_database boolean);

comment on type logloom_private.pre_request_setting is
  'A pre-request function by its name as PostgREST reads it (not quoted), and whether it is set '
  'for this database alone.';

-- What PostgREST calls before every request: a setting of the role authenticator, where one for
-- this database wins. Null members where there is none.
create function logloom_private.pre_request_setting()
returns logloom_private.pre_request_setting
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_setting logloom_private.pre_request_setting;
begin
  select substr(c.entry, length('pgrst.db_pre_request=') + 1), s.setdatabase <> 0
  into v_setting
  from pg_catalog.pg_db_role_setting s
  cross join unnest(s.setconfig) c (entry)
  where s.setrole = 'authenticator'::regrole
    and s.setdatabase in (
      0, (select d.oid from pg_catalog.pg_database d where d.datname = current_database())
    )
    and c.entry like 'pgrst.db\_pre\_request=%'
  order by s.setdatabase desc
  limit 1;
  return v_setting;
end;
$$;

-- Makes PostgREST call this function before every request; null: none.
create function logloom_private.set_pre_request(p_function text, p_of_database boolean)
returns void
language plpgsql
volatile
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

-- Makes check_request() PostgREST's pre-request function and lets it call the one that was set so
-- far. To be called again, as postgres, where the project has set another since.
create function logloom_private.adopt_pre_request()
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_ours constant text := 'logloom_private.check_request';
  v_setting constant logloom_private.pre_request_setting := logloom_private.pre_request_setting();
  v_host constant text := nullif(v_setting.function, '');
begin
  if v_host = v_ours then
    return;
  end if;
  -- PostgREST takes what stands before the first dot for the schema, and quotes both.
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

-- Degraded where PostgREST no longer calls our check before a request. The operations stay safe,
-- they decide who is calling for themselves; what is lost is 400 for a missing header, 405 for
-- another method, the last digits of doubles, and UTC where the project has a time zone.
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
  -- Ours itself, or a function of the project that calls ours.
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
    case when not v_is_called then
      'PostgREST does not call logloom_private.check_request: '
        'logloom_private.adopt_pre_request() mends it'
    end
  );
end;
$$;

select logloom_private.adopt_pre_request();
