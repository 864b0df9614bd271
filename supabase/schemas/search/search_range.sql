-- Returns the requested range [from, to), by default the hour before its end. p_first, the range of
-- the first page, replaces bounds that are missing or relative to now. PT400 if the range is
-- invalid.
create function logloom_private.search_range(
  p_ts_from text,
  p_ts_to text,
  p_first tstzrange default null
)
returns tstzrange
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_from timestamptz := logloom_private.time_parameter('p_ts_from', p_ts_from);
  v_to timestamptz := logloom_private.time_parameter('p_ts_to', p_ts_to);
begin
  if p_first is not null then
    v_from := case when p_ts_from ~ '^\s*[^n\s]' then v_from else lower(p_first) end;
    v_to := case when p_ts_to ~ '^\s*[^n\s]' then v_to else upper(p_first) end;
  end if;
  v_to := coalesce(v_to, now());
  if v_from is null then
    v_from := v_to - interval '1 hour';
  end if;
  if not (v_from >= '1970-01-01T00:00:00Z' and v_to <= '9999-12-31T00:00:00Z') then
    perform logloom_private.refuse('search.range_leaves_the_years');
  elsif v_from >= v_to then
    perform logloom_private.refuse('search.range_is_empty');
  end if;
  return tstzrange(v_from, v_to);
end;
$$;

-- Cuts a range into parts, in p_order (asc or desc). The tenant has rows on at most 12 days of a
-- part. With p_counts_blocks, a part also has at most 200 blocks, unless it is a single day. Opened
-- tables stay locked until the transaction ends: a year would need thousands of locks.
create function logloom_private.search_parts(
  p_tenant_id text,
  p_from timestamptz,
  p_to timestamptz,
  p_order text,
  p_counts_blocks boolean default true
)
returns tstzrange[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_is_descending constant boolean := p_order = 'desc';
  v_max_days constant integer := 12;
  v_max_blocks constant integer := 200;
  v_from timestamptz := p_from;
  v_to timestamptz := p_to;
  v_last constant timestamptz := p_to - interval '1 microsecond';
  v_row_days date[];
  v_day record;
  v_last_day date;
  v_bound timestamptz;
  v_days integer := 0;
  v_blocks integer := 0;
  v_parts tstzrange[] := '{}';
begin
  if v_from >= v_to then
    return '{}';
  elsif v_to - v_from <= interval '1 day' then
    return array[tstzrange(v_from, v_to)];
  end if;
  v_row_days := logloom_private.days_with_rows(p_tenant_id, p_from, p_to);
  for v_day in
    select u.day, sum(u.days) as days, sum(u.blocks) as blocks
    from (
      select d.day, 1 as days, 0 as blocks
      from unnest(v_row_days) d (day)
      union all
      select
        (least(c.last_ts, v_last) at time zone 'UTC')::date, 0, count(*)
      from logloom_private.blocks c
      where p_counts_blocks
        and c.tenant_id = p_tenant_id and c.last_ts >= v_from and c.first_ts < v_to
      group by 1
    ) u
    group by u.day
    order by case when v_is_descending then u.day end desc, u.day
  loop
    if v_days + v_day.days > v_max_days
      or (v_blocks > 0 and v_blocks + v_day.blocks > v_max_blocks)
    then
      v_bound := case when v_is_descending then v_last_day else v_day.day end::timestamp
        at time zone 'UTC';
      if v_is_descending then
        v_parts := v_parts || tstzrange(v_bound, v_to);
        v_to := v_bound;
      else
        v_parts := v_parts || tstzrange(v_from, v_bound);
        v_from := v_bound;
      end if;
      v_days := 0;
      v_blocks := 0;
    end if;
    v_days := v_days + v_day.days;
    v_blocks := v_blocks + v_day.blocks;
    v_last_day := v_day.day;
  end loop;
  return v_parts || tstzrange(v_from, v_to);
end;
$$;
