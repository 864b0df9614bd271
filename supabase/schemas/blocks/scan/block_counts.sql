-- Counts the records that a leaf finds, from the counts of dictionaries. This is possible if the
-- query's tree is this leaf, over one column. A leaf never matches a record without a value.
-- o_blocks: the blocks that were counted.
create function logloom_private.dictionary_count(
  p_tenant_id text,
  p_blocks bigint[],
  p_leaf jsonb,
  out o_blocks bigint[],
  out o_events bigint
)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set jit = off
as $$
declare
  v_key constant text := p_leaf -> 'path' ->> 0;
  v_column constant text := coalesce('attrs.' || v_key, p_leaf ->> 'field');
begin
  o_blocks := case
    when p_leaf ->> 'decided_by' in ('dictionary', 'numbers') and p_leaf ->> 'joined' is null
      then logloom_private.blocks_with_counts(
        p_tenant_id, p_blocks, '-infinity', 'infinity', v_column
      )
    else '{}'
  end;
  if o_blocks = '{}' then
    return;
  end if;
  execute format(
    $query$
      select coalesce(sum(l.count), 0)
      from (
        select %1$s as %2$I, d.count
        from logloom_private.block_columns k
        cross join lateral unnest(k.dictionary, k.counts) d (value, count)
        where k.tenant_id = $1 and k.block_id = any($2) and k.name = %3$L
      ) l
      where %4$s
    $query$,
    case when v_key is not null
      then format('jsonb_build_object(%L::text, d.value::jsonb)', v_key) else 'd.value' end,
    p_leaf ->> 'field', v_column, logloom_private.query_sql(p_leaf, 'l')
  )
  into o_events
  using p_tenant_id, o_blocks;
end;
$$;

-- Returns a row for each record in [p_from, p_to) that log_counts lacks, because its block has
-- holds_counts. The rows have the shape of log_counts, with ts instead of the minute.
create function logloom_private.block_counts(
  p_tenant_id text,
  p_from timestamptz,
  p_to timestamptz
)
returns table (tenant_id text, ts timestamptz, level text, service text, events bigint)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set jit = off
rows 1000
as $$
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
$$;
