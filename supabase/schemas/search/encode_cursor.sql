-- An opaque text that decode_cursor reads. What a cursor holds: of a page, read_log_page says; of
-- the live tail, tail_logs.
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
