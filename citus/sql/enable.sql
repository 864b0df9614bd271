-- Raises why records cannot be sharded. 0A000: Citus is missing. 55000: no node is allowed to hold
-- shards, there are log streams, or somebody added something to the tables.
create or replace function logloom_citus.refuse_unfit()
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_workers integer;
  v_in_the_way text;
begin
  if not exists (select from pg_catalog.pg_extension e where e.extname = 'citus') then
    raise exception using
      errcode = 'feature_not_supported',
      message = 'Citus is not in this database',
      hint = 'Install it on every node, put citus first in shared_preload_libraries, restart and '
        'run "create extension citus" on each. Hosted Supabase does not have it.';
  end if;
  execute format(
    'select count(*) from %s n where n.noderole = %L and n.isactive and n.shouldhaveshards',
    to_regclass('pg_catalog.pg_dist_node'), 'primary'
  )
  into v_workers;
  if v_workers = 0 then
    raise exception using
      errcode = 'object_not_in_prerequisite_state',
      message = 'No node may hold shards',
      hint = 'On the coordinator: citus_set_coordinator_host, then citus_add_node for each worker.';
  end if;
  if exists (select from logloom.log_streams) then
    raise exception using
      errcode = 'object_not_in_prerequisite_state',
      message = 'There are log streams, which do not work with sharded records',
      hint = 'Delete the rows of logloom.log_streams, then try again.';
  end if;
  select string_agg(w.what, ', ' order by w.what) into v_in_the_way
  from unnest(logloom_citus.sharded_tables()) s (name)
  cross join lateral (
    select format('trigger %I on %s', t.tgname, s.name)
    from pg_catalog.pg_trigger t
    where t.tgrelid = s.name::regclass and not t.tgisinternal
    union all
    select format('foreign key %I of %s', k.conname, k.conrelid::regclass)
    from pg_catalog.pg_constraint k
    where k.contype = 'f' and k.conparentid = 0
      and (k.conrelid = s.name::regclass or k.confrelid = s.name::regclass)
      and not array[k.conrelid, k.confrelid] <@ array(
        select o.name::regclass::oid from unnest(logloom_citus.sharded_tables()) o (name)
      )
  ) w (what);
  if v_in_the_way is not null then
    raise exception using
      errcode = 'object_not_in_prerequisite_state',
      message = 'Records cannot be sharded because of ' || v_in_the_way,
      hint = 'Somebody added this to the service''s tables. Drop it, then try again.';
  end if;
end;
$$;

-- Shards records, counts and blocks over the nodes of Citus by tenant; each tenant is on one node.
-- Returns the tables that it sharded: none when called again. 0A000 without Citus. 55000 if they
-- are sharded in another way or something prevents it; then nothing changes.
create or replace function logloom_citus.enable(p_shards integer default 32)
returns text[]
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set client_min_messages = warning
as $$
-- definer because only the owner can distribute a table, whichever operator calls this
declare
  v_state constant text := format(
    'select column_to_column_name(p.logicalrelid, p.partkey), c.shardcount, c.colocationid '
      || 'from %s p join %s c on c.colocationid = p.colocationid '
      || 'where p.logicalrelid = $1::regclass',
    to_regclass('pg_catalog.pg_dist_partition'), to_regclass('pg_catalog.pg_dist_colocation')
  );
  v_table text;
  v_column text;
  v_shards integer;
  v_colocation integer;
  v_first_colocation integer;
  v_distributed text[] := '{}';
begin
  perform logloom_citus.refuse_unfit();
  if p_shards is null or p_shards not between 1 and 1024 then
    raise exception using
      errcode = 'invalid_parameter_value',
      message = 'Invalid p_shards: 1 to 1024',
      hint = 'Two to four shards for each worker that you may ever have are enough: each day has '
        'one table for each shard.';
  end if;
  -- Meanwhile requests go into the queue.
  perform logloom_private.hold_writers();
  perform pg_advisory_xact_lock(logloom_private.lock_key('partitions'));
  perform pg_advisory_xact_lock(logloom_private.lock_key('log_counts'));
  perform set_config('citus.multi_shard_modify_mode', 'sequential', true);
  foreach v_table in array logloom_citus.sharded_tables() loop
    v_shards := null;
    execute v_state into v_column, v_shards, v_colocation using v_table;
    if v_shards is null then
      execute format(
        'select %s(%L, ''tenant_id'', colocate_with => $1, '
          || 'shard_count => case when $1 = ''none'' then $2 end)',
        to_regproc('create_distributed_table'), v_table
      )
      using case when v_first_colocation is null then 'none' else 'logloom.logs' end, p_shards;
      execute v_state into v_column, v_shards, v_colocation using v_table;
      v_distributed := v_distributed || v_table;
    elsif v_column <> 'tenant_id' then
      raise exception using
        errcode = 'object_not_in_prerequisite_state',
        message = format('%s is already sharded, by %s', v_table, v_column),
        hint = 'It was sharded by hand. Start from an earlier copy: undistribute_table recreates '
          'the table and drops everything that depends on it, functions of the service too.';
    elsif v_shards <> p_shards then
      raise exception using
        errcode = 'object_not_in_prerequisite_state',
        message = format('%s is already sharded, over %s shards', v_table, v_shards),
        hint = format(
          'Call it with %s. For more shards use citus_split_shard_by_split_points, not '
            || 'alter_distributed_table, which drops functions of the service with the table.',
          v_shards
        );
    end if;
    v_first_colocation := coalesce(v_first_colocation, v_colocation);
    if v_colocation <> v_first_colocation then
      raise exception using
        errcode = 'object_not_in_prerequisite_state',
        message = format('%s is already sharded, but not colocated with logloom.logs', v_table),
        hint = 'Colocate them with update_distributed_table_colocation.';
    end if;
  end loop;
  perform logloom_citus.after_migration();
  -- On its node, a function of a search may run queries on the same tenant.
  execute format(
    'alter role %I set citus.allow_nested_distributed_execution to on', current_user
  );
  return v_distributed;
end;
$$;
