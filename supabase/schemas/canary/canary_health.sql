-- Returns the check of the canary. Degraded if a record of the last day is missing or stored twice,
-- or if the last two rounds did not find their record. Times are those of the last finished round,
-- in milliseconds since sending.
create function logloom_private.canary_health(p_now timestamptz)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_last logloom_private.canary_rounds;
  v_missing bigint;
  v_doubled bigint;
  v_failed bigint;
begin
  if (select s.canary_url from logloom_private.settings s) is null then
    return logloom_private.health_grade(null, null) || jsonb_build_object('state', 'off');
  end if;
  select r.* into v_last
  from logloom_private.canary_rounds r
  where r.counted_at is not null or r.error is not null
  order by r.sent_at desc
  limit 1;
  select coalesce(max(r.missing), 0), coalesce(max(r.doubled), 0) into v_missing, v_doubled
  from logloom_private.canary_rounds r
  where r.sent_at > p_now - interval '1 day';
  select count(*) into v_failed
  from (
    select r.*
    from logloom_private.canary_rounds r
    where r.counted_at is not null or r.error is not null
    order by r.sent_at desc
    limit 2
  ) r
  where r.searched_at is null or r.tailed_at is null or r.counted_at is null;
  return logloom_private.health_grade(
    null,
    concat_ws(
      '; ',
      case when v_missing > 0 then format('%s acknowledged records are missing', v_missing) end,
      case when v_doubled > 0 then format('%s records are stored twice', v_doubled) end,
      case when v_failed = 2 then
        'The last two records of the canary were not found: '
          || 'see error in logloom_private.canary_rounds'
      end
    )
  ) || jsonb_build_object(
    'state', 'on',
    'last_round', v_last.sent_at,
    'acknowledged_ms', round(extract(epoch from v_last.acknowledged_at - v_last.sent_at) * 1000),
    'search_ms', round(extract(epoch from v_last.searched_at - v_last.sent_at) * 1000),
    'tail_ms', round(extract(epoch from v_last.tailed_at - v_last.sent_at) * 1000),
    'missing', v_missing,
    'doubled', v_doubled
  );
end;
$$;
