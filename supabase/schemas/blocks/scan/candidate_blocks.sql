-- Returns the blocks of a tenant with records in [p_from, p_to) and possibly the values that the
-- query needs. Searching a month for one request id checks a thousand blocks, so one check must be
-- cheap.
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
-- Callers may force generic plans, but Citus needs the values to choose the node.
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
          -- Uses a scalar subquery, because PostgreSQL could plan "exists" as a join over all
          -- blocks of the tenant.
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
        -- Without the column, no record has a value.
        false
      )
    );
end;
$$;

-- Returns a query warning if a block of the tenant is damaged, otherwise []. The warning has no
-- number and no time. They would tell a reader with hidden fields where blocks begin.
create function logloom_private.damage_warnings(p_tenant_id text)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  perform
  from logloom_private.blocks c
  where c.tenant_id = p_tenant_id and c.damaged_at is not null
  limit 1;
  return case
    when found then jsonb_build_array(jsonb_build_object(
      'position', null,
      'message', 'some stored records are damaged and left out',
      'suggestion', 'Ask the operators of the service: the verification lists them.'
    ))
    else '[]'
  end;
end;
$$;
