-- Fills digits into templates. p_templates[i] takes p_counts[i] digits and skips the first
-- p_places[i] digits. Null stays null.
create function logloom_private.fill_each(
  p_templates text[],
  p_counts integer[],
  p_places integer[],
  p_digits bytea
)
returns text[]
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return array(
    select
      case
        when coalesce(f.count, 0) = 0 then f.template
        else format(
          replace(replace(f.template, '%', '%%'), '0', '%s'),
          variadic string_to_array(
            substr(
              encode(substring(p_digits from f.place / 2 + 1 for f.count / 2 + 1), 'hex'),
              1 + f.place % 2, f.count
            ),
            null
          )
        )
      end
    from unnest(p_templates, p_counts, p_places) with ordinality f (template, count, place, n)
    order by f.n
  );
end;
$$;

-- Fills digits into templates, in order: p_counts[i] texts are made from p_templates[i]. Works in
-- pieces, because one call for all digits would need some 50 bytes of memory for each digit.
create function logloom_private.fill_templates(
  p_templates text[],
  p_counts integer[],
  p_digits bytea,
  p_separator text
)
returns text[]
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_bytes constant bytea := convert_to(
    (
      select string_agg(repeat(m.template || p_separator, m.count), '' order by m.n)
      from unnest(p_templates, p_counts) with ordinality m (template, count, n)
    ),
    'UTF8'
  );
  v_begin integer := 0;
  v_end integer;
  v_piece text;
  v_place bigint := 0;
  v_count integer;
  v_texts text[];
begin
  while v_begin < octet_length(v_bytes) loop
    v_end := least(v_begin + 65536, octet_length(v_bytes));
    -- Do not cut within a character.
    while v_end < octet_length(v_bytes) and get_byte(v_bytes, v_end) & 192 = 128 loop
      v_end := v_end + 1;
    end loop;
    v_piece := convert_from(substring(v_bytes from v_begin + 1 for v_end - v_begin), 'UTF8');
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
    v_texts := v_texts || v_piece;
    v_place := v_place + v_count;
    v_begin := v_end;
  end loop;
  return trim_array(string_to_array(array_to_string(v_texts, ''), p_separator), 1);
end;
$$;
