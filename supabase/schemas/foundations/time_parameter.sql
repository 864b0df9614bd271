-- The instant that a text is in ISO 8601, of a day its beginning; UTC where it names no zone. Null
-- for anything else: what a cast takes depends on the session.
create function logloom_private.iso_instant(p_text text)
returns timestamptz
language plpgsql
stable
strict
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
begin
  if p_text ~ ('^[0-9]{4}-[0-9][0-9]-[0-9][0-9](?:[Tt ](?:[01][0-9]|2[0-3]):[0-5][0-9]'
      || '(?::[0-5][0-9](?:\.[0-9]{1,9})?)?'
      || '(?:[Zz]|[+-](?:0[0-9]|1[0-4])(?::?[0-5][0-9])?)?)?$')
    and pg_input_is_valid(left(p_text, 10), 'date')
  then
    -- Digits beyond the microsecond are dropped, where the cast would round.
    return regexp_replace(p_text, '(\.[0-9]{6})[0-9]+', '\1')::timestamptz;
  end if;
  return null;
end;
$$;

-- The instant that a parameter names: ISO 8601 (UTC where it names no zone), or now with a shift,
-- as in a query (query_time). Null stays null. PT400 for anything else.
create function logloom_private.time_parameter(p_name text, p_text text)
returns timestamptz
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_text constant text := coalesce(substring(p_text from '\S(?:.*\S)?'), '');
  v_shift constant text[] := regexp_match(v_text, '^now([+-][0-9]{1,10})([smhdw])$');
  v_seconds numeric;
  v_instant constant timestamptz := logloom_private.iso_instant(v_text);
begin
  if p_text is null then
    return null;
  elsif v_text = 'now' then
    return now();
  elsif v_shift is not null then
    v_seconds := v_shift[1]::numeric * case v_shift[2]
      when 'm' then 60 when 'h' then 3600 when 'd' then 86400 when 'w' then 604800 else 1 end;
    if abs(v_seconds) <= 3155760000 then
      return now() + make_interval(secs => v_seconds);
    end if;
  elsif v_instant is not null then
    return v_instant;
  end if;
  perform logloom_private.refuse('parameters.not_a_time', p_name);
  return null;
end;
$$;
