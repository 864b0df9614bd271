-- Those of a block's ascending positions whose records a query finds: each is put to its row
-- filter, which takes the scan slot.
create function logloom_private.filtered_positions(
  p_block logloom_private.blocks,
  p_positions integer[],
  p_tree jsonb
)
returns integer[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set jit = off
as $$
declare
  v_found integer[];
begin
  execute format(
    $query$
      select array_agg(p.position order by p.n)
      from unnest($1) with ordinality p (position, n)
      join (
        select l.*, row_number() over () as n
        from logloom_private.sealed_records($2, $1, $3) l
      ) l on l.n = p.n
      where case when l.n & 255 <> 0 or logloom_private.take_scan_slot() then %s end
    $query$,
    logloom_private.query_sql(p_tree, 'l')
  )
  into v_found
  using p_positions, p_block, logloom_private.query_reads(p_tree);
  return coalesce(v_found, '{}');
end;
$$;
