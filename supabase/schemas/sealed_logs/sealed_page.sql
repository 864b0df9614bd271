-- Pages of sealed records: what a page holds is chosen by ts, and only that is read.

-- Positions among which are the p_limit records with the first ts of a chunk and all of the last
-- one's ts: those at its end by the upper part of a step. Null where they are not found so.
create function logloom_private.outer_positions(
  p_chunk logloom_private.sealed_chunks,
  p_limit integer,
  p_is_descending boolean
)
returns integer[]
language plpgsql
stable
security invoker
set search_path = ''
set plan_cache_mode = 'force_generic_plan'
as $$
declare
  v_upper "char"[] := p_chunk.ts_middle;
  -- Of a chunk of more than some hours.
  v_high smallint[] := p_chunk.ts_high;
  v_greatest constant bigint := logloom_private.microseconds_after(
    p_chunk.first_ts, p_chunk.last_ts
  ) / p_chunk.ts_unit / case when v_high is null then 65536 else 16777216 end;
  -- As many of these values as hold twice as many records, were they spread evenly.
  v_values constant bigint := ceil(2.0 * p_limit * (v_greatest + 1) / p_chunk.records);
  v_least constant integer := case when v_high is null then 128 else 32768 end;
  v_value integer;
  v_positions integer[] := '{}';
begin
  if v_upper is null or v_values > v_greatest then
    return null;
  end if;
  if v_values <= 10 then
    for v_at in 0..least(v_greatest, 19) loop
      v_value := case when p_is_descending then v_greatest - v_at else v_at end - v_least;
      v_positions := v_positions || case when v_high is null
        then array_positions(v_upper, v_value::"char")
        else array_positions(v_high, v_value::smallint) end;
      exit when cardinality(v_positions) >= p_limit;
    end loop;
  else
    v_value := case when p_is_descending then v_greatest - v_values + 1 else v_values - 1 end
      - v_least;
    v_positions := array(
      select i.n
      from generate_series(1, p_chunk.records) i (n)
      cross join lateral (
        -- As numbers: bytes have no sign.
        select case when v_high is null then v_upper[i.n]::integer else v_high[i.n] end as value
      ) v
      where case when p_is_descending then v.value >= v_value else v.value <= v_value end
    );
  end if;
  return case when cardinality(v_positions) >= p_limit then v_positions end;
end;
$$;

revoke all on function logloom_private.outer_positions(
  logloom_private.sealed_chunks, integer, boolean
) from public;

-- Positions of the p_limit records with the first ts of a chunk, in the order of ts or its reverse,
-- and of those with the last one's ts. p_positions: of which ones, all where null. p_past: records
-- of this ts come on top of them.
create function logloom_private.first_positions(
  p_chunk logloom_private.sealed_chunks,
  p_positions integer[],
  p_limit integer,
  p_is_descending boolean,
  p_past timestamptz
)
returns integer[]
language plpgsql
stable
security invoker
set search_path = ''
set plan_cache_mode = 'force_generic_plan'
as $$
declare
  v_sign constant bigint := case when p_is_descending then -1 else 1 end;
  v_past constant bigint :=
    logloom_private.microseconds_after(p_chunk.first_ts, p_past) / p_chunk.ts_unit;
  v_positions integer[] := p_positions;
  v_steps bigint[];
  v_edge bigint;
begin
  if v_positions is null
    and (p_past between p_chunk.first_ts and p_chunk.last_ts) is not true
  then
    v_positions := logloom_private.outer_positions(p_chunk, p_limit, p_is_descending);
  end if;
  v_steps := logloom_private.chunk_steps(p_chunk, v_positions);
  v_edge := (
    array(
      select s.step
      from unnest(v_steps) s (step)
      where s.step is distinct from v_past
      order by v_sign * s.step
      limit p_limit
    )
  )[p_limit];
  return array(
    select coalesce(v_positions[s.n], s.n::integer) as position
    from unnest(v_steps) with ordinality s (step, n)
    where v_edge is null or v_sign * s.step <= v_sign * v_edge or s.step = v_past
    order by position
  );
end;
$$;

revoke all on function logloom_private.first_positions(
  logloom_private.sealed_chunks, integer[], integer, boolean, timestamptz
) from public;

comment on function logloom_private.first_positions(
  logloom_private.sealed_chunks, integer[], integer, boolean, timestamptz
) is
  'Ascending positions of a chunk''s p_limit records with the first ts in an order, and of all '
  'that have the last one''s ts; those with the ts p_past besides.';

-- The first p_limit of them and more, in the order of (ts, id) or its reverse, after p_ts and p_id
-- where they are given: all that a page can hold.
create function logloom_private.sealed_page(
  p_tenant_id text,
  p_from timestamptz,
  p_to timestamptz,
  p_tree jsonb,
  p_filter text,
  p_limit integer,
  p_order text,
  p_ts timestamptz,
  p_id uuid,
  p_reads text default null
)
returns setof logloom.logs
language plpgsql
stable
security invoker
set search_path = ''
set jit = off
rows 100
as $$
declare
  v_is_descending constant boolean := p_order = 'desc';
  v_fields constant text[] := logloom_private.fields_read(p_filter);
  v_keys constant text[] := logloom_private.keys_read(p_filter);
  v_shown constant text[] := logloom_private.fields_read(p_reads || ' l.ts l.id');
  v_shown_keys constant text[] := logloom_private.keys_read(p_reads);
  v_chunk logloom_private.sealed_chunks;
  v_bits varbit;
  v_positions integer[];
  v_times timestamptz[];
  v_best timestamptz[] := '{}';
  v_edge timestamptz;
begin
  for v_chunk in
    select c.*
    from logloom_private.sealed_chunks c
    where c.tenant_id = p_tenant_id
      and c.chunk_id in (
        select logloom_private.candidate_chunks(p_tenant_id, p_from, p_to, p_tree)
      )
    order by
      case when v_is_descending then c.last_ts end desc,
      case when not v_is_descending then c.first_ts end
  loop
    -- The page is full, and nothing of this chunk and of those after it can come before its end.
    exit when case when v_is_descending then v_chunk.last_ts < v_edge
      else v_chunk.first_ts > v_edge end;
    v_bits := logloom_private.chunk_bits(
      v_chunk, p_tree, p_filter, v_fields, v_keys, p_from, p_to
    );
    continue when bit_count(v_bits) = 0;
    -- Null: all of them.
    v_positions := case when bit_count(v_bits) < v_chunk.records
      then logloom_private.bit_positions(v_bits) end;
    v_positions := logloom_private.first_positions(
      v_chunk, v_positions, p_limit, v_is_descending, p_ts
    );
    v_times := logloom_private.chunk_times(v_chunk, v_positions);
    -- Records of the page before, of the same ts as its last, are more than p_limit.
    v_best := array(
      select t
      from unnest(v_best || v_times) t
      where p_ts is null or t <> p_ts
      order by
        case when v_is_descending then t end desc,
        case when not v_is_descending then t end
      limit p_limit
    );
    v_edge := v_best[p_limit];
    v_positions := array(
      select p.position
      from unnest(v_positions, v_times) with ordinality p (position, ts, n)
      where v_edge is null or case when v_is_descending then p.ts >= v_edge else p.ts <= v_edge end
      order by p.n
    );
    return query
    select r.*
    from logloom_private.sealed_records(
      v_chunk, case when cardinality(v_positions) < v_chunk.records then v_positions end,
      v_shown, v_shown_keys
    ) r
    where p_ts is null
      or case when v_is_descending then (r.ts, r.id) < (p_ts, p_id)
        else (r.ts, r.id) > (p_ts, p_id) end;
  end loop;
end;
$$;

revoke all on function logloom_private.sealed_page(
  text, timestamptz, timestamptz, jsonb, text, integer, text, timestamptz, uuid, text
) from public;

comment on function logloom_private.sealed_page(
  text, timestamptz, timestamptz, jsonb, text, integer, text, timestamptz, uuid, text
) is
  'Sealed records that a query finds, among them the first p_limit in the order of (ts, id), '
  'after p_ts and p_id where they are given. p_reads: SQL over the alias l that reads them; of '
  'each only what it reads, ts and id are there, all where it is null.';
