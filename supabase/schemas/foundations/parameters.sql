-- Raises PT400 if a required parameter is missing. Required parameters default to null, because
-- PostgREST would answer 404 without a default.
create function logloom_private.require_parameter(p_name text, p_is_missing boolean)
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_is_missing then
    perform logloom_private.refuse('parameters.missing', p_name);
  end if;
end;
$$;

-- Reads a time in ISO 8601. A date means the beginning of its day; a time without a zone is in UTC.
-- Null for any other text. A cast alone would depend on settings of the session.
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
    -- Drops the digits after the microseconds; the cast would round.
    return regexp_replace(p_text, '(\.[0-9]{6})[0-9]+', '\1')::timestamptz;
  end if;
  return null;
end;
$$;

-- Reads the time in a parameter: ISO 8601 (UTC without a zone), now, or now with a shift (now-15m).
-- Null stays null. Raises PT400 for any other text.
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

-- Returns the id of a tenant or user if it is usable, otherwise null. A usable id has 1 to 255
-- characters, no control character, and at least one visible character.
create function logloom_private.usable_id(p_id text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if length(p_id) between 1 and 255
    and p_id !~ '[\u0001-\u001f\u007f-\u009f]'
    and p_id ~ (
      '[^\u0020\u00a0\u00ad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200f'
      '\u2028-\u202f\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb'
      '\U0001d173-\U0001d17a\U000e0000-\U000e0fff]'
    )
  then
    return p_id;
  end if;
  return null;
end;
$$;

create function logloom_private.trim_space(p_text text)
returns text
language sql
immutable
return regexp_replace(p_text, '^[[:space:]]+|[[:space:]]+$', '', 'g');
