-- The instant that a parameter names: ISO 8601 (UTC where it names no zone), or now with a shift,
-- as in a query (query_time). Null stays null. PT400 for anything else.
create function logloom_private.time_parameter(p_name text, p_text text)
returns timestamptz
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
declare
  v_text constant text := coalesce(substring(p_text from '\S(?:.*\S)?'), '');
  v_shift constant text[] := regexp_match(v_text, '^now([+-][0-9]{1,10})([smhdw])$');
  v_seconds numeric;
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
  elsif v_text ~ '^[0-9-]' and pg_input_is_valid(v_text, 'timestamptz') then
    return v_text::timestamptz;
  end if;
  perform logloom_private.refuse('parameters.not_a_time', p_name);
  return null;
end;
$$;
