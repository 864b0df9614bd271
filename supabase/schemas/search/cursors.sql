-- Cursors: texts that mean nothing to a caller. Nothing in one widens what may be seen.

-- An opaque text that decode_cursor reads.
create function logloom_private.encode_cursor(p_parts text[])
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return translate(
    encode(convert_to(array_to_string(p_parts, ' '), 'UTF8'), 'base64'), e'+/=\n', '-_'
  );
end;
$$;

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

create function logloom_private.to_microseconds(p_ts timestamptz)
returns bigint
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (extract(epoch from p_ts) * 1000000)::bigint;
end;
$$;

create function logloom_private.from_microseconds(p_microseconds bigint)
returns timestamptz
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  -- Seconds and the rest apart: a double holds no more than 2^53 exactly.
  return 'epoch'::timestamptz
    + p_microseconds / 1000000 * interval '1 second'
    + p_microseconds % 1000000 * interval '1 microsecond';
end;
$$;
