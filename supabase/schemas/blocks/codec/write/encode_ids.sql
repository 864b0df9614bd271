-- A block with the ids of its records by position, and with their batches.
create function logloom_private.encode_ids(
  p_block logloom_private.blocks,
  p_ids uuid[],
  p_received_at timestamptz[],
  p_write_seqs bigint[]
)
returns logloom_private.blocks
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
set work_mem = '48MB'
as $$
declare
  v_bytes bytea[] := array(select uuid_send(unnest(p_ids)));
  v_prefixes bytea[];
begin
  with b as (
    select u.prefix, u.received_at, u.write_seq
    from (
      select
        substring(unnest(v_bytes) for 14) as prefix, unnest(p_received_at) as received_at,
        unnest(p_write_seqs) as write_seq
    ) u
    group by u.prefix, u.received_at, u.write_seq
    order by u.received_at, u.prefix, u.write_seq
  )
  select
    array_agg(b.prefix), string_agg(b.prefix, ''::bytea), array_agg(b.received_at),
    array_agg(b.write_seq)
  into v_prefixes, p_block.batch_prefixes, p_block.batch_received_at, p_block.batch_write_seqs
  from b;
  if cardinality(v_prefixes) > 1 then
    p_block.wide_batch_codes := array(
      select b.number::smallint
      from (
        select
          substring(unnest(v_bytes) for 14) as prefix, unnest(p_received_at) as received_at,
          unnest(p_write_seqs) as write_seq, generate_series(1, p_block.records) as n
      ) u
      left join unnest(v_prefixes, p_block.batch_received_at, p_block.batch_write_seqs)
        with ordinality b (prefix, received_at, write_seq, number)
        on b.prefix = u.prefix and b.received_at = u.received_at and b.write_seq = u.write_seq
      order by u.n
    );
  end if;
  if cardinality(v_prefixes) between 2 and 256 then
    p_block.batch_codes := array(
      select (unnest(p_block.wide_batch_codes)::integer - 129)::"char"
    );
    p_block.wide_batch_codes := null;
  end if;
  -- As a signed number of two bytes.
  p_block.id_indexes := array(
    select (
      ((get_byte(b.bytes, 14) << 8 | get_byte(b.bytes, 15)) + 32768 & 65535) - 32768
    )::smallint
    from (select unnest(v_bytes) as bytes) b
  );
  p_block.first_id := (
    select i.id from (select unnest(p_ids) as id) i order by i.id limit 1
  );
  p_block.last_id := (
    select i.id from (select unnest(p_ids) as id) i order by i.id desc limit 1
  );
  return p_block;
end;
$$;
