-- Sealed records from p_from on, of the writer's steps p_first to p_last, of the first step those
-- after p_id, that a query finds: of each block the first p_limit. The first record with p_bytes of
-- others before it has id, ts, write_seq and record_bytes alone.
create function logloom_private.sealed_write_seqs(
  p_tenant_id text,
  p_first bigint,
  p_id uuid,
  p_last bigint,
  p_from timestamptz,
  p_tree jsonb,
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
$$;
