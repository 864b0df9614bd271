-- The text of a template, whose digits begin after p_place others. One call for many digits needs
-- some 50 bytes a digit, so a long template is filled piece by piece.
create function logloom_private.fill_template(p_template text, p_digits bytea, p_place bigint)
returns text
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_bytes bytea;
  v_begin integer := 0;
  v_end integer;
  v_piece text := p_template;
  v_place bigint := p_place;
  v_count integer;
  v_texts text[] := '{}';
begin
  if octet_length(p_template) > 65536 then
    v_bytes := convert_to(p_template, 'UTF8');
  end if;
  loop
    if v_bytes is not null then
      v_end := least(v_begin + 65536, octet_length(v_bytes));
      -- Not within a character.
      while v_end < octet_length(v_bytes) and get_byte(v_bytes, v_end) & 192 = 128 loop
        v_end := v_end + 1;
      end loop;
      v_piece := convert_from(substring(v_bytes from v_begin + 1 for v_end - v_begin), 'UTF8');
    end if;
    v_count := octet_length(v_piece) - octet_length(replace(v_piece, '0', ''));
    if v_count > 0 then
      v_piece := format(
        replace(replace(v_piece, '%', '%%'), '0', '%s'),
        variadic string_to_array(
          substr(
            encode(
              substring(p_digits from (v_place / 2)::integer + 1 for v_count / 2 + 1), 'hex'
            ),
            (1 + v_place % 2)::integer, v_count
          ),
          null
        )
      );
    end if;
    if v_bytes is null then
      return v_piece;
    end if;
    v_texts := v_texts || v_piece;
    v_place := v_place + v_count;
    v_begin := v_end;
    exit when v_begin >= octet_length(v_bytes);
  end loop;
  return array_to_string(v_texts, '');
end;
$$;
