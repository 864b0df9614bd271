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
