-- What compiled queries call for each record. None of these can raise, whatever a record holds.

-- Does any text of a record pass a test? Texts are its columns and the scalars of its attributes.
create function logloom_private.record_holds(
  p_columns text[],
  p_attrs jsonb,
  p_test text,
  p_arguments text[]
)
returns boolean
language plpgsql
immutable
security invoker
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return exists (
    select
    from (
      select unnest(p_columns)
      union all
      select a.value #>> '{}'
      from jsonb_path_query(p_attrs, 'strict $.**') a (value)
      where jsonb_typeof(a.value) in ('string', 'number', 'boolean')
    ) t (text)
    where case p_test
      when 'contains' then lower(t.text collate pg_c_utf8) like p_arguments[1]
      when 'equal' then t.text = any(p_arguments)
      when 'folded equal' then lower(t.text collate pg_c_utf8) = any(p_arguments)
      when 'word' then lower(t.text collate pg_c_utf8) ~ p_arguments[1]
      when 'regex' then t.text collate "C" ~ p_arguments[1]
      when 'folded regex' then lower(t.text collate pg_c_utf8) collate "C" ~ p_arguments[1]
    end
  );
end;
$$;

revoke all on function logloom_private.record_holds(text[], jsonb, text, text[]) from public;

-- Is a text an address, IPv4 with or without a port or IPv6, of a network?
create function logloom_private.address_in(p_text text, p_network inet)
returns boolean
language plpgsql
immutable
security invoker
parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_address text;
begin
  if octet_length(p_text) > 45 then
    return false;
  end if;
  v_address := coalesce(
    substring(
      p_text collate "C"
      from '^((?:0|[1-9][0-9]{0,2})(?:\.(?:0|[1-9][0-9]{0,2})){3})(?::[0-9]{1,5})?$'
    ),
    -- PostgreSQL reads more than the notation allows, as ::1: or ::1..2.
    substring(
      p_text collate "C"
      from '^[0-9a-fA-F:]*(?:::|:[0-9a-fA-F]{1,4}|:[0-9]{1,3}(?:\.[0-9]{1,3}){3})$'
    )
  );
  return pg_input_is_valid(v_address, 'inet') and v_address::inet <<= p_network;
end;
$$;

revoke all on function logloom_private.address_in(text, inet) from public;

-- Numbers stay decimal until the end, so that a sum does not depend on the order of its rows;
-- held within the range of a double, so that no cast or sum can fail.
create function logloom_private.json_number(p_value jsonb)
returns numeric
language plpgsql
immutable
strict
security invoker
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

revoke all on function logloom_private.json_number(jsonb) from public;

create function logloom_private.finite_double(p_value numeric)
returns double precision
language plpgsql
immutable
strict
security invoker
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

revoke all on function logloom_private.finite_double(numeric) from public;

-- Interpolation between the two ends of the doubles leaves their range.
create function logloom_private.finite_double(p_value double precision)
returns double precision
language plpgsql
immutable
strict
security invoker
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

revoke all on function logloom_private.finite_double(double precision) from public;

-- Numbers of a JSON text have the canonical form of a record's: no zeros at the end of a fraction.
create function logloom_private.canonical_numbers(p_value jsonb)
returns jsonb
language plpgsql
immutable
security invoker
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return case jsonb_typeof(p_value)
    when 'number' then to_jsonb(trim_scale(p_value::numeric))
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

revoke all on function logloom_private.canonical_numbers(jsonb) from public;

-- The members of a text that is a JSON object of at most 64 kB, otherwise {}.
create function logloom_private.extract_json(p_text text)
returns jsonb
language plpgsql
immutable
security invoker
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  if octet_length(p_text) > 65536
    or p_text !~ '^[ \t\r\n]*\{'
    or not pg_input_is_valid(p_text, 'jsonb')
  then
    return '{}';
  elsif p_text ~ '\.[0-9]*0[^0-9]|[0-9][eE]' then
    return logloom_private.canonical_numbers(p_text::jsonb);
  end if;
  return p_text::jsonb;
end;
$$;

revoke all on function logloom_private.extract_json(text) from public;

-- The pairs name=value of the first 64 kB of a text; a value may be in double quotes. A value that
-- is written as JSON writes numbers is one. The last of a name counts.
create function logloom_private.extract_logfmt(p_text text)
returns jsonb
language plpgsql
immutable
security invoker
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

revoke all on function logloom_private.extract_logfmt(text) from public;
