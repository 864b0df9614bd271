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
      select coalesce(p.position, p.n)
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
