-- Returns the blocks of a tenant that lie entirely in [p_from, p_to) and can count the values of
-- p_name: the column has a dictionary, or no record has a value.
create function logloom_private.blocks_with_counts(
  p_tenant_id text,
  p_blocks bigint[],
  p_from timestamptz,
  p_to timestamptz,
  p_name text
)
returns bigint[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return array(
    select c.block_id
    from logloom_private.blocks c
    where c.tenant_id = p_tenant_id and c.block_id = any(p_blocks)
      and c.first_ts >= p_from and c.last_ts < p_to
      and coalesce(
        (
          select k.kind = 'dictionary'
          from logloom_private.block_columns k
          where k.tenant_id = p_tenant_id and k.block_id = c.block_id and k.name = p_name
        ),
        -- A key without a column may be among the rare keys.
        p_name not like 'attrs.%' or not exists (
          select
          from logloom_private.block_columns k
          where k.tenant_id = p_tenant_id and k.block_id = c.block_id and k.name = 'attrs'
            and (k.kind <> 'dictionary' or k.dictionary <> array['{}'])
        )
      )
  );
end;
$$;

-- Groups the sealed records that a query finds in [p_from, p_to) for a tenant, by the values of
-- fields. Several rows may have the same values. If the query finds every record and p_by has one
-- field, the counts of its dictionaries answer.
--   p_by   names of columns of blocks, service and level
--   keys   the values in the order of p_by; values of attrs are JSON texts
--   p_key  also return the numbers of this attribute, as in block_groups
create function logloom_private.sealed_groups(
  p_tenant_id text,
  p_from timestamptz,
  p_to timestamptz,
  p_tree jsonb,
  p_by text[],
  p_key text default null,
  p_exact boolean default false,
  p_doubles boolean default false
)
returns setof logloom_private.block_group
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
  v_counted bigint[] := '{}';
  v_block logloom_private.blocks;
  v_bits varbit;
begin
  if p_tree ->> 'type' = 'all' and cardinality(p_by) = 1
    and p_by[1] not in ('service', 'level')
  then
    v_counted := logloom_private.blocks_with_counts(
      p_tenant_id, v_blocks, p_from, p_to, p_by[1]
    );
    return query
    with counted as materialized (
      select d.value, sum(d.count)::bigint as events
      from (
        select k.dictionary, k.counts
        from logloom_private.block_columns k
        where k.tenant_id = p_tenant_id and k.block_id = any(v_counted) and k.name = p_by[1]
          and logloom_private.take_scan_slot()
        -- "offset 0" keeps the subqueries apart: take_scan_slot() runs once for each block, not for
        -- each value.
        offset 0
      ) k
      cross join lateral unnest(k.dictionary, k.counts) d (value, count)
      group by d.value
    ), valueless as (
      select sum(b.records)::bigint - coalesce((select sum(c.events) from counted c), 0) as events
      from logloom_private.blocks b
      where b.tenant_id = p_tenant_id and b.block_id = any(v_counted)
    )
    select
      array[c.value], c.events::bigint, 0::bigint, null::numeric, null::numeric, null::numeric,
      null::double precision[]
    from (
      select c.* from counted c
      union all
      select null, v.events from valueless v where v.events > 0
    ) c;
  end if;
  for v_block in
    select c.*
    from logloom_private.blocks c
    where c.tenant_id = p_tenant_id
      and c.block_id = any(v_blocks) and (p_key is not null or c.block_id <> all(v_counted))
    order by c.last_ts
  loop
    v_bits := logloom_private.block_bits(v_block, p_tree, p_from, p_to);
    continue when bit_count(v_bits) = 0;
    return query
    select g.*
    from logloom_private.block_groups(
      v_block, v_bits, p_by, v_block.block_id <> all(v_counted), p_key, p_exact, p_doubles
    ) g;
  end loop;
end;
$$;
