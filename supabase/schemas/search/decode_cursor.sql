-- The parts of a cursor as a regular expression captures them. PT400 where it does not match.
create function logloom_private.decode_cursor(p_cursor text, p_pattern text)
returns text[]
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_parts text[];
begin
  begin
    v_parts := regexp_match(
      convert_from(
        decode(
          rpad(translate(p_cursor, '-_', '+/'), (length(p_cursor) + 3) / 4 * 4, '='), 'base64'
        ),
        'UTF8'
      ),
      p_pattern
    );
  exception when data_exception then
    v_parts := null;
  end;
  if v_parts is null then
    perform logloom_private.refuse('search.cursor_is_invalid');
  end if;
  return v_parts;
end;
$$;
