-- The record with an id.
create function logloom_private.sealed_log(
  p_tenant_id text,
  p_from timestamptz,
  p_to timestamptz,
  p_id uuid
)
returns setof logloom.logs
language plpgsql
stable
security invoker
set search_path = ''
set jit = off
rows 1
as $$
declare
  v_prefix constant bytea := substring(uuid_send(p_id) for 14);
  v_index constant integer :=
    get_byte(uuid_send(p_id), 14) * 256 + get_byte(uuid_send(p_id), 15);
begin
  return query
  select r.*
  from logloom_private.sealed_chunks c,
    logloom_private.sealed_records(
      c,
      array(
        select i.n::integer
        from unnest(c.id_indexes, c.batch_codes, c.wide_batch_codes)
          with ordinality i (index, code, wide_code, n)
        where i.index = case when v_index > 32767 then v_index - 65536 else v_index end
          and substring(
            c.batch_prefixes
            from 14 * (coalesce(i.code::integer + 129, i.wide_code, 1) - 1) + 1 for 14
          ) = v_prefix
        order by i.n
      ),
      null, null
    ) r
  where c.tenant_id = p_tenant_id
    and c.last_ts >= p_from and c.first_ts < p_to
    and p_id between c.first_id and c.last_id
    and position(v_prefix in c.batch_prefixes) > 0
    and r.id = p_id
    and r.ts >= p_from
    and r.ts < p_to;
end;
$$;

revoke all on function logloom_private.sealed_log(text, timestamptz, timestamptz, uuid) from public;

comment on function logloom_private.sealed_log(text, timestamptz, timestamptz, uuid) is
  'The sealed record with an id, where its ts is in [p_from, p_to).';

-- Records of steps of the writer.
create function logloom_private.sealed_arrivals(
  p_tenant_id text,
  p_first bigint,
  p_last bigint,
  p_tree jsonb,
  p_filter text
)
returns setof logloom.logs
language plpgsql
stable
security invoker
set search_path = ''
set jit = off
rows 100
as $$
begin
  return query
  select r.*
  from logloom_private.sealed_chunks c,
    logloom_private.sealed_records(
      c,
      logloom_private.bit_positions(
        logloom_private.chunk_bits(
          c, p_tree, p_filter, logloom_private.fields_read(p_filter),
          logloom_private.keys_read(p_filter), '-infinity', 'infinity'
        )
      ),
      null, null
    ) r
  where c.tenant_id = p_tenant_id and c.last_arrival >= p_first and c.first_arrival <= p_last
    and r.arrival between p_first and p_last;
end;
$$;

revoke all on function logloom_private.sealed_arrivals(
  text, bigint, bigint, jsonb, text
) from public;

comment on function logloom_private.sealed_arrivals(text, bigint, bigint, jsonb, text) is
  'Sealed records of the writer''s steps p_first to p_last that a query finds.';
