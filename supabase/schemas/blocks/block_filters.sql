-- Which blocks may hold a value of a field that names one thing among many, a request above all:
-- a search for it over a month looks at a thousand blocks, and a look must cost little.

-- The two places, from 1 on, at which a filter of p_size bits has a value.
create function logloom_private.filter_places(p_value text, p_size integer)
returns integer[]
language plpgsql
immutable
strict
parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_hash constant bigint := hashtextextended(p_value, 0);
begin
  return array[
    (v_hash & 2147483647) % p_size + 1, (v_hash >> 32 & 2147483647) % p_size + 1
  ];
end;
$$;

-- Bits that tell of a value whether it may be one of p_values, eight a byte, the first one highest.
create function logloom_private.value_filter(p_values text[])
returns bytea
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
set work_mem = '32MB'
as $$
declare
  -- One value in forty of those that are not there looks as if it were.
  v_size constant integer := 8 * ((12 * cardinality(p_values) + 7) / 8);
begin
  -- The bits as they lie, after their number.
  return substring(
    varbit_send(logloom_private.position_bits(
      array(
        -- What filter_places says of each, without a call a value.
        select distinct b.place
        from (
          select unnest(array[
            (h.hash & 2147483647) % v_size + 1, (h.hash >> 32 & 2147483647) % v_size + 1
          ])::integer as place
          from (
            select hashtextextended(v.value, 0) as hash
            from (select unnest(p_values) as value) v
            where v.value is not null
          ) h
        ) b
        order by b.place
      ),
      v_size
    ))
    from 5
  );
end;
$$;

-- One byte of a stored filter is read, not all of it.
create function logloom_private.filter_has(p_filter bytea, p_place integer)
returns boolean
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (get_byte(substring(p_filter from (p_place + 7) / 8 for 1), 0) >> (7 - (p_place - 1) % 8))
    % 2 = 1;
end;
$$;

-- Whether one of p_values may be among those that the filter was made of.
create function logloom_private.filter_may_hold(p_filter bytea, p_values text[])
returns boolean
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_size constant integer := 8 * octet_length(p_filter);
  v_value text;
  v_places integer[];
begin
  foreach v_value in array p_values loop
    v_places := logloom_private.filter_places(v_value, v_size);
    -- Most values are known not to be there by the first one.
    if logloom_private.filter_has(p_filter, v_places[1])
      and logloom_private.filter_has(p_filter, v_places[2])
    then
      return true;
    end if;
  end loop;
  return false;
end;
$$;

-- The first leaf of a query without which no record is found, and which names a value.
-- Of a query's tree a leaf that every record it finds passes and that names values of a field; null
-- where there is none.
create function logloom_private.needed_leaf(p_tree jsonb)
returns jsonb
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select n
    from jsonb_array_elements(
      case p_tree ->> 'type' when 'and' then p_tree -> 'items' else jsonb_build_array(p_tree) end
    ) with ordinality i (n, at)
    where n ->> 'type' = 'leaf' and n ->> 'test' = 'equal'
      and n ->> 'field' in ('req_id', 'user_id', 'route', 'host', 'env')
      and n - array['type', 'field', 'name', 'test', 'values', 'size', 'position'] = '{}'
    order by array_position(array['req_id', 'user_id', 'route', 'host', 'env'], n ->> 'field'), at
    limit 1
  );
end;
$$;

-- The blocks of a tenant that have records in [p_from, p_to), without those of which a value that
-- the query needs says that they hold none of them.
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
