-- Where records are sharded already, this version's bodies come into place with the same commit.
insert into logloom_citus.core_bodies select k.* from pg_temp.kept_bodies k;

do $$
begin
  drop table pg_temp.kept_bodies;
  perform set_config('citus.enable_ddl_propagation', 'on', true);
  if logloom_citus.is_sharded() then
    perform logloom_citus.bring_to_nodes();
  end if;
end;
$$;
