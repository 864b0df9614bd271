-- Returns the check of verification: degraded if the last verification found a difference. Shows no
-- details, because health is public.
create function logloom_private.verification_health()
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_last logloom_private.verifications;
  v_differences bigint;
begin
  select v.* into v_last
  from logloom_private.verifications v
  where v.finished_at is not null
  order by v.verification_id desc
  limit 1;
  select coalesce(sum(v.differences), 0) into v_differences
  from logloom_private.verifications v
  where v.verification_id >= v_last.verification_id or v.finished_at is null;
  return logloom_private.health_grade(
    null,
    case when v_differences > 0 then format(
      '%s differences were found in stored records: '
        || 'see logloom_private.verification_differences',
      v_differences
    ) end
  ) || jsonb_build_object(
    'last_finished', v_last.finished_at,
    'blocks', v_last.blocks,
    'records', v_last.records,
    'differences', v_differences
  );
end;
$$;
