-- What an earlier version of this layer knows of the core's bodies outlives it.
create temp table kept_bodies (signature text, core text, replaced_by text);

do $$
begin
  if to_regclass('logloom_citus.core_bodies') is not null then
    insert into pg_temp.kept_bodies select b.* from logloom_citus.core_bodies b;
    drop schema logloom_citus cascade;
  end if;
end;
$$;
