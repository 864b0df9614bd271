-- Returns sealed records with ts >= p_from that a query finds, from the writer's steps p_first to
-- p_last. From the step p_first, only records after p_id. Returns the first p_limit, and possibly
-- others after them. Skips blocks that cannot have any of the first p_limit. Of its first record
-- beyond p_bytes, a block returns only id, ts, write_seq and record_bytes, and of later ones
-- nothing.
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
  v_batches integer[];
  v_steps bigint[];
  v_step integer;
  v_taken integer;
  v_from bigint;
  v_to bigint;
  v_positions integer[];
  v_next integer[];
  v_added bigint[];
  v_found bigint[] := '{}';
begin
  for v_block in
    select c.*
    from logloom_private.blocks c
    where c.tenant_id = p_tenant_id and c.last_write_seq >= p_first and c.first_write_seq <= p_last
      and c.last_ts >= p_from and c.damaged_at is null
    order by c.first_write_seq
  loop
    exit when v_block.first_write_seq > v_found[p_limit];
    perform logloom_private.can_read(v_block.format);
    v_write_seqs := v_block.batch_write_seqs;
    v_steps := array(
      select distinct a
      from unnest(v_write_seqs) a
      where a between p_first and least(p_last, v_found[p_limit])
      order by a
    );
    continue when v_steps = '{}';
    v_batches := logloom_private.block_batches(v_block, null);
    -- Begins with about as many steps as hold p_limit records. Each further round takes four times
    -- as many.
    v_taken := coalesce(
      1 + p_limit * cardinality(v_write_seqs)::bigint / v_block.records, cardinality(v_steps)
    );
    v_step := 1;
    while v_steps[v_step] <= coalesce(v_found[p_limit], p_last) loop
      v_from := v_steps[v_step];
      v_to := v_steps[least(v_step + v_taken - 1, cardinality(v_steps))];
      v_positions := array(
        select b.position
        from unnest(v_batches) with ordinality b (batch, position)
        where v_write_seqs[b.batch] between v_from and v_to
        order by b.position
      );
      v_step := v_step + v_taken;
      v_taken := v_taken * 4;
      v_positions := logloom_private.bit_positions(logloom_private.block_bits(
        v_block, p_tree, p_from, 'infinity',
        logloom_private.position_bits(v_positions, v_block.records)
      ));
      select
        array_agg(f.position order by f.position) filter (where f.before < p_bytes),
        (array_agg(f.position order by f.n) filter (where f.before >= p_bytes))[1:1],
        array_agg(f.write_seq)
      into v_positions, v_next, v_added
      from (
        select
          o.position, o.write_seq, o.n,
          coalesce(
            sum(o.record_bytes) over (
              order by o.n rows between unbounded preceding and 1 preceding
            ),
            0
          ) as before
        from (
          select
            p.position, l.write_seq, l.record_bytes,
            row_number() over (order by l.write_seq, l.id) as n
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
      v_found := array(
        select a from unnest(v_found || v_added) a order by a limit p_limit
      );
      return query
      select r.* from logloom_private.sealed_records(v_block, v_positions, null) r;
      if v_next is not null then
        return query
        select r.*
        from logloom_private.sealed_records(
          v_block, v_next, array['ts', 'id', 'write_seq', 'record_bytes']
        ) r;
        exit;
      end if;
    end loop;
  end loop;
end;
$$;
