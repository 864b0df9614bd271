-- Lists the formats of blocks that this version can read, ascending. New blocks get the last one. A
-- release that changes tables/blocks.sql adds a number, reads the old and the new format, and
-- recreates blocks_older_format_idx. rewrite_step then converts the older blocks.
create function logloom_private.block_formats()
returns smallint[]
language sql
immutable
parallel safe
return '{1}'::smallint[];

-- True if this version can read a format; raises an error otherwise. Every reader of blocks calls
-- this function for each block.
create function logloom_private.can_read(p_format smallint)
returns boolean
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_format = any(logloom_private.block_formats()) then
    return true;
  end if;
  perform logloom_private.refuse('search.block_format_is_unknown', p_format::text);
  return false;
end;
$$;

-- Returns a checksum over all values of a block and of its columns. Leaves out block_id, sealed_at,
-- bytes, damaged_at and kept_days.
create function logloom_private.block_checksum(
  p_block logloom_private.blocks,
  p_columns logloom_private.block_columns[]
)
returns bytea
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  b constant logloom_private.blocks := p_block;
  v_columns bytea;
begin
  select string_agg(
    sha256(record_send(row(
      c.least, c.greatest, c.first, c.last, c.name, c.kind, c.dictionary, c.counts, c.codes,
      c.wide_codes, c.numbers, c.wide_numbers, c.texts, c.digits, c.filter
    ))),
    '' order by c.name collate "C"
  )
  into v_columns
  from unnest(p_columns) c;
  return sha256(record_send(row(
    b.first_ts, b.last_ts, b.first_write_seq, b.last_write_seq, b.first_id, b.last_id, b.records,
    b.ts_unit, b.format, b.holds_counts, b.tenant_id, b.separator, b.run_services, b.run_levels,
    b.run_records, b.run_templates, b.run_digits, b.templates, b.run_words, b.template_records,
    b.offset_records, b.offset_digits, b.offset_bytes, b.digits, b.ts_low, b.ts_middle, b.ts_high,
    b.ts_top, b.batch_prefixes, b.batch_received_at, b.batch_write_seqs, b.batch_codes,
    b.wide_batch_codes, b.id_indexes, b.weight, v_columns
  )));
end;
$$;

-- True if a block and its columns are as they were stored.
create function logloom_private.block_is_intact(p_block logloom_private.blocks)
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_columns logloom_private.block_columns[] := '{}';
  v_column logloom_private.block_columns;
begin
  -- Reads row by row: a sharded table has another row type, so its rows do not fit in an array.
  for v_column in
    select c.*
    from logloom_private.block_columns c
    where c.tenant_id = p_block.tenant_id and c.block_id = p_block.block_id
  loop
    v_columns := v_columns || v_column;
  end loop;
  return p_block.checksum = logloom_private.block_checksum(p_block, v_columns);
end;
$$;

-- Raises LL001 if a block is damaged. Call it before a block is replaced: otherwise damaged records
-- get a valid checksum.
create function logloom_private.require_intact(p_block logloom_private.blocks)
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  perform logloom_private.can_read(p_block.format);
  if not logloom_private.block_is_intact(p_block) then
    raise sqlstate 'LL001' using
      message = format('Block %s is damaged: its checksum differs', p_block.block_id);
  end if;
end;
$$;
