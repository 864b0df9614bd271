-- What PostgREST calls before every request: a setting of the role authenticator, where one for
-- this database wins: its name as PostgREST reads it (not quoted), and whether it is set for this
-- database alone. Null where there is none.
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
