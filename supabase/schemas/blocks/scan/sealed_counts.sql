-- Counts the sealed records that a query finds in [p_from, p_to), by service and level if p_by
-- names them. Several rows may have the same service and level. Where runs, templates or
-- dictionaries can answer, one statement counts all blocks that lie entirely in the range. It reads
-- no records.
create function logloom_private.sealed_counts(
  p_tenant_id text,
  p_from timestamptz,
  p_to timestamptz,
  p_tree jsonb,
  p_by text[] default array['service', 'level']
)
returns table (service text, level text, events bigint)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set jit = off
rows 100
as $$
declare
  v_blocks bigint[] := array(
    select logloom_private.candidate_blocks(p_tenant_id, p_from, p_to, p_tree)
  );
  v_whole constant bigint[] := array(
    select c.block_id
    from logloom_private.blocks c
    where c.tenant_id = p_tenant_id and c.block_id = any(v_blocks)
      and c.first_ts >= p_from and c.last_ts < p_to
  );
  v_sql constant text := logloom_private.template_counts_sql(p_tree);
  v_counted bigint[] := '{}';
  v_block logloom_private.blocks;
  v_bits varbit;
begin
  if v_sql is not null then
    v_counted := v_whole;
    return query execute v_sql
    using p_tenant_id, v_counted, current_setting('logloom.scan', true);
  elsif p_by = '{}' then
    select d.o_blocks, d.o_events into v_counted, events
    from logloom_private.dictionary_count(p_tenant_id, v_whole, p_tree) d;
    if v_counted <> '{}' then
      return next;
    end if;
  end if;
  for v_block in
    select c.*
    from logloom_private.blocks c
    where c.tenant_id = p_tenant_id
      and c.block_id = any(v_blocks) and c.block_id <> all(v_counted)
    order by c.last_ts
  loop
    v_bits := logloom_private.block_bits(v_block, p_tree, p_from, p_to);
    continue when bit_count(v_bits) = 0;
    return query
    select x.service, x.level, x.events
    from (
      select s.service, s.level, bit_count(substring(v_bits from s.first for s.records)) as events
      from (
        select u.*, (sum(u.records) over (order by u.n) - u.records + 1)::integer as first
        from unnest(v_block.run_services, v_block.run_levels, v_block.run_records)
          with ordinality u (service, level, records, n)
      ) s
    ) x
    where x.events > 0;
  end loop;
end;
$$;
