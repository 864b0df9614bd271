-- What compiled queries call for each record. None of these can raise, whatever a record holds.

-- The value of a number that is stored as its text, since it has more than 40 letters when it is
-- written out; null for any other text, and for what no double holds.
create function logloom_private.written_number(p_text text)
returns numeric
language plpgsql
immutable
strict
parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_number numeric;
begin
  if octet_length(p_text) > 300
    or p_text collate "C" !~ '^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?[eE][+-]?0*[0-9]{1,3}$'
    or not pg_input_is_valid(p_text, 'double precision')
  then
    return null;
  end if;
  v_number := trim_scale(p_text::numeric);
  if octet_length(v_number::text) > greatest(40, octet_length(p_text)) then
    return v_number;
  end if;
  return null;
end;
$$;

-- Numbers stay decimal until the end, so that a sum does not depend on the order of its rows;
-- held within the range of a double, so that no cast or sum can fail.
create function logloom_private.json_number(p_value jsonb)
returns numeric
language plpgsql
immutable
strict
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  if jsonb_typeof(p_value) = 'number' then
    return least(
      greatest(p_value::numeric, -1.7976931348623157e308), 1.7976931348623157e308
    );
  end if;
  return null;
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

-- Interpolation between the two ends of the doubles leaves their range.
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

-- A number of an extracted JSON text as a record has it: the number or, where it has more than 40
-- letters when it is written out and is shorter with an exponent, its text with one.
create function logloom_private.short_number(p_number numeric)
returns jsonb
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_number constant numeric := trim_scale(p_number);
  v_text constant text := v_number::text;
  v_whole text;
  v_digits text;
  v_exponent integer;
begin
  if octet_length(v_text) <= 40 then
    return to_jsonb(v_number);
  end if;
  v_whole := ltrim(split_part(v_text, '.', 1), '-0');
  v_digits := ltrim(v_whole || split_part(v_text, '.', 2), '0');
  v_exponent := case
    when v_whole <> '' then octet_length(v_whole)
    else octet_length(v_digits) - octet_length(split_part(v_text, '.', 2))
  end - 1;
  v_digits := rtrim(v_digits, '0');
  v_digits := case when v_number < 0 then '-' else '' end || left(v_digits, 1)
    || case when octet_length(v_digits) > 1 then '.' || substr(v_digits, 2) else '' end
    || case when v_exponent < 0 then 'e' else 'e+' end || v_exponent;
  return case when octet_length(v_digits) < octet_length(v_text) then to_jsonb(v_digits)
    else to_jsonb(v_number) end;
end;
$$;

-- Numbers of a JSON text have the canonical form of a record's: no zeros at the end of a fraction.
create function logloom_private.canonical_numbers(p_value jsonb)
returns jsonb
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return case jsonb_typeof(p_value)
    when 'number' then logloom_private.short_number(p_value::numeric)
    when 'object' then (
      select coalesce(jsonb_object_agg(o.key, logloom_private.canonical_numbers(o.value)), '{}')
      from jsonb_each(p_value) o
    )
    when 'array' then (
      select coalesce(jsonb_agg(logloom_private.canonical_numbers(a.value) order by a.n), '[]')
      from jsonb_array_elements(p_value) with ordinality a (value, n)
    )
    else p_value
  end;
end;
$$;

-- The members of a text that is a JSON object of at most 64 kB, otherwise {}.
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
    or not pg_input_is_valid(p_text, 'jsonb')
  then
    return '{}';
  elsif p_text ~ '\.[0-9]*0[^0-9]|[0-9][eE]|[0-9.]{41}' then
    return logloom_private.canonical_numbers(p_text::jsonb);
  end if;
  return p_text::jsonb;
end;
$$;

-- The pairs name=value of the first 64 kB of a text; a value may be in double quotes. A value that
-- is written as JSON writes numbers is one. The last of a name counts.
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
