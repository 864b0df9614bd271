-- Small blocks of a tenant in the week of p_day that make one: of a day, or of the week where each
-- is less than a day's worth. Null where there are none.
create function logloom_private.blocks_to_merge(p_tenant_id text, p_day date)
returns bigint[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_settings logloom_private.settings;
  v_week constant timestamptz := date_trunc('week', p_day::timestamp) at time zone 'UTC';
  v_block_ids bigint[];
begin
  select s.* into v_settings from logloom_private.settings s;
  select array_agg(m.block_id order by m.block_id) into v_block_ids
  from (
    select
      c.block_id, c.key,
      sum(c.records) over (partition by c.key order by c.first_ts, c.block_id) as records,
      sum(c.weight) over (partition by c.key order by c.first_ts, c.block_id) as weight
    from (
      select
        w.*,
        -- A day's worth goes with its day, and not on disk until a week is past retention.
        case
          when w.records < v_settings.seal_day_records
            or logloom_private.utc_day(w.first_ts) < logloom_private.utc_day(w.last_ts)
            then '-infinity'
          else logloom_private.utc_day(w.first_ts)
        end as key
      from logloom_private.blocks w
      where w.tenant_id = p_tenant_id
        and w.first_ts >= v_week
        and w.last_ts < v_week + interval '168 hours'
        and w.records <= v_settings.seal_block_records / 2
    ) c
  ) m
  where m.records <= v_settings.seal_block_records
    and m.weight <= v_settings.seal_block_bytes
  group by m.key
  having count(*) > 1
  limit 1;
  return v_block_ids;
end;
$$;
