-- Where records are spread over nodes, an upgrade brings what is new to them with the same commit: the
-- last statement of this migration, and of each after it. There a search takes its turns with others of
-- its tenant on the node. Functions only: the writer goes on.

SET local check_function_bodies = off;

DROP FUNCTION "logloom_private"."take_turn"();

CREATE OR REPLACE FUNCTION logloom_private.bring_to_nodes()
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO ''
  SET client_min_messages TO 'warning'
  AS $function$
begin
  if not logloom_private.is_spread() then
    return;
  end if;
  perform set_config('citus.multi_shard_modify_mode', 'sequential', true);
  perform logloom_private.carry_to_nodes();
  perform logloom_private.keep_snapshots();
  perform logloom_private.spare_transactions();
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.enable_citus (
  p_shards integer DEFAULT 32
)
  RETURNS text[]
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO ''
  SET client_min_messages TO 'warning'
  AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION logloom_private.filter_in_turns (
  p_tree   jsonb,
  p_filter text  DEFAULT NULL::text
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO ''
  AS $function$
declare
  v_items constant jsonb := case p_tree ->> 'type'
    when 'and' then p_tree -> 'items' else jsonb_build_array(p_tree)
  end;
  v_filter constant text := coalesce(p_filter, logloom_private.query_sql(p_tree, 'l'));
  -- A node has the records and knows no setting of this transaction. Its locks are its own, and all
  -- that a tenant reads is read there.
  v_scan constant text := case
    when logloom_private.is_spread() then quote_nullable(current_setting('logloom.scan', true))
    else ''
  end;
  v_quick jsonb;
  v_costly jsonb;
begin
  select
    jsonb_agg(i.item order by i.n) filter (where i.is_quick),
    jsonb_agg(i.item order by i.n) filter (where i.is_quick is not true)
  into v_quick, v_costly
  from (
    select
      e.item,
      e.n,
      -- Null where a node lacks the member: each item stands on one of the two sides.
      e.item ->> 'type' = 'none' or (
        e.item ->> 'type' = 'leaf'
        and e.item ->> 'field' not in ('attrs', 'any')
        and e.item ->> 'test' in ('equal', 'exists', 'within', 'range')
      ) as is_quick
    from jsonb_array_elements(v_items) with ordinality e (item, n)
  ) i;
  return '(' || concat_ws(
    ' and ',
    case
      when v_costly is null then v_filter
      when v_quick is not null
        then logloom_private.query_sql(jsonb_build_object('type', 'and', 'items', v_quick), 'l')
    end,
    'case when uuid_hash(l.id) & 255 <> 0 or logloom_private.take_turn(' || v_scan || ') then '
      || case
        when v_quick is null then v_filter
        when v_costly is null then 'true'
        else logloom_private.query_sql(jsonb_build_object('type', 'and', 'items', v_costly), 'l')
      end || ' end'
  ) || ')';
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.set_pre_request (
  p_function    text,
  p_of_database boolean
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO ''
  AS $function$
declare
  v_role constant text := 'alter role authenticator'
    || case when p_of_database then format(' in database %I', current_database()) else '' end;
begin
  -- Where records are spread over nodes: they have no PostgREST, and would refuse the setting.
  perform set_config('citus.enable_alter_role_set_propagation', 'off', true);
  if p_function is null then
    execute v_role || ' reset pgrst.db_pre_request';
  else
    execute v_role || format(' set pgrst.db_pre_request = %L', p_function);
  end if;
  notify pgrst, 'reload config';
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.take_turn (
  p_scan text DEFAULT current_setting('logloom.scan'::text, true)
)
  RETURNS boolean
  LANGUAGE plpgsql
  PARALLEL SAFE
  SET search_path TO ''
  AS $function$
begin
  -- Empty where no search set it: jobs have budgets of their own.
  if coalesce(p_scan, '') = ''
    or extract(epoch from clock_timestamp()) < split_part(p_scan, ' ', 1)::numeric
  then
    return true;
  end if;
  -- Its statement's time limit ends the wait.
  while not pg_try_advisory_xact_lock(split_part(p_scan, ' ', 2)::bigint) loop
    perform pg_sleep(0.005);
  end loop;
  return true;
end;
$function$;

COMMENT ON FUNCTION "logloom_private"."bring_to_nodes"() IS 'Where records are spread, brings the types and functions of this version to every node and gives operations the settings that they need there; on one server it does nothing. The last statement of each migration.';

COMMENT ON FUNCTION "logloom_private"."enable_citus"(integer) IS 'Spreads records, counts and sealed records over the nodes of Citus by tenant, each tenant on one node. Which tables it spread; none when called again. 0A000 without Citus; 55000 where they are spread in another way or something is in the way: it changes nothing then.';

COMMENT ON FUNCTION "logloom_private"."take_turn"(text) IS 'True, at once as long as the search runs shorter than search_free_time, then as soon as no other search of the tenant that shares its scan slot reads on. Asked every few hundred records.';

REVOKE ALL ON FUNCTION "logloom_private"."bring_to_nodes"() FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."take_turn"(text) FROM PUBLIC;

select logloom_private.bring_to_nodes();
