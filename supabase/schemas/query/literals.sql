-- Parses literals: levels, times, numbers, quantities.

-- Returns the level for a word of a library or protocol, in any letter case, or for one of pino's
-- numbers. Null if it is unknown. npm run migration copies these words to
-- supabase/functions/_shared/record_fields.ts for ingest.
create function logloom_private.level_named(p_word text)
returns text
language plpgsql
immutable
strict
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return coalesce((
    select l.level
    from (
      values
        ('debug', 'debug trace finest finer fine silly verbose http notset dbg dbug debg trc trce '
          'vrb debug1 debug2 debug3 debug4 debug5'),
        ('info', 'info information informational notice log ok default audit config inf success'),
        ('warn', 'warn warning wrn'),
        ('error', 'error err severe critical crit fatal panic alert emerg emergency fail dpanic '
          'ftl erro eror')
    ) l (level, words)
    where lower(p_word collate "C") = any (string_to_array(l.words, ' '))
  ), case when p_word ~ '^[1-9][0-9](?:\.[0-9]+)?$' then
    coalesce((array['debug', 'debug', 'info', 'warn'])[left(p_word, 1)::integer], 'error')
  end);
end;
$$;

-- Returns the level of a token; null for null. Accepts the words that ingest accepts, and raises an
-- error for others.
create function logloom_private.query_require_level(p_token text, p_position integer)
returns text
language plpgsql
stable
strict
set search_path = pg_catalog, pg_temp
as $$
declare
  v_text constant text := logloom_private.query_text(p_token);
  v_level constant text := logloom_private.level_named(v_text);
begin
  if v_level is null or logloom_private.query_has_wildcard(p_token) then
    perform logloom_private.refuse_at(
      p_position, 'query.level_is_unknown', logloom_private.query_excerpt(v_text),
      coalesce('Did you mean ' || logloom_private.typo_of(
        lower(v_text collate "C"), '{debug,info,warn,error,warning,critical,fatal,notice,trace}'
      ) || '? ', '')
    );
  end if;
  return v_level;
end;
$$;

-- Returns the span of time of a literal; null for null.
create function logloom_private.query_time(
  p_token text,
  p_position integer,
  p_now timestamptz
)
returns logloom_private.query_span
language plpgsql
stable
strict
set search_path = pg_catalog, pg_temp
as $$
declare
  v_text constant text := logloom_private.query_text(p_token);
  v_shift text[];
  v_seconds numeric;
  v_instant timestamptz := logloom_private.iso_instant(v_text);
begin
  if v_instant is not null then
    return (
      v_instant,
      -- A date is a whole UTC day.
      v_instant + case when char_length(v_text) = 10 then interval '24 hours'
        else interval '1 microsecond' end,
      false
    )::logloom_private.query_span;
  elsif v_text ~ '^(?:now|(?:now)?[+-][0-9]{1,10}[smhdw])$' then
    v_shift := regexp_match(v_text, '(.[0-9]+)(.)$');
    v_seconds := coalesce(v_shift[1]::numeric * logloom_private.seconds_of(v_shift[2]), 0);
    if abs(v_seconds) > 3155760000 then
      perform logloom_private.refuse_at(p_position, 'query.shift_is_too_long');
    end if;
    v_instant := p_now + make_interval(secs => v_seconds);
    return (v_instant, v_instant + interval '1 microsecond', true)::logloom_private.query_span;
  end if;
  perform logloom_private.refuse_at(
    p_position, 'query.not_a_time', logloom_private.query_excerpt(v_text)
  );
  return null;
end;
$$;

-- Returns the seconds or bytes of a text with a unit, or null. Durations may have several parts
-- (1h30m). Sizes count by 1000 (kB) or 1024 (KiB), in either letter case.
create function logloom_private.quantity(p_text text, p_unit text)
returns numeric
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_parts text[];
  v_total numeric := 0;
begin
  if p_text is null or octet_length(p_text) > 64 then
    return null;
  elsif p_unit = 'bytes' then
    v_parts := regexp_match(
      lower(p_text collate "C") collate "C",
      '^([0-9]{1,15}(?:\.[0-9]{1,9})?) ?(?:([kmgtp])(i?))?b$'
    );
    return v_parts[1]::numeric * case v_parts[3] when 'i' then 1024 else 1000 end::numeric
      ^ case v_parts[2]
        when 'k' then 1 when 'm' then 2 when 'g' then 3 when 't' then 4 when 'p' then 5 else 0 end;
  end if;
  -- Most durations have one part. Cutting off its unit is quicker than matching groups.
  if p_text collate "C" ~ '^-?[0-9]{1,15}(?:\.[0-9]{1,9})? ?(?:ns|us|µs|μs|ms|s|m|h|d|w)$' then
    return rtrim(p_text, ' nuµμmshdw')::numeric
      * logloom_private.seconds_of(ltrim(p_text, ' -.0123456789'));
  elsif p_text collate "C" !~ ('^-?[0-9]{1,15}(?:\.[0-9]{1,9})? ?(?:ns|us|µs|μs|ms|s|m|h|d|w)'
      || '(?: ?[0-9]{1,15}(?:\.[0-9]{1,9})? ?(?:ns|us|µs|μs|ms|s|m|h|d|w))*$')
  then
    return null;
  end if;
  for v_parts in
    select m from regexp_matches(p_text collate "C", '([0-9.]+) ?([^0-9 ]+)', 'g') m
  loop
    v_total := v_total + v_parts[1]::numeric * logloom_private.seconds_of(v_parts[2]);
  end loop;
  return case when left(p_text, 1) = '-' then -v_total else v_total end;
end;
$$;

create function logloom_private.seconds_of(p_unit text)
returns numeric
language sql
immutable
parallel safe
return case p_unit
  when 'ns' then 0.000000001 when 'ms' then 0.001 when 's' then 1 when 'm' then 60
  when 'h' then 3600 when 'd' then 86400 when 'w' then 604800 else 0.000001 end;

-- Returns the number of a comparison as {"unit": null, "value": …}; a quantity has the unit
-- "seconds" or "bytes". null for null. The value is a decimal as text: it stays exact.
create function logloom_private.query_number(p_token text, p_position integer)
returns jsonb
language plpgsql
stable
strict
set search_path = pg_catalog, pg_temp
as $$
declare
  v_text constant text := logloom_private.query_text(p_token);
  v_unit text;
  v_quantity numeric;
  v_digits text;
begin
  -- The value has a unit if it ends in a letter.
  if left(p_token, 1) <> '"' and right(v_text, 1) collate "C" > '9' then
    foreach v_unit in array array['seconds', 'bytes'] loop
      v_quantity := logloom_private.quantity(v_text, v_unit);
      if v_quantity is not null then
        return jsonb_build_object('unit', v_unit, 'value', trim_scale(v_quantity)::text);
      end if;
    end loop;
  end if;
  if left(p_token, 1) = '"' or v_text !~ '^-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$' then
    perform logloom_private.refuse_at(
      p_position, 'query.not_a_number', logloom_private.query_excerpt(v_text)
    );
  end if;
  v_digits := coalesce(substring(v_text from '[eE][+-]?0*([0-9]*)$'), '');
  if char_length(v_digits) > 3 or ('0' || v_digits)::integer > 400 then
    perform logloom_private.refuse_at(p_position, 'query.number_is_out_of_range');
  end if;
  return jsonb_build_object('unit', null, 'value', trim_scale(v_text::numeric)::text);
end;
$$;
