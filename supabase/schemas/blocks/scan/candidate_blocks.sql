-- The blocks of a tenant with records in [p_from, p_to), without those that hold none of the values
-- that the query needs. A search for a request over a month looks at a thousand blocks, so a look
-- must cost little.
create function logloom_private.candidate_blocks(
  p_tenant_id text,
  p_from timestamptz,
  p_to timestamptz,
  p_tree jsonb
)
returns setof bigint
language plpgsql
stable
set search_path = pg_catalog, pg_temp
-- Whoever asks may plan once for all values; a node is found by them.
set plan_cache_mode = 'auto'
rows 100
as $$
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
$$;
