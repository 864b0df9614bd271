-- How long ago p_at was. Infinity where it is null, or lies ahead: then the clock went back.
create function logloom_private.silence_since(p_at timestamptz, p_now timestamptz)
returns interval
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return case
    when p_at <= p_now + interval '5 seconds' then greatest(p_now - p_at, interval '0')
    else interval 'infinity'
  end;
end;
$$;
