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
  p_id uuid
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
  v_chunk logloom_private.sealed_chunks;
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
    v_positions := logloom_private.bit_positions(
      logloom_private.chunk_bits(v_chunk, p_tree, p_filter, v_fields, v_keys, p_from, p_to)
    );
    continue when v_positions = '{}';
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
      from unnest(v_positions, v_times) p (position, ts)
      where v_edge is null or case when v_is_descending then p.ts >= v_edge else p.ts <= v_edge end
      order by p.position
    );
    return query
    select r.*
    from logloom_private.sealed_records(v_chunk, v_positions, null, null) r
    where p_ts is null
      or case when v_is_descending then (r.ts, r.id) < (p_ts, p_id)
        else (r.ts, r.id) > (p_ts, p_id) end;
  end loop;
end;
$$;

revoke all on function logloom_private.sealed_page(
  text, timestamptz, timestamptz, jsonb, text, integer, text, timestamptz, uuid
) from public;

comment on function logloom_private.sealed_page(
  text, timestamptz, timestamptz, jsonb, text, integer, text, timestamptz, uuid
) is
  'Sealed records that a query finds, among them the first p_limit in the order of (ts, id), '
  'after p_ts and p_id where they are given.';
