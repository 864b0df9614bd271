-- A verification marks damaged blocks, and whoever reads leaves them out.

set local check_function_bodies = off;

do $$
begin
  -- Jobs and requests read the settings first: those under way end, and no other begins.
  perform set_config('lock_timeout', '30s', true);
  lock table logloom_private.settings, logloom.plans in access exclusive mode;
  lock table logloom_private.blocks in access exclusive mode;
  perform set_config('lock_timeout', '0', true);
end;
$$;

do $ddl$
begin
  perform set_config('lock_timeout', '30s', true);
  DROP FUNCTION "logloom_private"."verify_block"(logloom_private.blocks);
  ALTER TABLE "logloom_private"."blocks"
    ADD COLUMN "damaged_at" timestamp WITH time zone;
  CREATE INDEX blocks_damaged_idx ON logloom_private.blocks USING btree (tenant_id)
    WHERE damaged_at IS NOT NULL;
  ALTER TYPE "public"."logloom_claimed_log_stream" ADD ATTRIBUTE "tenant_id" text CASCADE;
  perform set_config('lock_timeout', '0', true);
end;
$ddl$;

CREATE OR REPLACE FUNCTION logloom_private.block_counts (
  p_tenant_id text,
  p_from      timestamp with time zone,
  p_to        timestamp with time zone
)
  RETURNS TABLE (
    tenant_id text,
    ts        timestamp with time zone,
    level     text,
    service   text,
    events    bigint
  )
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET jit TO 'off'
  AS $function$
declare
  v_block logloom_private.blocks;
  v_ts timestamptz[];
  v_runs integer[];
begin
  for v_block in
    select c.*
    from logloom_private.blocks c
    where c.tenant_id = p_tenant_id and c.holds_counts
      and c.last_ts >= p_from and c.first_ts < p_to
      and c.damaged_at is null and logloom_private.can_read(c.format)
  loop
    v_ts := logloom_private.block_times(v_block, null);
    v_runs := logloom_private.block_runs(v_block, null);
    return query
    select p_tenant_id, r.ts, r.level, r.service, 1::bigint
    from (
      select
        unnest(v_ts) as ts,
        unnest(logloom_private.elements_at(v_block.run_levels, v_runs)) as level,
        unnest(logloom_private.elements_at(v_block.run_services, v_runs)) as service
    ) r
    where r.ts >= p_from and r.ts < p_to;
  end loop;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.candidate_blocks (
  p_tenant_id text,
  p_from      timestamp with time zone,
  p_to        timestamp with time zone,
  p_tree      jsonb
)
  RETURNS SETOF bigint
  LANGUAGE plpgsql
  STABLE
  ROWS 100
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET plan_cache_mode TO 'auto'
  AS $function$
declare
  v_leaf constant jsonb := logloom_private.needed_leaf(p_tree);
  v_values constant text[] := array(select jsonb_array_elements_text(v_leaf -> 'values'));
begin
  return query
  select c.block_id
  from logloom_private.blocks c
  where c.tenant_id = p_tenant_id and c.last_ts >= p_from and c.first_ts < p_to
    and c.damaged_at is null and logloom_private.can_read(c.format)
    and (
      v_leaf is null or coalesce(
        (
          -- A value, not exists: that could be answered by looking at all of the tenant's blocks.
          select case
            when k.filter is not null
              then logloom_private.filter_may_hold(k.filter, v_values)
            when k.kind = 'dictionary' then k.dictionary && v_values
            else true
          end
          from logloom_private.block_columns k
          where k.tenant_id = p_tenant_id and k.block_id = c.block_id
            and k.name = v_leaf ->> 'field'
        ),
        -- Without the column no record has a value.
        false
      )
    );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.claim_due_streams (
  p_limit integer
)
  RETURNS SETOF public.logloom_claimed_log_stream
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because no API role reads or writes streams
declare
  v_stream logloom.log_streams;
begin
  perform pg_advisory_xact_lock(logloom_private.lock_key('streams'), 0);
  for v_stream in
    select s.*
    from logloom.log_streams s
    where s.stream_id = any (logloom_private.next_streams(p_limit))
    for no key update skip locked
  loop
    if not logloom_private.stream_maker_is_there(v_stream)
      or logloom_private.is_being_deleted(v_stream.tenant_id)
    then
      perform logloom_private.pause_stream(v_stream, 'maker');
      continue;
    end if;
    return query
    update logloom.log_streams s
    set claim_id = gen_random_uuid(),
      claimed_at = now(),
      claimed_until = now() + c.stream_claim_lifetime
    from logloom_private.settings c
    where s.stream_id = v_stream.stream_id
    returning s.stream_id, s.claim_id, s.tenant_id;
  end loop;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.damage_warnings (
  p_tenant_id text
)
  RETURNS jsonb
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  perform
  from logloom_private.blocks c
  where c.tenant_id = p_tenant_id and c.damaged_at is not null
  limit 1;
  return case
    when found then jsonb_build_array(jsonb_build_object(
      'position', null,
      'message', 'some stored records are damaged and left out',
      'suggestion', 'Ask who runs the service: a verification has named them.'
    ))
    else '[]'
  end;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.has_older_snapshot (
  p_xid xid8
)
  RETURNS boolean
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return exists (
      select
      from pg_catalog.pg_stat_activity a
      where a.backend_xmin is not null
        and a.datname = current_database()
        and a.pid <> pg_backend_pid()
        and a.backend_type is distinct from 'autovacuum worker'
        and age(a.backend_xmin) >= age(p_xid::xid)
    )
    or exists (
      select from pg_catalog.pg_prepared_xacts p where age(p.transaction) >= age(p_xid::xid)
    );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.sealed_log (
  p_tenant_id text,
  p_from      timestamp with time zone,
  p_to        timestamp with time zone,
  p_id        uuid
)
  RETURNS SETOF logloom.logs
  LANGUAGE plpgsql
  STABLE
  ROWS 1
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET jit TO 'off'
  AS $function$
declare
  v_prefix constant bytea := substring(uuid_send(p_id) for 14);
  v_number constant integer :=
    get_byte(uuid_send(p_id), 14) * 256 + get_byte(uuid_send(p_id), 15);
  v_index constant smallint := v_number - case when v_number > 32767 then 65536 else 0 end;
  v_block logloom_private.blocks;
  v_prefixes bytea;
  v_positions integer[];
begin
  for v_block in
    select c.*
    from logloom_private.blocks c
    where c.tenant_id = p_tenant_id
      and c.last_ts >= p_from and c.first_ts < p_to
      and p_id between c.first_id and c.last_id and c.damaged_at is null
  loop
    perform logloom_private.can_read(v_block.format);
    v_prefixes := v_block.batch_prefixes;
    continue when position(v_prefix in v_prefixes) = 0;
    v_positions := array_positions(v_block.id_indexes, v_index);
    -- Those of them that are of the batch: few, since an index is once in a batch.
    v_positions := array(
      select p.position
      from unnest(v_positions, logloom_private.block_batches(v_block, v_positions))
        p (position, batch)
      where substring(v_prefixes from 14 * (p.batch - 1) + 1 for 14) = v_prefix
      order by p.position
    );
    continue when v_positions = '{}';
    return query
    select r.*
    from logloom_private.sealed_records(v_block, v_positions, null) r
    where r.id = p_id and r.ts >= p_from and r.ts < p_to;
  end loop;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.sealed_page (
  p_tenant_id text,
  p_from      timestamp with time zone,
  p_to        timestamp with time zone,
  p_tree      jsonb,
  p_limit     integer,
  p_order     text,
  p_ts        timestamp with time zone,
  p_id        uuid,
  p_reads     text[]                   DEFAULT NULL::text[],
  p_bytes     bigint                   DEFAULT NULL::bigint
)
  RETURNS SETOF logloom.logs
  LANGUAGE plpgsql
  STABLE
  ROWS 100
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET jit TO 'off'
  AS $function$
declare
  v_is_descending constant boolean := p_order = 'desc';
  v_reads constant text[] := case
    when p_reads is not null then p_reads || array['ts', 'id', 'record_bytes']
  end;
  -- Null: all of the range.
  v_candidates constant bigint[] := case
    when logloom_private.needed_leaf(p_tree) is not null
      then array(select logloom_private.candidate_blocks(p_tenant_id, p_from, p_to, p_tree))
  end;
  -- Where deciding for all may read many texts; not again where it found too few.
  v_tries boolean := p_limit <= 250 and jsonb_path_exists(
    p_tree, '$.** ? (@.block_quick == false || @.field == "attrs")'
  );
  v_blocks refcursor;
  v_block logloom_private.blocks;
  v_bits varbit;
  v_page record;
  v_within record;
  v_positions integer[];
  v_times timestamptz[];
  v_sizes integer[];
  v_best timestamptz[] := '{}';
  v_best_sizes integer[];
  v_edge timestamptz;
begin
  -- Cursors, which are planned to give the first of many blocks soon.
  if v_is_descending then
    open v_blocks for
      select c.*
      from logloom_private.blocks c
      where c.tenant_id = p_tenant_id and c.last_ts >= p_from and c.first_ts < p_to
        and c.damaged_at is null and (v_candidates is null or c.block_id = any(v_candidates))
      order by c.last_ts desc;
  else
    open v_blocks for
      select c.*
      from logloom_private.blocks c
      where c.tenant_id = p_tenant_id and c.last_ts >= p_from and c.first_ts < p_to
        and c.damaged_at is null and (v_candidates is null or c.block_id = any(v_candidates))
      order by c.first_ts;
  end if;
  loop
    fetch v_blocks into v_block;
    exit when not found;
    perform logloom_private.can_read(v_block.format);
    -- The page is full, and nothing of this block and of those after it can come before its end.
    exit when case when v_is_descending then v_block.last_ts < v_edge
      else v_block.first_ts > v_edge end;
    -- Null: all of them.
    v_positions := null;
    if v_tries then
      v_positions := logloom_private.tried_positions(
        v_block, p_tree, p_limit, v_is_descending, p_ts, p_from, p_to
      );
      v_tries := v_positions is not null;
    end if;
    if p_tree ->> 'type' = 'all' then
      perform logloom_private.take_scan_slot();
    elsif v_positions is null then
      v_bits := logloom_private.block_bits(v_block, p_tree, p_from, p_to);
      if bit_count(v_bits) < v_block.records then
        v_positions := logloom_private.bit_positions(v_bits);
      end if;
    end if;
    continue when v_positions = '{}';
    v_positions := logloom_private.first_positions(
      v_block, v_positions, p_limit, v_is_descending, p_ts, p_from, p_to
    );
    continue when v_positions = '{}';
    v_times := logloom_private.block_times(v_block, v_positions);
    v_sizes := null;
    -- Records of the page before, of the same ts as its last, are more than p_limit.
    if p_bytes <= cardinality(v_positions)::bigint * (
      select coalesce(c.greatest, (select max(d::integer) from unnest(c.dictionary) d))
      from logloom_private.block_columns c
      where c.tenant_id = p_tenant_id and c.block_id = v_block.block_id
        and c.name = 'record_bytes'
    ) then
      v_sizes := array(
        select r.record_bytes
        from logloom_private.sealed_records(v_block, v_positions, array['record_bytes']) r
      );
    end if;
    v_page := logloom_private.page_edge(
      p_limit, p_bytes, v_is_descending, p_ts, v_times, v_sizes, v_best, v_best_sizes
    );
    v_best := v_page.times;
    v_best_sizes := v_page.sizes;
    v_edge := v_page.edge;
    select array_agg(p.position order by p.n), array_agg(p.size order by p.n)
    into v_positions, v_sizes
    from unnest(v_positions, v_times, v_sizes) with ordinality p (position, ts, size, n)
    where v_edge is null or case when v_is_descending then p.ts >= v_edge else p.ts <= v_edge end;
    continue when v_positions is null;
    -- Of more than a page holds no more is read.
    if (select sum(z) from unnest(v_sizes) z) >= p_bytes then
      v_within := logloom_private.positions_within_bytes(
        v_block, p_bytes, v_is_descending, p_ts, p_id, v_positions
      );
      v_positions := v_within.positions;
      return query
      select r.*
      from logloom_private.sealed_records(
        v_block, coalesce(v_within.next, '{}'), array['ts', 'id', 'record_bytes']
      ) r;
    end if;
    continue when v_positions is null;
    return query
    select r.*
    from logloom_private.sealed_records(
      v_block, case when cardinality(v_positions) < v_block.records then v_positions end,
      v_reads
    ) r
    where p_ts is null
      or case when v_is_descending then (r.ts, r.id) < (p_ts, p_id)
        else (r.ts, r.id) > (p_ts, p_id) end;
  end loop;
  close v_blocks;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.sealed_write_seqs (
  p_tenant_id text,
  p_first     bigint,
  p_id        uuid,
  p_last      bigint,
  p_from      timestamp with time zone,
  p_tree      jsonb,
  p_limit     integer,
  p_bytes     bigint
)
  RETURNS SETOF logloom.logs
  LANGUAGE plpgsql
  STABLE
  ROWS 100
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET jit TO 'off'
  AS $function$
declare
  v_block logloom_private.blocks;
  v_write_seqs bigint[];
  v_positions integer[];
  v_next integer[];
begin
  for v_block in
    select c.*
    from logloom_private.blocks c
    where c.tenant_id = p_tenant_id and c.last_write_seq >= p_first and c.first_write_seq <= p_last
      and c.last_ts >= p_from and c.damaged_at is null
  loop
    perform logloom_private.can_read(v_block.format);
    v_write_seqs := v_block.batch_write_seqs;
    continue when not exists (
      select from unnest(v_write_seqs) a where a between p_first and p_last
    );
    v_positions := logloom_private.bit_positions(
      logloom_private.block_bits(v_block, p_tree, p_from, 'infinity')
    );
    v_positions := array(
      select u.position
      from unnest(v_positions, logloom_private.block_batches(v_block, v_positions))
        u (position, batch)
      where v_write_seqs[u.batch] between p_first and p_last
      order by u.position
    );
    select
      array_agg(f.position order by f.position) filter (where f.before < p_bytes),
      (array_agg(f.position order by f.n) filter (where f.before >= p_bytes))[1:1]
    into v_positions, v_next
    from (
      select
        o.position, o.n,
        coalesce(
          sum(o.record_bytes) over (order by o.n rows between unbounded preceding and 1 preceding),
          0
        ) as before
      from (
        select p.position, l.record_bytes, row_number() over (order by l.write_seq, l.id) as n
        from unnest(v_positions) with ordinality p (position, n)
        join (
          select r.id, r.write_seq, r.record_bytes, row_number() over () as n
          from logloom_private.sealed_records(
            v_block, v_positions, array['id', 'write_seq', 'record_bytes']
          ) r
        ) l on l.n = p.n
        where p_id is null or l.write_seq > p_first or l.id > p_id
        order by l.write_seq, l.id
        limit p_limit
      ) o
    ) f;
    continue when v_positions is null;
    return query
    select r.* from logloom_private.sealed_records(v_block, v_positions, null) r;
    if v_next is not null then
      return query
      select r.*
      from logloom_private.sealed_records(
        v_block, v_next, array['ts', 'id', 'write_seq', 'record_bytes']
      ) r;
    end if;
  end loop;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.search_query (
  p_scope     logloom_private.reading_scope,
  p_query_dsl text,
  p_now       timestamp with time zone,
  p_takes     text
)
  RETURNS logloom_private.compiled_query
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_query logloom_private.compiled_query;
  v_makes_rows boolean;
  v_stage text;
begin
  v_query := logloom_private.scoped_query(
    p_scope, logloom_private.compile_query(p_query_dsl, p_now), p_query_dsl
  );
  v_makes_rows := v_query.plan ?| array['aggregates', 'patterns'];
  if v_makes_rows and p_takes in ('filter', 'records') then
    perform logloom_private.refuse(
      'search.query_gives_no_records', coalesce(v_query.aggregate || '()', 'patterns')
    );
  end if;
  v_stage := case p_takes
    when 'filter' then v_query.plan -> 'first' ->> 'stage'
    when 'rows' then case when v_makes_rows then null
      when v_query.plan ? 'fields' then 'fields'
      when v_query.plan ? 'limit' then 'limit'
      when v_query.plan ? 'sort' then 'sort' end
    when 'series' then case
      when v_query.plan ? 'patterns' then 'patterns'
      when v_query.plan ? 'fields' then 'fields'
      when v_query.plan ? 'limit' then 'limit'
      when v_query.plan ? 'sort' then 'sort'
      when v_query.plan ? 'having' then 'where' end
  end;
  if v_stage is not null then
    perform logloom_private.refuse(
      'search.takes_no_stage',
      case p_takes when 'filter' then 'what acts on all records that are found'
        when 'rows' then 'counting records' else 'a series' end,
      v_stage
    );
  end if;
  -- A page of all records reads no more than it shows: it takes no scan slot.
  if p_takes <> 'records' or v_query.tree <> '{"type": "all"}' or v_query.plan ? 'rows' then
    v_query.filter := logloom_private.filter_by_scan_slot(v_query.tree, v_query.filter);
  end if;
  if p_scope.tenant_id is not null then
    v_query.warnings := v_query.warnings || logloom_private.damage_warnings(p_scope.tenant_id);
  end if;
  return v_query;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.verify_block (
  p_block logloom_private.blocks,
  OUT     is_intact boolean,
  OUT     detail text
)
  RETURNS record
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_found record;
begin
  is_intact := logloom_private.block_is_intact(p_block);
  if not is_intact then
    detail := 'its checksum differs';
    return;
  end if;
  select
    count(*) as records, min(r.ts) as first_ts, max(r.ts) as last_ts,
    count(distinct r.id) as ids
  into v_found
  from logloom_private.sealed_records(p_block, null, null) r;
  detail := case
    when v_found.records <> p_block.records
      then format('%s records instead of %s', v_found.records, p_block.records)
    when v_found.first_ts <> p_block.first_ts or v_found.last_ts <> p_block.last_ts
      then format('records from %s to %s', v_found.first_ts, v_found.last_ts)
    when v_found.ids <> v_found.records
      then format('%s ids of %s records', v_found.ids, v_found.records)
  end;
exception
  when query_canceled then
    raise;
  -- Whatever a damaged value makes of its decoding: the next block is verified all the same.
  when others then
    detail := format('%s: %s', sqlstate, sqlerrm);
    -- The disk's own errors; another one, as of a lock or of memory, says nothing about the block.
    if sqlstate like 'XX%' then
      is_intact := false;
    end if;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.verify_next_block (
  p_verification logloom_private.verifications
)
  RETURNS boolean
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_block logloom_private.blocks;
  v_found record;
begin
  select b.* into v_block
  from logloom_private.blocks b
  where b.block_id > p_verification.block_through
  order by b.block_id
  limit 1;
  if not found then
    return false;
  end if;
  select f.* into v_found from logloom_private.verify_block(v_block) f;
  update logloom_private.blocks b
  set damaged_at = case when not v_found.is_intact then now() end
  where b.tenant_id = v_block.tenant_id and b.block_id = v_block.block_id
    and (b.damaged_at is null) <> v_found.is_intact;
  update logloom_private.verifications v
  set block_through = v_block.block_id, blocks = v.blocks + 1
  where v.verification_id = p_verification.verification_id;
  if v_found.detail is not null then
    perform logloom_private.note_differences(
      p_verification.verification_id, v_block.tenant_id, logloom_private.utc_day(v_block.first_ts),
      v_block.block_id, array['block'], array[v_found.detail]
    );
  end if;
  return true;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.delete_from_block (
  p_block_id bigint,
  p_run      logloom.retention_runs,
  p_query    logloom_private.compiled_query
)
  RETURNS integer
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_block logloom_private.blocks;
  v_bits varbit;
  v_deleted integer;
begin
  select c.* into v_block
  from logloom_private.blocks c
  where c.tenant_id = p_run.tenant_id and c.block_id = p_block_id
  for update;
  if not found then
    return 0;
  end if;
  perform logloom_private.can_read(v_block.format);
  -- Which of its records match cannot be told: the receipt names it.
  if not logloom_private.block_is_intact(v_block) then
    update logloom_private.blocks c
    set damaged_at = coalesce(c.damaged_at, now())
    where c.tenant_id = v_block.tenant_id and c.block_id = v_block.block_id;
    return 0;
  end if;
  v_bits := logloom_private.block_bits(v_block, p_query.tree, p_run.ts_from, p_run.ts_to);
  v_deleted := bit_count(v_bits);
  if v_deleted = 0 then
    return 0;
  end if;
  if not v_block.holds_counts then
    perform logloom_private.count_sealed(v_block, logloom_private.bit_positions(v_bits), -1);
  end if;
  insert into logloom_private.log_removals (tenant_id)
  select v_block.tenant_id
  -- Further back than any alert window reaches.
  where v_block.last_ts > now() - interval '3 days';
  -- What is left becomes a block of its own, compared with what it is made of.
  if v_deleted < v_block.records then
    perform logloom_private.write_block(
      v_block.tenant_id,
      logloom_private.read_records(
        format(
          'select r.* from logloom_private.block_records(%L, %s, %L::integer[], null) r',
          v_block.tenant_id, v_block.block_id, logloom_private.bit_positions(~v_bits)
        )
      ),
      v_block.holds_counts
    );
  end if;
  delete from logloom_private.blocks c
  where c.tenant_id = v_block.tenant_id and c.block_id = v_block.block_id;
  return v_deleted;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.erasure_does_not_reach (
  p_run logloom.retention_runs
)
  RETURNS jsonb
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return jsonb_build_array(
    jsonb_build_object(
      'kind', 'exports', 'ts_from', p_run.ts_from, 'ts_to', p_run.ts_to
    )
  ) || coalesce(
    (
      select jsonb_agg(
        jsonb_build_object(
          'kind', 'log_stream', 'name', s.name, 'to', s.kind, 'sent_from', s.created_at,
          'sent_to', s.last_success_at
        )
        order by s.created_at, s.stream_id
      )
      from logloom.log_streams s
      where s.tenant_id = p_run.tenant_id and s.sent_records > 0
    ),
    '[]'
  ) || coalesce(
    (
      select jsonb_agg(
        jsonb_build_object(
          'kind', 'damaged_block', 'records', c.records, 'ts_from', c.first_ts,
          'ts_to', c.last_ts + interval '1 microsecond'
        )
        order by c.first_ts, c.block_id
      )
      from logloom_private.blocks c
      where c.tenant_id = p_run.tenant_id and c.damaged_at is not null
        and c.last_ts >= p_run.ts_from and c.first_ts < p_run.ts_to
    ),
    '[]'
  );
end;
$function$;

COMMENT ON COLUMN "logloom_private"."blocks"."checksum" IS 'logloom_private.block_checksum of the block and its columns, of all values but block_id, sealed_at, bytes and damaged_at.';

COMMENT ON COLUMN "logloom_private"."blocks"."damaged_at" IS 'When a verification found that the checksum differs. Whoever reads leaves the block out, with a warning; null again when a verification finds the block as it was stored.';

select logloom_private.finish_migration();
