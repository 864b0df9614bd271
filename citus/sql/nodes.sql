-- Lists the sharded tables. All other tables stay on the coordinator.
create or replace function logloom_citus.sharded_tables()
returns text[]
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  -- A table comes after the tables that it refers to.
  return array[
    'logloom.logs', 'logloom_private.log_counts', 'logloom_private.log_days',
    'logloom_private.blocks', 'logloom_private.block_columns'
  ];
end;
$$;

create or replace function logloom_citus.is_sharded()
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  -- Citus adds this trigger to each sharded table.
  return exists (
    select
    from pg_catalog.pg_trigger t
    where t.tgrelid = 'logloom.logs'::regclass
      and t.tgfoid = to_regproc('pg_catalog.citus_truncate_trigger')
  );
end;
$$;

-- Creates on every node the types, and the functions that read only their arguments and sharded
-- tables. A search runs on the node with the tenant's records and needs the types and functions of
-- its SQL there. Functions that read other tables could not work there. Existing objects stay.
create or replace function logloom_citus.distribute_functions()
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_types text[];
  v_function regprocedure;
begin
  -- Citus creates the types together with a function that uses them. Dropping the function leaves
  -- the types.
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
    'create function logloom_citus.distributed_types() returns table (%s) language plpgsql '
      || 'set search_path = pg_catalog, pg_temp as ''begin end''',
    (
      select string_agg(format('t%s %s', w.n, w.name), ', ' order by w.n)
      from unnest(v_types) with ordinality w (name, n)
    )
  );
  execute format(
    'select create_distributed_function(%L)', to_regprocedure('logloom_citus.distributed_types()')
  );
  execute 'drop function logloom_citus.distributed_types()';

  for v_function in
    select p.oid::regprocedure
    from pg_catalog.pg_proc p
    where (
        p.pronamespace = 'logloom_private'::regnamespace
        or p.oid = 'logloom_citus.scanning(text, text)'::regprocedure
      )
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
          and format('%s.%s', n.nspname, c.relname) <> all (logloom_citus.sharded_tables())
          and concat_ws(
            ' ', p.prosrc, pg_get_function_sqlbody(p.oid), pg_get_function_arguments(p.oid),
            pg_get_function_result(p.oid)
          ) ~ format('\m%s\.%s\M', n.nspname, c.relname)
      )
      -- Also leaves out functions with a composite type whose members are rows of an unsharded
      -- table: v_types lacks these types.
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

-- Updates the nodes to this version. A migration may change the core's functions and add new ones.
create or replace function logloom_citus.after_migration()
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
-- Citus sends a notice for each function that exists.
set client_min_messages = warning
as $$
begin
  perform set_config('citus.multi_shard_modify_mode', 'sequential', true);
  perform logloom_citus.replace_functions();
  perform logloom_citus.distribute_functions();
  -- A page that is one statement needs no transaction for its snapshot. A node then gets one
  -- message instead of four. This saves a fifth of a small search. If an earlier statement began a
  -- transaction on the node, the page is read in that transaction.
  alter function logloom_citus.fetched_records(text)
    set citus.select_opens_transaction_block = off;
end;
$$;

-- Also makes Citus use one connection to each node. A migration may create types and functions, and
-- a node knows these only on the connection that created them.
create or replace function logloom_citus.hold_writers()
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform pg_advisory_xact_lock(logloom_private.lock_key('deletion'));
  perform pg_advisory_xact_lock(logloom_private.lock_key('writer'));
  perform set_config('citus.multi_shard_modify_mode', 'sequential', true);
end;
$$;
