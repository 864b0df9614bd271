-- Returns the sealed records that a query finds in [p_from, p_to), with the fields in p_reads
-- (null: all).
create function logloom_private.sealed_rows(
  p_tenant_id text,
  p_from timestamptz,
  p_to timestamptz,
  p_tree jsonb,
  p_reads text[]
)
returns setof logloom.logs
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set jit = off
rows 1000
as $$
declare
  v_blocks constant bigint[] := array(
    select logloom_private.candidate_blocks(p_tenant_id, p_from, p_to, p_tree)
  );
  v_block logloom_private.blocks;
  v_bits varbit;
begin
  for v_block in
    select c.*
    from logloom_private.blocks c
    where c.tenant_id = p_tenant_id
      and c.block_id = any(v_blocks)
    order by c.last_ts
  loop
    v_bits := logloom_private.block_bits(v_block, p_tree, p_from, p_to);
    continue when bit_count(v_bits) = 0;
    return query
    select r.*
    from logloom_private.sealed_records(
      v_block,
      case when bit_count(v_bits) < v_block.records
        then logloom_private.bit_positions(v_bits) end,
      p_reads
    ) r;
  end loop;
end;
$$;

-- Returns the sealed record with an id, if its ts is in [p_from, p_to).
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
      and p_id between c.first_id and c.last_id and c.damaged_at is null
  loop
    perform logloom_private.can_read(v_block.format);
    v_prefixes := v_block.batch_prefixes;
    continue when position(v_prefix in v_prefixes) = 0;
    v_positions := array_positions(v_block.id_indexes, v_index);
    -- Keeps the positions in the id's batch. v_index occurs at most once in a batch.
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
$$;
