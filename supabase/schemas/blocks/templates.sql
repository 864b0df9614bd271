-- Templates: a text with its digits replaced by 0, and the digits beside it.

-- An expression for the template of an expression. Nested, since translate takes 30 times as long.
-- An expression for the template of an expression: each digit is 0.
create function logloom_private.template_sql(p_text text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_sql text := p_text;
begin
  for v_digit in 1..9 loop
    v_sql := format('replace(%s, ''%s'', ''0'')', v_sql, v_digit);
  end loop;
  return v_sql;
end;
$$;

-- The template of a text: each digit is 0.
create function logloom_private.template_of(p_text text)
returns text
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return replace(replace(replace(replace(replace(replace(replace(replace(replace(
    p_text, '1', '0'), '2', '0'), '3', '0'), '4', '0'), '5', '0'), '6', '0'), '7', '0'), '8', '0'),
    '9', '0');
end;
$$;

-- Digits stand between words as well: a template's ids have few letters that follow one another.
-- A text in lower case, cut at what stands in ASCII beside letters; empty at an end where it is cut
-- there.
create function logloom_private.cut_words(p_text text)
returns text[]
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return regexp_split_to_array(
    lower(p_text collate pg_c_utf8) collate "C", '[\u0001-@[-`{-\u007f]+'
  );
end;
$$;

-- The words of a text, each once, between blanks. Null where they are more than a quarter of the
-- text.
create function logloom_private.words_of(p_text text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_words constant text := (
    select ' ' || string_agg(w.word, ' ' order by w.word collate "C") || ' '
    -- Grouped before they are sorted: few are different.
    from (
      select x.word
      from (
        -- What stands between blanks, each once, is a fifth of the text: less to cut.
        select unnest(logloom_private.cut_words(
          (
            select string_agg(t.token, ' ')
            from (
              select b.token
              from (select unnest(string_to_array(p_text, ' ')) as token) b
              group by b.token
            ) t
          )
        )) as word
      ) x
      where x.word <> ''
      group by x.word
    ) w
  );
begin
  return case
    when v_words is null then ''
    when octet_length(v_words) * 4 <= octet_length(p_text) then v_words
  end;
end;
$$;

-- What the words of a text that holds a literal, in any letter case, have: SQL over the alias l of
-- words, which are words_of the text.
create function logloom_private.words_sql(p_literal text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_pieces constant text[] := logloom_private.cut_words(p_literal);
  v_tests text[] := '{}';
  v_piece text;
begin
  for v_at in 1..coalesce(cardinality(v_pieces), 0) loop
    v_piece := v_pieces[v_at];
    continue when v_piece = '';
    -- A word may begin before what the literal has of it, and end after it.
    if v_at > 1 then
      v_piece := ' ' || v_piece;
    end if;
    if v_at < cardinality(v_pieces) then
      v_piece := v_piece || ' ';
    end if;
    v_tests := v_tests || format('strpos(l.words, %L) > 0', v_piece);
  end loop;
  return case when v_tests = '{}' then 'true'
    else format('(l.words is null or %s)', array_to_string(v_tests, ' and ')) end;
end;
$$;

-- A text that none of p_texts holds and that does not overlap itself.
-- A text to join others by: p_text, which is all of them, does not hold it.
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
  -- Longer and longer ones: a text of n characters cannot hold all of them.
  v_separator := chr(30);
  loop
    v_separator := v_separator || chr(29);
    if strpos(p_text, v_separator) = 0 then
      return v_separator;
    end if;
  end loop;
end;
$$;

-- The digits of texts of equal templates. p_joined: for each template its texts, joined by
-- p_separator. The digits of texts in hexadecimal, four bits each. p_joined: of each template its
-- texts, joined by p_separator.
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
    -- One text alone, or a template of many pieces: all that is no digit at once.
    if octet_length(v_text) < 2 * octet_length(v_template) or length(v_template) > 2000 then
      v_parts[v_group] := regexp_replace(v_text, '[^0-9]+', '', 'g');
      continue;
    end if;
    -- All that stands between digits, the longest first where one piece holds another: else some
    -- of it is left, and the slow way finishes.
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

-- A template with its digits, which begin after p_place others. One call for many digits needs a
-- value a digit, some 50 bytes: a long template is filled piece by piece. A text from its template
-- and its digits in hexadecimal, of which p_place others stand before them.
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

-- The texts of templates in order, p_counts of each.
-- Texts from templates, as many of each as p_counts says, and their digits, four bits each.
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
  v_templates text;
begin
  select string_agg(repeat(m.template || p_separator, m.count), '' order by m.n)
  into v_templates
  from unnest(p_templates, p_counts) with ordinality m (template, count, n);
  return trim_array(
    string_to_array(logloom_private.fill_template(v_templates, p_digits, 0), p_separator), 1
  );
end;
$$;
