-- Those of a block's ascending positions whose records pass p_filter, which is asked of each;
-- p_fields and p_keys are what it reads.
create function logloom_private.filtered_positions(
  p_block logloom_private.blocks,
  p_positions integer[],
  p_filter text,
  p_fields text[],
  p_keys text[]
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
        from logloom_private.sealed_records($2, $1, $3, $4) l
      ) l on l.n = p.n
      where %s
    $query$,
    p_filter
  )
  into v_found
  using p_positions, p_block, p_fields, p_keys;
  return coalesce(v_found, '{}');
end;
$$;
