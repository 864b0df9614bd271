-- A block with ts of its records by position.
create function logloom_private.encode_times(
  p_block logloom_private.blocks,
  p_ts timestamptz[]
)
returns logloom_private.blocks
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_first constant timestamptz := p_block.first_ts;
  v_offsets bigint[];
  v_greatest bigint := extract(epoch from p_block.last_ts - v_first) * 1000000;
begin
  select array_agg(o.ts), case when bool_and(o.ts % 1000 = 0) then 1000 else 1 end
  into v_offsets, p_block.ts_unit
  from (
    select (date_part('epoch', u.ts - v_first) * 1000000)::bigint as ts
    from (select unnest(p_ts) as ts) u
    offset 0
  ) o;
  v_greatest := v_greatest / p_block.ts_unit;
  -- In one pass: each costs as much as what it makes.
  select
    array_agg(((o.ts & 65535) - 32768)::smallint),
    array_agg(((o.ts >> 16 & 255)::integer - 128)::"char") filter (where v_greatest > 65535),
    array_agg(((o.ts >> 24 & 65535) - 32768)::smallint) filter (where v_greatest > 16777215),
    array_agg(((o.ts >> 40)::integer - 128)::"char") filter (where v_greatest > 1099511627775)
  into p_block.ts_low, p_block.ts_middle, p_block.ts_high, p_block.ts_top
  from (select unnest(v_offsets) / p_block.ts_unit as ts offset 0) o;
  return p_block;
end;
$$;
