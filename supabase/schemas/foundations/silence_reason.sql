-- What health says of something whose last success is too long ago.
create function logloom_private.silence_reason(
  p_what text,
  p_silence interval,
  p_limit interval
)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return case
    when not isfinite(p_silence) then format('%s ever succeeded by this clock', p_what)
    else format(
      '%s succeeded for %s s (limit %s s)', p_what, round(extract(epoch from p_silence)),
      round(extract(epoch from p_limit), 3)::double precision
    )
  end;
end;
$$;
