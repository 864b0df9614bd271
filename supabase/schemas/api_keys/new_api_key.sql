-- Writes p_value in base 62 (0-9 A-Z a-z), most significant digit first, padded to p_length with 0.
create function logloom_private.base62(p_value bigint, p_length integer)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_alphabet constant text := '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
  v_rest bigint := p_value;
  v_text text := '';
begin
  for i in 1..p_length loop
    v_text := substr(v_alphabet, (v_rest % 62)::integer + 1, 1) || v_text;
    v_rest := v_rest / 62;
  end loop;
  return v_text;
end;
$$;

-- CRC-32 as in ISO 3309 and zlib.
create function logloom_private.crc32(p_bytes bytea)
returns bigint
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_crc bigint := 4294967295;
begin
  for i in 0..length(p_bytes) - 1 loop
    v_crc := v_crc # get_byte(p_bytes, i);
    for v_bit in 1..8 loop
      v_crc := case when v_crc & 1 = 1 then (v_crc >> 1) # 3988292384 else v_crc >> 1 end;
    end loop;
  end loop;
  return v_crc # 4294967295;
end;
$$;

-- Makes a key: the prefix, 30 random base62 characters (178 bits), and the CRC-32 of both as 6
-- base62 characters.
create function logloom_private.new_api_key(p_prefix text default 'll_')
returns text
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because API roles cannot call gen_random_bytes
declare
  -- Bytes of 248 and more are drawn again, so every character is equally likely.
  v_key text := p_prefix;
  v_byte integer;
begin
  while length(v_key) < length(p_prefix) + 30 loop
    v_byte := get_byte(extensions.gen_random_bytes(1), 0);
    if v_byte < 248 then
      v_key := v_key || logloom_private.base62(v_byte, 1);
    end if;
  end loop;
  return v_key || logloom_private.base62(logloom_private.crc32(convert_to(v_key, 'UTF8')), 6);
end;
$$;
