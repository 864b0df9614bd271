-- Functions that compiled queries call for each record. None of them may raise an error, whatever
-- the record contains.

-- Returns the number that a text means in the query language. Null if it is not a number, or a
-- number that no double can hold.
create function logloom_private.text_number(p_text text)
returns numeric
language plpgsql
immutable
strict
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  if octet_length(p_text) <= 300
    and p_text collate "C" ~ '^-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?0*[0-9]{1,3})?$'
    and pg_input_is_valid(p_text, 'double precision')
  then
    return trim_scale(p_text::numeric);
  end if;
  return null;
end;
$$;

-- Returns the number that an attribute has in an aggregate. The attribute is a JSON number, a text
-- with a number, or a text with a quantity (in seconds or bytes). The result is a decimal in the
-- range of a double. So a sum never fails, and the order of rows does not matter.
create function logloom_private.json_number(p_value jsonb)
returns numeric
language plpgsql
immutable
strict
parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_text text;
  v_number numeric;
begin
  if jsonb_typeof(p_value) = 'number' then
    return least(
      greatest(p_value::numeric, -1.7976931348623157e308), 1.7976931348623157e308
    );
  elsif jsonb_typeof(p_value) = 'string' then
    v_text := p_value #>> '{}';
    -- Most texts do not begin like a number.
    if left(v_text, 1) collate "C" not between '-' and '9' then
      return null;
    end if;
    v_number := case
      when right(v_text, 1) collate "C" between '0' and '9' then logloom_private.text_number(v_text)
      when right(v_text, 1) in ('B', 'b') then logloom_private.quantity(v_text, 'bytes')
      else logloom_private.quantity(v_text, 'seconds')
    end;
  end if;
  return case when v_number is not null
    then least(greatest(v_number, -1.7976931348623157e308), 1.7976931348623157e308) end;
end;
$$;

create function logloom_private.finite_double(p_value numeric)
returns double precision
language plpgsql
immutable
strict
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return case
    when p_value > 1.7976931348623157e308 then 1.7976931348623157e308
    when p_value < -1.7976931348623157e308 then -1.7976931348623157e308
    when abs(p_value) < 4.95e-324 then 0
    else p_value::double precision
  end;
end;
$$;

-- Makes an infinite double finite. Percentiles can be infinite: interpolating between the largest
-- and smallest double overflows.
create function logloom_private.finite_double(p_value double precision)
returns double precision
language plpgsql
immutable
strict
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return case p_value
    when 'Infinity' then 1.7976931348623157e308
    when '-Infinity' then -1.7976931348623157e308
    else p_value
  end;
end;
$$;

-- Returns a number of an extracted JSON text as stored records have it: without zeros at the end of
-- a fraction. Writes an exponent if the number would have over 40 characters and the exponent makes
-- it shorter. Computes the length without printing the number, because nine bytes of JSON may mean
-- 131,000 digits.
create function logloom_private.short_number(p_number numeric)
returns jsonb
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_number constant numeric := trim_scale(p_number);
  v_text text;
  v_exponent integer;
  v_digits integer;
  v_written integer;
begin
  if abs(v_number) < 1e19 and scale(v_number) <= 19 then
    return to_jsonb(v_number);
  end if;
  -- numeric_send has a header of 8 bytes, then 2 bytes for every four digits.
  v_text := to_char(
    abs(v_number), '9.' || repeat('9', 2 * octet_length(numeric_send(v_number)) - 16) || 'EEEE'
  );
  v_exponent := split_part(v_text, 'e', 2)::integer;
  v_text := trim(split_part(v_text, 'e', 1), ' 0.');
  v_digits := octet_length(replace(v_text, '.', ''));
  v_text := v_text || case when v_exponent < 0 then 'e' else 'e+' end || v_exponent;
  v_written := case when v_exponent < 0 then v_digits - v_exponent + 1
    else greatest(v_exponent + 1, v_digits + (v_digits > v_exponent + 1)::integer) end;
  if v_written <= 40 - (v_number < 0)::integer or octet_length(v_text) >= v_written then
    return to_jsonb(v_number);
  end if;
  return to_jsonb(case when v_number < 0 then '-' else '' end || v_text);
end;
$$;

-- Parses a JSON text. Its numbers get the form of stored records.
create function logloom_private.canonical_numbers(p_text text)
returns jsonb
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select string_agg(
      coalesce(m.part[1], logloom_private.short_number(m.part[2]::numeric)::text), '' order by m.n
    )::jsonb
    from regexp_matches(
      p_text, '((?:[^-0-9"]|"(?:[^"\\]|\\.)*")+)|(-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)', 'g'
    ) with ordinality m (part, n)
  );
end;
$$;

-- Parses a JSON object. Returns {} for anything else, and for more than 64 kB or 64 levels, the
-- limits of attributes. PostgreSQL's parser fails on a few thousand levels.
create function logloom_private.extract_json(p_text text)
returns jsonb
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  if octet_length(p_text) > 65536
    or p_text !~ '^[ \t\r\n]*\{'
    -- Most texts have few brackets and skip the regex.
    or char_length(p_text) - char_length(translate(p_text, '[{', '')) > 64
      and p_text !~ (
        '^[ \t\r\n]*' || repeat('[[{](?:[^][{}"]|"(?:[^"\\]|\\.)*"|', 64) || '[^][{}"]'
          || repeat(')*[]}]', 64)
      )
    or not pg_input_is_valid(p_text, 'jsonb')
  then
    return '{}';
  elsif p_text ~ '\.[0-9]*0[^0-9]|[0-9][eE]|[-0-9.]{41}' then
    return logloom_private.canonical_numbers(p_text);
  end if;
  return p_text::jsonb;
end;
$$;

-- Returns the pairs name=value in the first 64 kB of a text. A value may be in double quotes. A
-- value in the syntax of a JSON number becomes a number. If a name repeats, the last value counts.
create function logloom_private.extract_logfmt(p_text text)
returns jsonb
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  if strpos(p_text, '=') = 0 then
    return '{}';
  end if;
  return coalesce((
    select jsonb_object_agg(
      m.pair[1],
      case
        when left(m.pair[2], 1) = '"' then to_jsonb(
          regexp_replace(substr(m.pair[2], 2, char_length(m.pair[2]) - 2), '\\(.)', '\1', 'g')
        )
        when m.pair[2] ~ '^-?(?:0|[1-9][0-9]{0,17})(?:\.[0-9]{1,18})?$' then
          to_jsonb(trim_scale(m.pair[2]::numeric))
        else to_jsonb(m.pair[2])
      end
    )
    from regexp_matches(
      left(p_text, 65536) collate "C",
      '(?:^|[ \t\r\n])([^ \t\r\n="]+)=("(?:[^"\\]|\\.)*"|[^ \t\r\n"]*)(?=[ \t\r\n]|$)', 'g'
    ) m (pair)
  ), '{}');
end;
$$;

-- Returns the texts between the literals in the first 64 kB of a text, by their names; {} if a
-- literal is missing. A literal matches at its first place after the previous literal.
create function logloom_private.extract_pattern(p_text text, p_literals text[], p_names text[])
returns jsonb
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_rest text := left(p_text, 65536);
  v_place integer := strpos(v_rest, p_literals[1]);
  v_found jsonb := '{}';
begin
  for v_n in 1 .. cardinality(p_names) loop
    if v_place = 0 then
      return '{}';
    end if;
    v_rest := substr(v_rest, v_place + char_length(p_literals[v_n]));
    v_place := case p_literals[v_n + 1] when '' then char_length(v_rest) + 1
      else strpos(v_rest, p_literals[v_n + 1]) end;
    if p_names[v_n] <> '' then
      v_found := v_found || jsonb_build_object(p_names[v_n], left(v_rest, v_place - 1));
    end if;
  end loop;
  return case when v_place > 0 then v_found else '{}' end;
end;
$$;

-- Returns the named groups of the first match in the first 64 kB of a text; {} without a match.
-- p_folds: the pattern is folded and is matched with the folded text. The groups come from the text
-- itself, because folding moves no character.
create function logloom_private.extract_regexp(
  p_text text,
  p_pattern text,
  p_names text[],
  p_folds boolean
)
returns jsonb
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_text constant text := left(p_text, 65536);
  v_folded text collate "C";
  v_values text[];
begin
  if not p_folds then
    v_values := regexp_match(v_text collate "C", p_pattern);
  else
    v_folded := logloom_private.folded_text(v_text);
    v_values := array(
      select case when p.starts > 0 then substr(
        v_text, p.starts, regexp_instr(v_folded, p_pattern, 1, 1, 1, '', p.n) - p.starts
      ) end
      from (
        select n, regexp_instr(v_folded, p_pattern, 1, 1, 0, '', n) as starts
        from generate_subscripts(p_names, 1) n
      ) p
      order by p.n
    );
  end if;
  return jsonb_strip_nulls(coalesce(jsonb_object(p_names, v_values), '{}'));
end;
$$;
