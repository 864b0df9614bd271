-- Masks of the records and audit events that the database itself makes. The function ingest has the
-- same detectors in _shared/ingest_rules.

-- Lists the detectors in the order of masking: the longer secret comes first. If a pattern has a
-- capture group, the text of the group is not masked.
create function logloom_private.mask_detectors()
returns table (name text, pattern text)
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_hex constant text := '[0-9A-Fa-f]{1,4}';
  v_ipv4 constant text := '(?:(?:25[0-5]|2[0-4][0-9]|1?[0-9]{1,2})\.){3}'
    '(?:25[0-5]|2[0-4][0-9]|1?[0-9]{1,2})';
begin
  return query values
    ('bearer', format(
      '[Bb][Ee][Aa][Rr][Ee][Rr](?:[[:space:]:=+"'']|%%20|%%3A){1,8}'
        '(?:(?=%1$s*(?:[0-9]|[a-z][A-Z])|%1$s{20})'
        '|(?<=[Aa][Uu][Tt][Hh][Oo][Rr][Ii][Zz][Aa][Tt][Ii][Oo][Nn][^[:alnum:]]{0,6}'
        '[Bb][Ee][Aa][Rr][Ee][Rr][^[:alnum:]]{1,8}))%1$s{8,}',
      '[[:alnum:]._~+/=%-]'
    )),
    ('jwt', 'eyJ[[:alnum:]_-]{5,}\.[[:alnum:]_-]{5,}(?:\.[[:alnum:]_-]*){0,3}'),
    ('aws_key', '(?:AKIA|ASIA|ABIA|ACCA|AGPA|AIDA|AIPA|ANPA|ANVA|AROA|A3T[0-9A-Z])[A-Z0-9]{16}'
      '|([Ss][Ee][Cc][Rr][Ee][Tt]_?(?:[Aa][Cc][Cc][Ee][Ss][Ss]_?)?[Kk][Ee][Yy]["'']{0,2}'
      '[[:space:]]{0,3}(?::|=>?)[[:space:]]{0,3}["'']?)[0-9A-Za-z+/]{40}'),
    ('supabase_key', 'sb_(?:secret|publishable)_[[:alnum:]_-]{8,}'
      '|sbp_(?:[[:alnum:]]{1,8}_)?[0-9a-f]{40}'),
    ('logloom_key', 'll[tpc]?_[[:alnum:]]{36}'),
    ('email', '[[:alnum:]._%+''&=/#~-]+(?:@|%40)(?:[[:alnum:]](?:[[:alnum:]-]*[[:alnum:]])?\.)+'
      '(?:xn--[[:alnum:]-]+|[[:alpha:]]{2,})'),
    ('iban', '(?<![[:alnum:]])[A-Za-z]{2}[0-9]{2}(?:[ -]?[[:alnum:]]){11,30}(?![[:alnum:]])'),
    ('card', '(?<![[:alnum:]])(?:[0-9]{13,19}|[0-9]{4}(?:[ -][0-9]{4}){3}(?:[ -][0-9]{3})?'
      '|[0-9]{4}[ -][0-9]{6}[ -][0-9]{4,5})(?![[:alnum:]])'),
    ('ipv6', format(
      '(?<![[:alnum:]:])(?:(?:%1$s:){7}%1$s|(?:%1$s(?::%1$s){0,6})?::(?:%1$s:){0,6}(?:%2$s|%1$s)'
        '|%1$s(?::%1$s){0,6}::|(?:%1$s:){6}%2$s)(?![[:alnum:]])',
      v_hex, v_ipv4
    )),
    ('ipv4', '(?<![0-9]|[0-9]\.)' || v_ipv4 || '(?![0-9]|\.[0-9])'),
    ('phone', '(?:(?<![[:alnum:]+])\+|%2[Bb])[1-9](?:[ ./()-]{0,2}[0-9]){6,14}');
end;
$$;

-- Returns the text masks of an action "mask". Their labels have no hash, because only edge
-- functions can open the key of the hash.
create function logloom_private.text_masks(p_action jsonb)
returns logloom_private.text_mask[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_masks logloom_private.text_mask[] := array(
    select row(
      case when d.name = 'aws_key' then '\1' else '' end || '[' || d.name || ']', d.pattern, 'g',
      case when d.name in ('card', 'iban') then d.name end
    )::logloom_private.text_mask
    from logloom_private.mask_detectors() with ordinality d (name, pattern, n)
    where p_action -> 'what' ? d.name
    order by d.n
  );
  v_regex jsonb;
begin
  if p_action ->> 'pattern' is not null then
    v_regex := logloom_private.query_regex('"' || (p_action ->> 'pattern') || '"', 0);
    v_masks := row(
      '[' || (p_action ->> 'label') || ']', v_regex ->> 'pattern',
      case when (v_regex -> 'fold')::boolean then 'gi' else 'g' end, null
    )::logloom_private.text_mask || v_masks;
  end if;
  return v_masks;
end;
$$;

-- True if a text without gaps is a card number or IBAN (p_kind), by form and check digits.
create function logloom_private.has_check_digits(p_kind text, p_text text)
returns boolean
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_text constant text := upper(p_text);
begin
  if p_kind = 'iban' then
    return v_text ~ '^[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}$' and (
      select string_agg(
        case when c.letter between '0' and '9' then c.letter
          else (ascii(c.letter) - 55)::text end,
        '' order by c.n
      )::numeric % 97 = 1
      from string_to_table(substr(v_text, 5) || left(v_text, 4), null)
        with ordinality c (letter, n)
    );
  end if;
  return v_text ~ ('^(?:4[0-9]{12}(?:[0-9]{3}){0,2}|5[1-5][0-9]{14}|2[2-7][0-9]{14}|3[47][0-9]{13}'
      '|3(?:0[0-5]|[68][0-9])[0-9]{11}|35[0-9]{14}|6[0-9]{15,18}'
      '|(?:50[123][0-9]|5893|6304|676[0-9]|6759)[0-9]{9,15})$')
    and (
      select sum(case when c.n % 2 = 1 then c.digit else c.digit * 2 - c.digit / 5 * 9 end) % 10 = 0
      from unnest(string_to_array(reverse(v_text), null)::integer[]) with ordinality c (digit, n)
    );
end;
$$;

-- Masks the card numbers or IBANs of a text. A number may begin at each word and continue over
-- single spaces and hyphens.
create function logloom_private.masked_numbers(
  p_text text,
  p_mask logloom_private.text_mask,
  p_until timestamptz
)
returns text
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_words text[];
  v_gaps text[];
  v_at integer := 1;
  v_found integer;
  v_number text;
begin
  if p_text collate pg_c_utf8 !~ p_mask.pattern then
    return p_text;
  end if;
  select array_agg(m.part[1] order by m.n), array_agg(m.part[2] order by m.n)
  into v_words, v_gaps
  from regexp_matches(p_text collate pg_c_utf8, '([[:alnum:]]*)([^[:alnum:]]*)', 'g')
    with ordinality m (part, n);
  while v_at <= cardinality(v_words) loop
    if clock_timestamp() > p_until then
      return '[not checked]';
    end if;
    v_found := null;
    v_number := '';
    for v_to in v_at .. cardinality(v_words) loop
      v_number := v_number || v_words[v_to];
      exit when length(v_number) > 34 or v_number !~ '^(?:[A-Za-z]{2})?[0-9]{2}';
      if logloom_private.has_check_digits(p_mask."check", v_number) then
        v_found := v_to;
      end if;
      exit when v_gaps[v_to] not in (' ', '-');
    end loop;
    if v_found is not null then
      for v_to in v_at .. v_found loop
        v_words[v_to] := case v_to when v_at then p_mask.label else '' end;
        v_gaps[v_to] := case v_to when v_found then v_gaps[v_to] else '' end;
      end loop;
    end if;
    v_at := coalesce(v_found, v_at) + 1;
  end loop;
  return (
    select string_agg(w.word || w.gap, '' order by w.n)
    from unnest(v_words, v_gaps) with ordinality w (word, gap, n)
  );
end;
$$;

-- Masks a text. After p_until, the text is replaced whole: no text passes unchecked.
create function logloom_private.masked_text(
  p_text text,
  p_masks logloom_private.text_mask[],
  p_until timestamptz
)
returns text
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_mask logloom_private.text_mask;
begin
  foreach v_mask in array p_masks loop
    if length(p_text) > 2 and clock_timestamp() > p_until then
      return '[not checked]';
    end if;
    p_text := case when v_mask."check" is not null
      then logloom_private.masked_numbers(p_text, v_mask, p_until)
      else regexp_replace(p_text collate pg_c_utf8, v_mask.pattern, v_mask.label, v_mask.flags)
    end;
  end loop;
  return p_text;
end;
$$;

-- Masks the texts, numbers and keys of a JSON value. Keys that become equal are numbered. p_depth:
-- how many more levels the value may have. Deeper values become a text.
create function logloom_private.masked_json(
  p_value jsonb,
  p_masks logloom_private.text_mask[],
  p_until timestamptz,
  p_depth integer default 64
)
returns jsonb
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_type constant text := jsonb_typeof(p_value);
  v_text text;
  v_key text;
  v_item jsonb;
  v_number integer := 1;
  v_keys text[] := '{}';
  v_items jsonb[] := '{}';
begin
  if v_type = 'array' and p_depth > 0 then
    return coalesce((
      select jsonb_agg(
        logloom_private.masked_json(e.value, p_masks, p_until, p_depth - 1) order by e.n
      )
      from jsonb_array_elements(p_value) with ordinality e (value, n)
    ), '[]');
  elsif v_type = 'object' and p_depth > 0 then
    for v_key, v_item in select e.key, e.value from jsonb_each(p_value) e loop
      if clock_timestamp() > p_until then
        return '{"not_checked": "[not checked]"}';
      end if;
      v_text := logloom_private.masked_text(v_key, p_masks, p_until);
      if v_text <> v_key then
        v_key := v_text;
        while p_value ? v_key or v_key = any (v_keys) loop
          v_number := v_number + 1;
          v_key := v_text || ' ' || v_number;
        end loop;
      end if;
      v_keys := v_keys || v_key;
      v_items := v_items || logloom_private.masked_json(v_item, p_masks, p_until, p_depth - 1);
    end loop;
    return (
      select coalesce(jsonb_object_agg(m.key, m.item), '{}')
      from unnest(v_keys, v_items) m (key, item)
    );
  elsif v_type in ('boolean', 'null') then
    return p_value;
  end if;
  v_text := logloom_private.masked_text(p_value #>> '{}', p_masks, p_until);
  return case when v_text = p_value #>> '{}' and v_type not in ('array', 'object') then p_value
    else to_jsonb(v_text) end;
end;
$$;
