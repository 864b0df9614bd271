-- Assembled from supabase/schemas by npm run migration: change it there.

-- nodes/enable_citus.sql

-- More than one machine: records, and what is known of them, spread over nodes by tenant. Citus
-- does it, an extension that hosted Supabase does not have: nothing here needs it to be there, and
-- its functions are named in dynamic SQL alone.

-- The tables that are spread over nodes; everything else stays on the coordinator.
create function logloom_private.spread_tables()
returns text[]
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  -- What refers to another comes after it.
  return array[
    'logloom.logs', 'logloom_private.log_counts', 'logloom_private.log_days',
    'logloom_private.blocks', 'logloom_private.block_columns'
  ];
end;
$$;

-- Says why records cannot be spread over nodes: 0A000 without Citus, 55000 without a node that may
-- hold shards, or where something was added to the tables.
create function logloom_private.refuse_unfit_for_citus()
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
  select string_agg(w.what, ', ' order by w.what) into v_in_the_way
  from unnest(logloom_private.spread_tables()) s (name)
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
        select o.name::regclass::oid from unnest(logloom_private.spread_tables()) o (name)
      )
  ) w (what);
  if v_in_the_way is not null then
    raise exception using
      errcode = 'object_not_in_prerequisite_state',
      message = 'These are in the way of spreading records over nodes: ' || v_in_the_way,
      hint = 'They were added to the service''s tables. Drop them, then try again.';
  end if;
end;
$$;

-- A search runs on the node that has the tenant's records, with the types and functions that its
-- SQL names. What reads a table that stays on the coordinator could not work there.
-- Makes the types, and the functions that read nothing but their arguments and spread tables, on
-- every node. Those that are there already stay.
create function logloom_private.carry_to_nodes()
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_types text[];
  v_function regprocedure;
begin
  -- Types go to the nodes with a function that needs them; this one goes again, they stay.
  v_types := array(
    select format('%I.%I', n.nspname, t.typname)
    from pg_catalog.pg_type t
    join pg_catalog.pg_namespace n on n.oid = t.typnamespace
    left join pg_catalog.pg_class c on c.oid = t.typrelid
    where (n.nspname = 'logloom_private' or n.nspname = 'public' and t.typname like 'logloom\_%')
      and (c.relkind = 'c' or t.typtype in ('d', 'e'))
      and not exists (
        select
        from pg_catalog.pg_attribute a
        join pg_catalog.pg_type u on u.oid = a.atttypid
        left join pg_catalog.pg_type e on e.oid = u.typelem
        join pg_catalog.pg_class l on l.oid in (u.typrelid, e.typrelid)
        where a.attrelid = t.typrelid and l.relkind in ('r', 'p')
      )
    order by t.oid
  );
  execute format(
    'create function logloom_private.carried_types() returns table (%s) language plpgsql '
      || 'set search_path = pg_catalog, pg_temp as ''begin end''',
    (
      select string_agg(format('t%s %s', w.n, w.name), ', ' order by w.n)
      from unnest(v_types) with ordinality w (name, n)
    )
  );
  execute format(
    'select create_distributed_function(%L)', to_regprocedure('logloom_private.carried_types()')
  );
  execute 'drop function logloom_private.carried_types()';

  for v_function in
    select p.oid::regprocedure
    from pg_catalog.pg_proc p
    where p.pronamespace = 'logloom_private'::regnamespace
      and p.prokind in ('f', 'a')
      and p.prorettype not in ('trigger'::regtype, 'event_trigger'::regtype)
      and not p.prosecdef
      and not exists (
        select
        from pg_catalog.pg_class c
        join pg_catalog.pg_namespace n on n.oid = c.relnamespace
        where n.nspname in ('logloom', 'logloom_private', 'public')
          and c.relkind in ('r', 'p', 'v', 'S')
          and not c.relispartition
          and format('%s.%s', n.nspname, c.relname) <> all (logloom_private.spread_tables())
          and concat_ws(
            ' ', p.prosrc, pg_get_function_arguments(p.oid), pg_get_function_result(p.oid)
          ) ~ format('\m%s\.%s\M', n.nspname, c.relname)
      )
      -- Nor takes or gives a type that holds such a table's row, which is none of those above.
      and not exists (
        select
        from unnest(p.proargtypes::oid[] || p.proallargtypes || p.prorettype) o (oid)
        join pg_catalog.pg_type t on t.oid = o.oid
        join pg_catalog.pg_class c on c.oid = t.typrelid and c.relkind = 'c'
        where format('%I.%I', t.typnamespace::regnamespace, t.typname) <> all (v_types)
          and t.typnamespace in ('logloom_private'::regnamespace, 'public'::regnamespace)
      )
  loop
    execute format('select create_distributed_function(%L::regprocedure)', v_function::text);
  end loop;
end;
$$;

-- Sealing moves records from one table to another, and a search reads both. One server reads them
-- in one snapshot; a node has a snapshot for each statement that it is sent, unless the transaction
-- keeps the first. PostgREST begins the transaction of an operation as its settings say.
-- Lets each operation that only reads have one snapshot, however many statements it sends to a
-- node.
create function logloom_private.keep_snapshots()
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_function regprocedure;
begin
  for v_function in
    select p.oid::regprocedure
    from pg_catalog.pg_proc p
    where p.pronamespace = 'public'::regnamespace
      and p.provolatile = 's'
      and p.proname = any (logloom_private.operations())
  loop
    execute format(
      'alter function %s set default_transaction_isolation = %L', v_function, 'repeatable read'
    );
  end loop;
end;
$$;

-- What reads as a single statement has one snapshot by itself.
-- Lets a page that is one statement be read without a transaction on the node: one message to it
-- instead of four, a fifth of what a small search costs.
create function logloom_private.spare_transactions()
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
begin
  -- Where a statement before it in the same transaction began one on the node, it is read in that.
  execute format(
    'alter function %s set citus.select_opens_transaction_block = off',
    'logloom_private.fetched_records(text)'::regprocedure
  );
end;
$$;

-- What a migration makes anew has lost what nodes need of it, and what it adds they do not have.
-- Where records are spread, brings the types and functions of this version to every node and gives
-- operations the settings that they need there; on one server it does nothing. The last statement
-- of each migration.
create function logloom_private.bring_to_nodes()
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
-- Citus tells of each function that is where it should be.
set client_min_messages = warning
as $$
begin
  if not logloom_private.is_spread() then
    return;
  end if;
  perform set_config('citus.multi_shard_modify_mode', 'sequential', true);
  perform logloom_private.carry_to_nodes();
  perform logloom_private.keep_snapshots();
  perform logloom_private.spare_transactions();
end;
$$;

-- Spreads records, counts and sealed records over the nodes of Citus by tenant, each tenant on one
-- node. Which tables it spread; none when called again. 0A000 without Citus; 55000 where they are
-- spread in another way or something is in the way: it changes nothing then.
create function logloom_private.enable_citus(p_shards integer default 32)
returns text[]
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
set client_min_messages = warning
as $$
-- definer because a table is distributed by its owner, whoever of the operators calls this
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
  perform logloom_private.refuse_unfit_for_citus();
  if p_shards is null or p_shards not between 1 and 1024 then
    raise exception using
      errcode = 'invalid_parameter_value',
      message = 'Invalid p_shards: 1 to 1024',
      hint = 'Each day has a table a shard: two to four shards a worker that there may ever be '
        'are enough.';
  end if;
  -- Requests go on into the queue meanwhile.
  perform logloom_private.hold_writers();
  perform logloom_private.lock_partitions();
  perform pg_advisory_xact_lock(logloom_private.lock_key('log_counts'));
  -- Where records are spread no count is packed.
  if not logloom_private.is_spread() then
    insert into logloom_private.log_counts
      (tenant_id, minute, events, is_other, level, service, is_delta)
    select p.tenant_id, c.minute, c.events, c.is_other, c.level, c.service, false
    from logloom_private.packed_counts p, logloom_private.unpacked_counts(p) c;
    delete from logloom_private.packed_counts p where true;
  end if;
  -- One statement after another: each over the connections of the one before.
  perform set_config('citus.multi_shard_modify_mode', 'sequential', true);
  foreach v_table in array logloom_private.spread_tables() loop
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
        message = format('%s is spread already, by %s', v_table, v_column),
        hint = 'It was spread by hand. Begin with a copy from before: undistribute_table makes the '
          'table anew and drops what depends on it, functions of the service too.';
    elsif v_shards <> p_shards then
      raise exception using
        errcode = 'object_not_in_prerequisite_state',
        message = format('%s is spread already, over %s shards', v_table, v_shards),
        hint = format(
          'Call it with %s. More shards: citus_split_shard_by_split_points, never '
            || 'alter_distributed_table, which drops functions of the service with the table.',
          v_shards
        );
    end if;
    v_first_colocation := coalesce(v_first_colocation, v_colocation);
    if v_colocation <> v_first_colocation then
      raise exception using
        errcode = 'object_not_in_prerequisite_state',
        message = format('%s is spread already, apart from logloom.logs', v_table),
        hint = 'update_distributed_table_colocation brings them together.';
    end if;
  end loop;
  perform logloom_private.bring_to_nodes();
  -- A search's functions read, on the node where they run, more of the same tenant.
  execute format(
    'alter role %I set citus.allow_nested_distributed_execution to on', current_user
  );
  return v_distributed;
end;
$$;

select logloom_private.finish_migration();
