-- status and reason of a check, by what makes it unhealthy or degraded, if anything: no grade
-- without its reason, and none of a tenant's words, since health is open to all.
create function logloom_private.health_grade(p_unhealthy text, p_degraded text)
returns jsonb
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return jsonb_strip_nulls(
    jsonb_build_object(
      'status', case
        when p_unhealthy <> '' then 'unhealthy'
        when p_degraded <> '' then 'degraded'
        else 'healthy'
      end,
      'reason', nullif(concat_ws('; ', p_unhealthy, nullif(p_degraded, '')), '')
    )
  );
end;
$$;
