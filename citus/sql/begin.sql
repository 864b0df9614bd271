-- Whoever of the operators installs it, what it replaces is the owner's.
do $$
begin
  execute format(
    'set local role %s',
    (
      select n.nspowner::regrole
      from pg_catalog.pg_namespace n
      where n.nspname = 'logloom_private'
    )
  );
end;
$$;

-- What an earlier version of this layer knows of the core's bodies outlives it.
create temp table kept_bodies (signature text, core text, replaced_by text);

do $$
begin
  if to_regclass('logloom_citus.core_bodies') is not null then
    insert into pg_temp.kept_bodies select b.* from logloom_citus.core_bodies b;
    drop schema logloom_citus cascade;
  end if;
  -- What nodes need of it is made there by superusers, where it is not new in this transaction.
  perform set_config('citus.enable_ddl_propagation', 'off', true);
end;
$$;
