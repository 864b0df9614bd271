-- A text that decode_cursor alone reads, another one each time: how far the writer is, which a tail
-- holds, and since when events wait, which an export holds, are of all tenants. What else a cursor
-- holds: of a page, read_log_page says; of the live tail, tail_logs.
create function logloom_private.encode_cursor(p_parts text[])
returns text
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_key constant bytea := (select i.cursor_key from logloom_private.installation i);
  v_iv constant bytea := extensions.gen_random_bytes(16);
  v_text constant text := array_to_string(p_parts, ' ');
  -- Padded, so that its length does not tell of the number's.
  v_sealed constant bytea := v_iv || extensions.encrypt_iv(
    convert_to(rpad(v_text, greatest(length(v_text), 64)), 'UTF8'), sha256(v_key), v_iv, 'aes'
  );
begin
  return translate(
    encode(extensions.hmac(v_sealed, v_key, 'sha256') || v_sealed, 'base64'), e'+/=\n', '-_'
  );
end;
$$;
