-- Returns how many days one block of a tenant may span: a quarter of the retention, between one day
-- and four weeks. If the retention is 28 days or more, the result is whole weeks.
create function logloom_private.block_days(p_retention_days integer)
returns integer
language sql
immutable
return case
  when p_retention_days < 28 then greatest(p_retention_days / 4, 1)
  else least(p_retention_days / 28, 4) * 7
end;

-- Returns the first day of the span of p_days days that contains p_day. Spans of weeks begin on
-- Mondays.
create function logloom_private.span_start(p_day date, p_days integer)
returns date
language sql
immutable
-- 0001-01-01 is the first Monday of the calendar.
return p_day - (p_day - date '0001-01-01') % p_days;

-- Replaces blocks of a tenant by one block; with p_days, by one block for each span of p_days days.
-- holds_counts and kept_days must be the same for all blocks.
create function logloom_private.rewrite_blocks(
  p_tenant_id text,
  p_block_ids bigint[],
  p_days integer default null
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_block logloom_private.blocks;
  v_from date := 'infinity';
  v_to date := '-infinity';
  v_records bigint := 0;
  v_day date;
begin
  for v_block in
    select c.*
    from logloom_private.blocks c
    where c.tenant_id = p_tenant_id and c.block_id = any(p_block_ids)
  loop
    perform logloom_private.require_intact(v_block);
    v_from := least(v_from, logloom_private.utc_day(v_block.first_ts));
    v_to := greatest(v_to, logloom_private.utc_day(v_block.last_ts));
    v_records := v_records + v_block.records;
  end loop;
  v_day := logloom_private.span_start(v_from, coalesce(p_days, 1));
  while v_day <= v_to loop
    v_from := v_day;
    v_day := v_day + coalesce(p_days, v_to - v_from + 1);
    v_records := v_records - coalesce(
      (logloom_private.write_block(
        p_tenant_id,
        logloom_private.read_records(
          format(
            'select r.* from unnest(%L::bigint[]) c (block_id), '
              || 'logloom_private.block_records(%L, c.block_id, null, null) r '
              || 'where r.ts >= %L::timestamptz and r.ts < %L::timestamptz',
            p_block_ids, p_tenant_id, logloom_private.day_start(v_from),
            logloom_private.day_start(v_day)
          )
        ),
        v_block.holds_counts, v_block.kept_days
      )).records,
      0
    );
  end loop;
  if v_records <> 0 then
    raise sqlstate 'LL001' using
      message = format('The rewritten blocks lack %s records', v_records);
  end if;
  delete from logloom_private.blocks c
  where c.tenant_id = p_tenant_id and c.block_id = any(p_block_ids);
end;
$$;
