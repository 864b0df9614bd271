create function logloom_private.health_word(p_unhealthy boolean, p_degraded boolean)
returns text
language plpgsql
immutable
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return case when p_unhealthy then 'unhealthy' when p_degraded then 'degraded' else 'healthy' end;
end;
$$;

revoke all on function logloom_private.health_word(boolean, boolean) from public;

comment on function logloom_private.health_word(boolean, boolean) is
  'healthy, degraded or unhealthy.';

-- A time that lies ahead tells that the clock went back: it says nothing of what is.
create function logloom_private.silence_since(p_at timestamptz, p_now timestamptz)
returns interval
language plpgsql
immutable
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return case
    when p_at <= p_now + interval '5 seconds' then greatest(p_now - p_at, interval '0')
    else interval 'infinity'
  end;
end;
$$;

revoke all on function logloom_private.silence_since(timestamptz, timestamptz) from public;

comment on function logloom_private.silence_since(timestamptz, timestamptz) is
  'How long it is silent that was last heard of at p_at; infinity where that is null or ahead.';
