-- Packs the digits of all texts, four bits a digit. p_joined[i] holds the texts with the template
-- p_templates[i], joined by p_separator.
create function logloom_private.cut_digits(p_templates text[], p_joined text[], p_separator text)
returns bytea
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_parts text[] := p_joined;
  v_text text;
  v_piece text;
  v_template text;
  v_group integer := 0;
begin
  foreach v_template in array p_templates loop
    v_group := v_group + 1;
    if strpos(v_template, '0') = 0 then
      v_parts[v_group] := '';
      continue;
    end if;
    v_text := v_parts[v_group];
    -- For a single text or a long template, one regex removes everything that is not a digit.
    if octet_length(v_text) < 2 * octet_length(v_template) or length(v_template) > 2000 then
      v_parts[v_group] := regexp_replace(v_text, '[^0-9]+', '', 'g');
      continue;
    end if;
    -- Remove the pieces between the digits, one by one. If one piece contains another, some text
    -- may be left. The regex below then removes it.
    foreach v_piece in array
      string_to_array(
        replace(replace(replace(v_template, '0000', '0'), '000', '0'), '00', '0'), '0'
      )
    loop
      if v_piece <> '' then
        v_text := replace(v_text, v_piece, '');
      end if;
    end loop;
    v_text := replace(v_text, p_separator, '');
    if v_text ~ '[^0-9]' then
      v_text := regexp_replace(v_text, '[^0-9]+', '', 'g');
    end if;
    v_parts[v_group] := v_text;
  end loop;
  v_text := array_to_string(v_parts, '');
  return decode(v_text || case when length(v_text) % 2 = 1 then '0' else '' end, 'hex');
end;
$$;

-- Finds a separator for joining texts. The separator does not occur in p_text and does not overlap
-- itself.
create function logloom_private.separator_for(p_text text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_separator text;
begin
  for v_code in reverse 31..1 loop
    v_separator := chr(v_code);
    continue when v_code between 9 and 13;
    if strpos(p_text, v_separator) = 0 then
      return v_separator;
    end if;
  end loop;
  -- Try longer and longer separators: a text of n characters cannot contain all of them.
  v_separator := chr(30);
  loop
    v_separator := v_separator || chr(29);
    if strpos(p_text, v_separator) = 0 then
      return v_separator;
    end if;
  end loop;
end;
$$;

-- Returns the template of each text. No text may contain p_separator.
create function logloom_private.templates_of(p_texts text[], p_separator text)
returns text[]
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  -- Stands for null. No text contains this character.
  v_null text;
begin
  if array_position(p_texts, null) is not null then
    v_null := logloom_private.separator_for(array_to_string(p_texts, p_separator, p_separator));
  end if;
  -- string_to_array() turns one empty text into an empty array. A v_null of several characters may
  -- contain the separator.
  if p_texts = array[''] or length(v_null) > 1 then
    return array(select logloom_private.template_of(unnest(p_texts)));
  end if;
  -- Joins all texts: nine calls of replace in total, not nine for each text.
  return string_to_array(
    logloom_private.template_of(array_to_string(p_texts, p_separator, v_null)), p_separator, v_null
  );
end;
$$;

-- Fills digits into templates. p_templates[i] gets the p_counts[i] digits that follow the first
-- p_places[i] digits of p_digits. A null template stays null.
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
