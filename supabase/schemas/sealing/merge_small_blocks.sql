-- Makes one block of a tenant's small ones in the span of p_days days from p_from on, of those that
-- hold their counts or of the others. Limited by seal_block_records and seal_block_bytes.
create function logloom_private.merge_small_blocks(
  p_tenant_id text,
  p_from date,
  p_days integer,
  p_hold_counts boolean
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_settings logloom_private.settings;
  v_block_ids bigint[];
begin
  select s.* into v_settings from logloom_private.settings s;
  select array_agg(m.block_id) into v_block_ids
  from (
    select
      w.block_id,
      sum(w.records) over (order by w.first_ts, w.block_id) as records,
      sum(w.weight) over (order by w.first_ts, w.block_id) as weight
    from logloom_private.blocks w
    where w.tenant_id = p_tenant_id
      and w.holds_counts = p_hold_counts
      and w.first_ts >= logloom_private.day_start(p_from)
      and w.last_ts >= logloom_private.day_start(p_from)
      and w.last_ts < logloom_private.day_start(p_from + p_days)
      and w.records < case
        when p_hold_counts then v_settings.seal_day_records
        else v_settings.seal_block_records / 2
      end
  ) m
  where m.records <= v_settings.seal_block_records
    and m.weight <= v_settings.seal_block_bytes;
  if cardinality(v_block_ids) > 1 then
    perform logloom_private.rewrite_blocks(p_tenant_id, v_block_ids);
  end if;
end;
$$;
