-- Where records are sharded already, this version's functions come into place with the same commit,
-- or with the migration that brings functions of these parameters.
insert into logloom_citus.core_functions select k.* from pg_temp.kept_functions k;

do $$
begin
  drop table pg_temp.kept_functions;
  perform set_config('citus.enable_ddl_propagation', 'on', true);
  if logloom_citus.is_sharded() and not exists (
    select
    from unnest(logloom_citus.seams()) s (signature)
    where to_regprocedure('logloom_private.' || s.signature) is null
  ) then
    perform logloom_citus.after_migration();
  end if;
end;
$$;
