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

-- The parts of a cursor as a regular expression captures them. PT400 where it does not match, or
-- this installation did not make it. Version 1.0.0 sealed none: its pages are still read, its tails
-- are not, since whoever can make one up learns by the answers how far the writer is.
create function logloom_private.decode_cursor(p_cursor text, p_pattern text)
returns text[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_key constant bytea := (select i.cursor_key from logloom_private.installation i);
  v_bytes bytea;
  v_is_sealed boolean;
  v_text text;
  v_parts text[];
begin
  begin
    v_bytes := decode(
      rpad(translate(p_cursor, '-_', '+/'), (length(p_cursor) + 3) / 4 * 4, '='), 'base64'
    );
    v_is_sealed := substr(v_bytes, 1, 32) = extensions.hmac(substr(v_bytes, 33), v_key, 'sha256');
    if v_is_sealed then
      v_bytes :=
        extensions.decrypt_iv(substr(v_bytes, 49), sha256(v_key), substr(v_bytes, 33, 16), 'aes');
    end if;
    v_text := rtrim(convert_from(v_bytes, 'UTF8'));
  exception when data_exception then
    v_text := null;
  end;
  if not v_is_sealed and starts_with(v_text, 'tail ') then
    perform logloom_private.refuse('search.cursor_is_outdated');
  end if;
  v_parts := regexp_match(v_text, p_pattern);
  if v_parts is null then
    perform logloom_private.refuse('search.cursor_is_invalid');
  end if;
  return v_parts;
end;
$$;
