-- Regular expressions: classes in brackets, and letter case.

-- Escapes one literal character for PostgreSQL, inside or outside a class.
create function logloom_private.query_regex_literal(p_char text)
returns text
language sql
immutable
return case when p_char ~ '[!-/:-@[-`{-~]' then '\' || p_char else p_char end;

-- Returns the characters of \d, [:alpha:] and similar, to be put into a class; null if unknown.
-- They are ASCII: a class does not depend on a locale. Negated sets (\D) reach to the end of
-- Unicode.
create function logloom_private.query_regex_set(p_name text, p_fold boolean)
returns text
language sql
immutable
return case p_name
  when '\d' then '0-9'
  when '\w' then '0-9A-Za-z_'
  when '\s' then ' \t\n\r\f\v'
  when '\D' then '\u0001-\u002f\u003a-\U0010ffff'
  when '\W' then '\u0001-\u002f\u003a-\u0040\u005b-\u005e\u0060\u007b-\U0010ffff'
  when '\S' then '\u0001-\u0008\u000e-\u001f\u0021-\U0010ffff'
  when '\n' then '\n'
  when '\t' then '\t'
  when '\r' then '\r'
  when '[:alpha:]' then 'A-Za-z'
  when '[:digit:]' then '0-9'
  when '[:alnum:]' then '0-9A-Za-z'
  when '[:upper:]' then case when p_fold then 'A-Za-z' else 'A-Z' end
  when '[:lower:]' then 'a-z'
  when '[:space:]' then ' \t\n\r\f\v'
  when '[:blank:]' then ' \t'
  when '[:punct:]' then '\u0021-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u007e'
  when '[:xdigit:]' then '0-9A-Fa-f'
  when '[:word:]' then '0-9A-Za-z_'
end;

-- Lists ranges of non-ASCII letters whose lower case is not the next character: {first, last, added
-- to get the lower case}. A test compares them with lower().
create function logloom_private.letter_cases()
returns integer[]
language sql
immutable
return array[
  [192, 214, 32], [216, 222, 32], [304, 304, -199], [376, 376, -121], [385, 385, 210],
  [390, 390, 206], [393, 394, 205], [398, 398, 79], [399, 399, 202], [400, 400, 203],
  [403, 403, 205], [404, 404, 207], [406, 406, 211], [407, 407, 209], [412, 412, 211],
  [413, 413, 213], [415, 415, 214], [422, 422, 218], [425, 425, 218], [430, 430, 218],
  [433, 434, 217], [439, 439, 219], [452, 452, 2], [455, 455, 2], [458, 458, 2], [497, 497, 2],
  [502, 502, -97], [503, 503, -56], [544, 544, -130], [570, 570, 10795], [573, 573, -163],
  [574, 574, 10792], [579, 579, -195], [580, 580, 69], [581, 581, 71], [895, 895, 116],
  [902, 902, 38], [904, 906, 37], [908, 908, 64], [910, 911, 63], [913, 929, 32], [931, 939, 32],
  [975, 975, 8], [1012, 1012, -60], [1017, 1017, -7], [1021, 1023, -130], [1024, 1039, 80],
  [1040, 1071, 32], [1216, 1216, 15], [1329, 1366, 48], [4256, 4293, 7264], [4295, 4295, 7264],
  [4301, 4301, 7264], [5024, 5103, 38864], [5104, 5109, 8], [7312, 7354, -3008],
  [7357, 7359, -3008], [7838, 7838, -7615], [7944, 7951, -8], [7960, 7965, -8], [7976, 7983, -8],
  [7992, 7999, -8], [8008, 8013, -8], [8025, 8025, -8], [8027, 8027, -8], [8029, 8029, -8],
  [8031, 8031, -8], [8040, 8047, -8], [8072, 8079, -8], [8088, 8095, -8], [8104, 8111, -8],
  [8120, 8121, -8], [8122, 8123, -74], [8124, 8124, -9], [8136, 8139, -86], [8140, 8140, -9],
  [8152, 8153, -8], [8154, 8155, -100], [8168, 8169, -8], [8170, 8171, -112], [8172, 8172, -7],
  [8184, 8185, -128], [8186, 8187, -126], [8188, 8188, -9], [8486, 8486, -7517],
  [8490, 8490, -8383], [8491, 8491, -8262], [8498, 8498, 28], [8544, 8559, 16], [9398, 9423, 26],
  [11264, 11311, 48], [11362, 11362, -10743], [11363, 11363, -3814], [11364, 11364, -10727],
  [11373, 11373, -10780], [11374, 11374, -10749], [11375, 11375, -10783], [11376, 11376, -10782],
  [11390, 11391, -10815], [42877, 42877, -35332], [42893, 42893, -42280], [42922, 42922, -42308],
  [42923, 42923, -42319], [42924, 42924, -42315], [42925, 42925, -42305], [42926, 42926, -42308],
  [42928, 42928, -42258], [42929, 42929, -42282], [42930, 42930, -42261], [42931, 42931, 928],
  [42948, 42948, -48], [42949, 42949, -42307], [42950, 42950, -35384], [65313, 65338, 32],
  [66560, 66599, 40], [66736, 66771, 40], [66928, 66938, 39], [66940, 66954, 39],
  [66956, 66962, 39], [66964, 66965, 39], [68736, 68786, 64], [71840, 71871, 32],
  [93760, 93791, 32], [125184, 125217, 34]
];

-- Returns a range of a class. Folded text has no upper case, so the range also gets the lower case
-- of its letters. Its upper-case letters stay, but match nothing.
create function logloom_private.query_regex_range(p_from integer, p_to integer, p_fold boolean)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_sql text := logloom_private.query_regex_literal(chr(p_from)) || '-'
    || logloom_private.query_regex_literal(chr(p_to));
  v_run integer[];
  v_first integer;
  v_last integer;
begin
  if p_fold and p_from <= 90 and p_to >= 65 then
    v_sql := v_sql || chr(greatest(p_from, 65) + 32) || '-' || chr(least(p_to, 90) + 32);
  end if;
  if p_fold and p_to > 127 then
    -- If each lower-case letter follows its upper case, the range lacks only the lower case of its
    -- last letter. This line adds that letter. For a last letter ς, this line adds σ.
    v_sql := v_sql || logloom_private.query_regex_literal(logloom_private.folded_text(chr(p_to)));
    foreach v_run slice 1 in array logloom_private.letter_cases() loop
      v_first := greatest(p_from, v_run[1]) + v_run[3];
      v_last := least(p_to, v_run[2]) + v_run[3];
      if v_first <= v_last and (v_first < p_from or v_last > p_to) then
        v_sql := v_sql || chr(v_first) || '-' || chr(v_last);
      end if;
    end loop;
  end if;
  return v_sql;
end;
$$;

-- Translates a class, brackets included.
create function logloom_private.query_regex_class(
  p_class text,
  p_position integer,
  p_fold boolean
)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_negated constant boolean := substr(p_class, 2, 1) = '^';
  v_items text[];
  v_item text;
  v_set text;
  v_char text;
  v_upper text;
  v_at integer := 1;
  v_position integer := p_position + case when v_negated then 2 else 1 end;
  v_sql text := '';
begin
  v_items := array(
    select m.match[1]
    from regexp_matches(
      substr(p_class, v_position - p_position + 1,
        char_length(p_class) - (v_position - p_position) - 1),
      '\[:[a-z]+:\]|\\.|.', 'g'
    ) with ordinality as m (match, n)
    order by m.n
  );
  if cardinality(v_items) = 0 then
    perform logloom_private.refuse_at(p_position, 'regex.class_is_empty');
  end if;

  while v_at <= cardinality(v_items) loop
    v_item := v_items[v_at];
    v_set := logloom_private.query_regex_set(v_item, p_fold);
    if v_item = '[' then
      perform logloom_private.refuse_at(v_position, 'regex.bracket_in_class');
    elsif v_set is null and left(v_item, 1) = '[' then
      perform logloom_private.refuse_at(v_position, 'regex.no_such_class', v_item);
    elsif v_set is null and v_item ~ '^\\[0-9A-Za-z]' then
      perform logloom_private.refuse_at(v_position, 'regex.not_for_classes', v_item);
    end if;

    if v_items[v_at + 1] = '-' and v_items[v_at + 2] is not null then
      v_upper := v_items[v_at + 2];
      v_char := right(v_item, 1);
      if v_set is not null or v_upper ~ '^\\[0-9A-Za-z]' or left(v_upper, 1) = '[' then
        perform logloom_private.refuse_at(v_position, 'regex.range_ends_in_no_character');
      elsif ascii(v_char) > ascii(right(v_upper, 1)) then
        perform logloom_private.refuse_at(v_position, 'regex.range_runs_backwards');
      end if;
      v_sql := v_sql || logloom_private.query_regex_range(
        ascii(v_char), ascii(right(v_upper, 1)), p_fold
      );
      v_position := v_position + char_length(v_item) + 1 + char_length(v_upper);
      v_at := v_at + 3;
    else
      v_sql := v_sql || coalesce(v_set, logloom_private.query_regex_literal(
        case when p_fold then logloom_private.folded_text(right(v_item, 1))
          else right(v_item, 1) end
      ));
      v_position := v_position + char_length(v_item);
      v_at := v_at + 1;
    end if;
  end loop;
  return case when v_negated then '[^' else '[' end || v_sql || ']';
end;
$$;
