-- Makes one block of small ones in the span of p_days days from p_from on: of those that hold their
-- counts, or of those of a day. Limited by seal_block_records and seal_block_bytes.
create function logloom_private.merge_small_blocks(p_tenant_id text, p_from date, p_days integer)
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
      c.block_id, c.day,
      sum(c.records) over (partition by c.day order by c.first_ts, c.block_id) as records,
      sum(c.weight) over (partition by c.day order by c.first_ts, c.block_id) as weight
    from (
      select
        w.*, case when not w.holds_counts then logloom_private.utc_day(w.first_ts) end as day
      from logloom_private.blocks w
      where w.tenant_id = p_tenant_id
        and w.first_ts >= logloom_private.day_start(p_from)
        and w.last_ts < logloom_private.day_start(p_from + p_days)
        and w.records < case
          when w.holds_counts then v_settings.seal_day_records
          else v_settings.seal_block_records / 2
        end
    ) c
  ) m
  where m.records <= v_settings.seal_block_records
    and m.weight <= v_settings.seal_block_bytes
  group by m.day
  having count(*) > 1
  limit 1;
  if v_block_ids is not null then
    perform logloom_private.rewrite_blocks(p_tenant_id, v_block_ids);
  end if;
end;
$$;
