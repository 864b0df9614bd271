-- The record with an id.
-- The sealed record with an id, where its ts is in [p_from, p_to).
create function logloom_private.sealed_log(
  p_tenant_id text,
  p_from timestamptz,
  p_to timestamptz,
  p_id uuid
)
returns setof logloom.logs
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set jit = off
rows 1
as $$
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
      and p_id between c.first_id and c.last_id
  loop
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
    from logloom_private.sealed_records(v_block, v_positions, null, null) r
    where r.id = p_id and r.ts >= p_from and r.ts < p_to;
  end loop;
end;
$$;

-- Records of steps of the writer: of a block the first p_limit, of these what p_bytes leaves.
-- Sealed records from p_from on, of the writer's steps p_first to p_last, of the first one those
-- after p_id, that a query finds: of each block the first p_limit, and of the first one that has
-- p_bytes of them before it id, ts, write sequence and record_bytes.
create function logloom_private.sealed_write_seqs(
  p_tenant_id text,
  p_first bigint,
  p_id uuid,
  p_last bigint,
  p_from timestamptz,
  p_tree jsonb,
  p_filter text,
  p_limit integer,
  p_bytes bigint
)
returns setof logloom.logs
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set jit = off
rows 100
as $$
declare
  v_fields constant text[] := logloom_private.fields_read(p_filter);
  v_keys constant text[] := logloom_private.keys_read(p_filter);
  v_block logloom_private.blocks;
  v_write_seqs bigint[];
  v_positions integer[];
  v_batches integer[];
  v_next integer[];
begin
  for v_block in
    select c.*
    from logloom_private.blocks c
    where c.tenant_id = p_tenant_id and c.last_write_seq >= p_first and c.first_write_seq <= p_last
      and c.last_ts >= p_from
  loop
    v_write_seqs := v_block.batch_write_seqs;
    continue when not exists (
      select from unnest(v_write_seqs) a where a between p_first and p_last
    );
    v_positions := logloom_private.bit_positions(
      logloom_private.block_bits(
        v_block, p_tree, p_filter, v_fields, v_keys, p_from, 'infinity'
      )
    );
    continue when v_positions = '{}';
    v_batches := logloom_private.block_batches(v_block, v_positions);
    v_positions := array(
      select u.position
      from unnest(
        v_positions, v_batches, logloom_private.block_ids(v_block, v_positions, v_batches)
      ) u (position, batch, id)
      where v_write_seqs[u.batch] between p_first and p_last
        and (p_id is null or v_write_seqs[u.batch] > p_first or u.id > p_id)
      order by v_write_seqs[u.batch], u.id
      limit p_limit
    );
    continue when v_positions = '{}';
    select
      array_agg(f.position order by f.position) filter (where f.before < p_bytes),
      (array_agg(f.position order by f.n) filter (where f.before >= p_bytes))[1:1]
    into v_positions, v_next
    from (
      select
        o.position, o.n,
        coalesce(
          sum(s.size) over (order by o.n rows between unbounded preceding and 1 preceding), 0
        ) as before
      from unnest(v_positions) with ordinality o (position, n)
      join (
        select a.positions[i] as position, a.sizes[i] as size
        from (
          select p.positions, logloom_private.block_sizes(v_block, p.positions) as sizes
          from (select array(select unnest(v_positions) order by 1) as positions) p
          offset 0
        ) a, generate_subscripts(a.positions, 1) i
      ) s on s.position = o.position
    ) f;
    return query
    select r.* from logloom_private.sealed_records(v_block, v_positions, null, null) r;
    if v_next is not null then
      return query
      select r.*
      from logloom_private.sealed_records(
        v_block, v_next, array['ts', 'id', 'write_seq', 'record_bytes'], '{}'
      ) r;
    end if;
  end loop;
end;
$$;
