-- Sealed days are made and read with less work, and a day that is dropped while it is replaced holds
-- up no other. Functions only: chunks stay as they are, and the writer goes on.

SET local check_function_bodies = off;

DROP FUNCTION "logloom_private"."first_positions"(logloom_private.sealed_chunks, integer[], integer, boolean, timestamp WITH time zone);

DROP FUNCTION "logloom_private"."log_page_sql"(text, logloom_private.compiled_query, tstzrange, integer, text, timestamp WITH time zone, uuid);

DROP FUNCTION "logloom_private"."note_spread_records"(logloom_private.added_count[], bigint);

DROP FUNCTION "logloom_private"."outer_positions"(logloom_private.sealed_chunks, integer, boolean);

DROP FUNCTION "logloom_private"."range_bits"(logloom_private.sealed_chunks, timestamp WITH time zone, timestamp WITH time zone);

DROP FUNCTION "logloom_private"."shown_record_sql"(jsonb);

DROP TYPE "logloom_private"."added_count";

CREATE OR REPLACE FUNCTION logloom_private.added_counts_sql (
  p_added text
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO ''
  AS $function$
begin
  -- Sorted by bytes, at a third of what the tenants' own collation costs.
  return format(
    $query$
      select
        a.tenant_id, a.minute, case when not a.is_other then a.service end as service, a.level,
        a.is_other, sum(a.events)::bigint as events
      from (
        select
          u.*,
          coalesce(length(u.service), 0) > s.count_service_length_max
            or dense_rank() over (
              partition by u.tenant_id collate "C", u.minute order by u.service collate "C"
            ) > s.count_services_max as is_other
        from %s u, logloom_private.settings s
      ) a
      group by 1, 2, 3, 4, 5
      order by a.tenant_id collate "C", a.minute
    $query$,
    p_added
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.chunk_attributes (
  p_chunk     logloom_private.sealed_chunks,
  p_positions integer[],
  p_keys      text[]
)
  RETURNS jsonb[]
  LANGUAGE plpgsql
  STABLE
  PARALLEL SAFE
  SET search_path TO ''
  SET plan_cache_mode TO 'force_generic_plan'
  AS $function$
declare
  v_records constant integer := coalesce(cardinality(p_positions), p_chunk.records);
  v_column logloom_private.sealed_columns;
  v_values logloom_private.column_values[] := '{}';
  v_bounds integer[] := array[1, v_records + 1];
  v_from integer[] := '{}';
  v_to integer[] := '{}';
  v_names text[] := '{}';
  v_within integer[];
  v_lower integer;
  v_upper integer;
  v_rest boolean;
  v_rest_is_empty boolean := false;
  v_arrays text;
  v_names_sql text;
  v_sql text;
  v_part jsonb[];
  v_attributes jsonb[] := '{}';
begin
  -- The columns, and which of the wanted records each covers.
  for v_column in
    select c.*
    from logloom_private.sealed_columns c
    where c.tenant_id = p_chunk.tenant_id and c.chunk_id = p_chunk.chunk_id
      and (
        c.name = 'attrs'
        or left(c.name, 6) = 'attrs.' and (p_keys is null or substr(c.name, 7) = any(p_keys))
      )
    order by c.name collate "C"
  loop
    v_lower := v_column.first;
    v_upper := v_column.last;
    v_within := null;
    if p_positions is not null then
      v_lower := width_bucket(v_column.first - 1, p_positions) + 1;
      v_upper := width_bucket(v_column.last, p_positions);
      v_within := p_positions[v_lower:v_upper];
    end if;
    continue when v_lower > v_upper;
    v_from := v_from || v_lower;
    v_to := v_to || v_upper;
    v_names := v_names || v_column.name;
    v_rest_is_empty := v_rest_is_empty or (
      v_column.name = 'attrs' and v_column.codes is null and v_column.wide_codes is null
      and v_column.dictionary = array['{}']
    );
    v_bounds := v_bounds || v_lower || (v_upper + 1);
    v_values := v_values || row(
      logloom_private.column_texts(v_column, v_within)
    )::logloom_private.column_values;
  end loop;

  -- A statement made for these columns has to be planned, which takes as long as many records.
  if v_records <= 400 and p_positions is not null then
    return array(
      select
        case
          when bool_or(p.is_rest)
            then ('{' || coalesce(string_agg(p.text, ','), '') || '}')::jsonb
        end
      from generate_series(1, v_records) r (n)
      left join (
        select
          c.key is null as is_rest, c.first + t.n - 1 as n,
          case when c.key is null then nullif(substr(t.text, 2, length(t.text) - 2), '')
            else c.key || t.text end as text
        from (
          select
            v.texts, v_from[v.n] as first,
            case when v_names[v.n] <> 'attrs'
              then to_json(substr(v_names[v.n], 7)) || ':' end as key
          from unnest(v_values) with ordinality v (texts, n)
          offset 0
        ) c
        cross join lateral unnest(c.texts) with ordinality t (text, n)
        where t.text is not null
      ) p on p.n = r.n
      group by r.n
      order by r.n
    );
  end if;

  -- Between two bounds the same columns cover all records.
  v_bounds := array(select distinct b from unnest(v_bounds) b order by b);
  for v_at in 1..cardinality(v_bounds) - 1 loop
    v_lower := v_bounds[v_at];
    v_upper := v_bounds[v_at + 1] - 1;
    v_rest := false;
    v_arrays := '';
    v_names_sql := '';
    v_sql := '';
    for v_name in 1..cardinality(v_names) loop
      continue when v_from[v_name] > v_lower or v_to[v_name] < v_upper;
      v_arrays := v_arrays || format(
        ', unnest((($1)[%1$s]).texts[%2$s:%3$s]) as c%1$s',
        v_name, v_lower - v_from[v_name] + 1, v_upper - v_from[v_name] + 1
      );
      v_names_sql := v_names_sql || ', c' || v_name;
      if v_names[v_name] = 'attrs' then
        v_rest := true;
        v_sql := v_sql || format(', nullif(substr(c%1$s, 2, length(c%1$s) - 2), '''')', v_name);
      else
        v_sql := v_sql || format(
          ', %L || c%s', to_json(substr(v_names[v_name], 7)) || ':', v_name
        );
      end if;
    end loop;
    if not v_rest then
      -- No record of these has attributes.
      v_part := array_fill(null::jsonb, array[v_upper - v_lower + 1]);
    elsif v_rest_is_empty and v_names_sql = ', c' || array_position(v_names, 'attrs') then
      -- All have the same, which is nothing.
      v_part := array_fill('{}'::jsonb, array[v_upper - v_lower + 1]);
    else
      execute format(
        $query$
          select array(
            select
              case when u.c%s is not null then ('{' || concat_ws(',' %s) || '}')::jsonb end
            from (select %s) u
          )
        $query$,
        array_position(v_names, 'attrs'), v_sql, substr(v_arrays, 3)
      )
      into v_part
      using v_values;
    end if;
    v_attributes := v_attributes || v_part;
  end loop;
  return v_attributes;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.chunk_bits (
  p_chunk  logloom_private.sealed_chunks,
  p_tree   jsonb,
  p_filter text,
  p_fields text[],
  p_keys   text[],
  p_from   timestamp with time zone,
  p_to     timestamp with time zone
)
  RETURNS bit varying
  LANGUAGE plpgsql
  STABLE
  SET search_path TO ''
  SET jit TO 'off'
  AS $function$
declare
  v_bits varbit[];
  v_within varbit;
  v_rest varbit;
  v_positions integer[];
  v_found integer[];
begin
  perform logloom_private.take_turn();
  v_bits := logloom_private.node_bits(p_chunk, coalesce(p_tree, '{"type": "unknown"}'));
  if bit_count(v_bits[2]) > 0 and (p_chunk.first_ts < p_from or p_chunk.last_ts >= p_to) then
    v_within := logloom_private.range_bits(p_chunk, v_bits[2], p_from, p_to);
    v_bits := array[v_bits[1] & v_within, v_within];
  end if;
  v_rest := v_bits[2] & ~v_bits[1];
  if bit_count(v_rest) = 0 then
    return v_bits[1];
  end if;
  v_positions := logloom_private.bit_positions(v_rest);
  execute format(
    $query$
      select array_agg(p.position order by p.n)
      from unnest($1) with ordinality p (position, n)
      join (
        select l.*, row_number() over () as n
        from logloom_private.sealed_records($2, $1, $3, $4) l
      ) l on l.n = p.n
      where %s
    $query$,
    p_filter
  )
  into v_found
  using v_positions, p_chunk, p_fields, p_keys;
  return v_bits[1] | logloom_private.position_bits(v_found, p_chunk.records);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.chunk_end (
  p_tenant_id text,
  p_day       date,
  p_share     integer
)
  RETURNS logloom_private.log_key
  LANGUAGE plpgsql
  STABLE
  SET search_path TO ''
  AS $function$
declare
  v_settings logloom_private.settings;
  v_from constant timestamptz := logloom_private.day_start(p_day);
  v_to constant timestamptz := logloom_private.day_start(p_day + 1);
  v_read text;
  v_records integer;
  v_bytes bigint;
  v_ts timestamptz[];
  v_ids uuid[];
  v_end logloom_private.log_key;
begin
  select s.* into v_settings from logloom_private.settings s;
  -- What is compressed is measured as it is unpacked.
  v_read := format(
    $query$
      select
        l.ts, l.id,
        200 + coalesce(octet_length(l.msg), 0) + case
          when pg_column_compression(l.attrs) is null then coalesce(pg_column_size(l.attrs), 0)
          else octet_length(l.attrs::text)
        end as bytes
      from logloom.logs l
      where l.tenant_id = %L and l.ts >= %L::timestamptz and l.ts < %L::timestamptz
      order by l.ts, l.id
      limit %s
    $query$,
    p_tenant_id, v_from, v_to, greatest(v_settings.seal_chunk_records / p_share, 1)
  );
  execute format(
    'select count(*), sum(w.bytes), array_agg(w.ts), array_agg(w.id) from (%s) w', v_read
  )
  into v_records, v_bytes, v_ts, v_ids;
  -- Few are as large as that: their sums are made only then. One record at least.
  if v_bytes > v_settings.seal_chunk_bytes / p_share then
    execute format(
      'select greatest(count(*) filter (where r.total <= %s), 1) '
        || 'from (select sum(w.bytes) over (order by w.ts, w.id) as total from (%s) w) r',
      v_settings.seal_chunk_bytes / p_share, v_read
    )
    into v_records;
  end if;
  v_end.ts := v_ts[v_records];
  v_end.id := v_ids[v_records];
  return v_end;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.chunk_ids (
  p_chunk     logloom_private.sealed_chunks,
  p_positions integer[],
  p_batches   integer[]
)
  RETURNS uuid[]
  LANGUAGE plpgsql
  STABLE
  PARALLEL SAFE
  SET search_path TO ''
  SET plan_cache_mode TO 'force_generic_plan'
  AS $function$
declare
  v_prefixes bytea := p_chunk.batch_prefixes || ''::bytea;
  v_prefix text[];
  v_indexes smallint[] := p_chunk.id_indexes;
begin
  if p_positions is not null then
    return array(
      select encode(
        substring(v_prefixes from 14 * b.batch - 13 for 14) || int2send(v_indexes[b.position]),
        'hex'
      )::uuid
      from unnest(p_positions, p_batches) with ordinality b (position, batch, n)
      order by b.n
    );
  end if;
  v_prefix := array(
    select encode(substring(v_prefixes from 1 + 14 * i for 14), 'hex')
    from generate_series(0, octet_length(v_prefixes) / 14 - 1) i
  );
  return array(
    select (v_prefix[b.batch] || encode(int2send(b.index), 'hex'))::uuid
    from (select unnest(p_batches) as batch, unnest(v_indexes) as index) b
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.chunk_messages (
  p_chunk     logloom_private.sealed_chunks,
  p_positions integer[]
)
  RETURNS text[]
  LANGUAGE plpgsql
  STABLE
  PARALLEL SAFE
  SET search_path TO ''
  SET plan_cache_mode TO 'force_generic_plan'
  SET work_mem TO '32MB'
  AS $function$
declare
  -- "|| ''" reads what is stored once, not at each use.
  v_digits bytea := p_chunk.digits || ''::bytea;
  v_separator constant text := p_chunk.separator;
  v_masks text[];
  v_texts text[];
  v_counts integer[] := p_chunk.mask_records;
  v_mark_records integer[] := p_chunk.mark_records;
  v_mark_digits integer[] := p_chunk.mark_digits;
  v_mark_bytes integer[] := p_chunk.mark_bytes;
  v_bytes bytea;
  v_found integer[];
  v_ordinals integer[];
  v_ordinal integer;
  v_next_ordinal integer;
  v_mark integer;
  v_mask integer;
  v_count integer;
  v_digits_each integer;
  v_last integer;
  v_last_digit integer;
  v_found_masks text[] := '{}';
  v_lengths integer[] := '{}';
  v_places integer[] := '{}';
begin
  -- Reading a message by its place takes several times as long as reading it in passing.
  if cardinality(p_positions) > p_chunk.records / 4 then
    v_texts := logloom_private.chunk_messages(p_chunk, null);
    return logloom_private.texts_at(v_texts, p_positions);
  elsif p_positions is null then
    -- A section's masks end each with the separator; a section without messages has none.
    v_masks := string_to_array(array_to_string(p_chunk.masks, ''), v_separator);
    v_masks := v_masks[:cardinality(v_masks) - 1];
    v_texts := logloom_private.fill_masks(
      v_masks, p_chunk.mask_records, encode(v_digits, 'hex'), v_separator
    );
    if array_position(p_chunk.section_masks, 0) is null then
      return v_texts;
    end if;
    -- Sections without messages stand between the others.
    return array(
      select case when s.masks > 0 then v_texts[s.before + i] end
      from (
        select
          x.n, x.records, x.masks,
          sum(case when x.masks > 0 then x.records else 0 end) over (order by x.n)
            - case when x.masks > 0 then x.records else 0 end as before
        from unnest(p_chunk.section_records, p_chunk.section_masks)
          with ordinality x (records, masks, n)
      ) s, generate_series(1, s.records) i
      order by s.n, i
    );
  end if;

  -- Those that have a message, and which of the chunk's messages it is.
  with s as (
    select
      array_agg(x.first order by x.n) as firsts, array_agg(x.silent order by x.n) as silent,
      array_agg(x.masks > 0 order by x.n) as speaks
    from (
      select
        u.n, u.masks, (sum(u.records) over w - u.records + 1)::integer as first,
        coalesce(sum(u.records) filter (where u.masks = 0) over w, 0)::integer as silent
      from unnest(p_chunk.section_records, p_chunk.section_masks)
        with ordinality u (records, masks, n)
      window w as (order by u.n)
    ) x
  ), p as (
    select u.position, width_bucket(u.position, s.firsts) as section
    from s, unnest(p_positions) u (position)
  )
  select
    array_agg(p.position order by p.position),
    array_agg(p.position - s.silent[p.section] order by p.position)
  into v_found, v_ordinals
  from p, s
  where s.speaks[p.section];
  if v_found is null then
    return array_fill(null::text, array[cardinality(p_positions)]);
  end if;
  v_bytes := convert_to(array_to_string(p_chunk.masks, ''), 'UTF8');
  -- From mark to mark, and from there to the mask that holds the message.
  foreach v_ordinal in array v_ordinals loop
    if v_next_ordinal is null or v_ordinal >= v_next_ordinal then
      v_mark := width_bucket(v_ordinal - 1, v_mark_records);
      v_next_ordinal := v_mark_records[v_mark + 1] + 1;
      v_mask := 0;
      v_last := v_mark_records[v_mark];
      v_last_digit := v_mark_digits[v_mark];
      v_masks := string_to_array(
        convert_from(
          substring(
            v_bytes from v_mark_bytes[v_mark] + 1
            for coalesce(v_mark_bytes[v_mark + 1], octet_length(v_bytes)) - v_mark_bytes[v_mark]
          ),
          'UTF8'
        ),
        v_separator
      );
    end if;
    while v_last < v_ordinal loop
      v_mask := v_mask + 1;
      v_count := v_counts[16 * (v_mark - 1) + v_mask];
      v_digits_each := octet_length(v_masks[v_mask])
        - octet_length(replace(v_masks[v_mask], '0', ''));
      v_last := v_last + v_count;
      v_last_digit := v_last_digit + v_count * v_digits_each;
    end loop;
    v_found_masks := v_found_masks || v_masks[v_mask];
    v_lengths := v_lengths || v_digits_each;
    v_places := v_places || v_last_digit - (v_last - v_ordinal + 1) * v_digits_each;
  end loop;
  v_texts := array(
    select
      case
        when f.length = 0 then f.mask
        else format(
          replace(replace(f.mask, '%', '%%'), '0', '%s'),
          variadic string_to_array(
            substr(
              encode(substring(v_digits from f.place / 2 + 1 for f.length / 2 + 1), 'hex'),
              1 + f.place % 2, f.length
            ),
            null
          )
        )
      end
    from unnest(v_found_masks, v_lengths, v_places) with ordinality f (mask, length, place, n)
    order by f.n
  );
  if cardinality(v_found) = cardinality(p_positions) then
    return v_texts;
  end if;
  -- Those without a message stand between the others.
  return array(
    select v_texts[array_position(v_found, p.position)]
    from unnest(p_positions) with ordinality p (position, n)
    order by p.n
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.chunks_to_merge (
  p_tenant_id text,
  p_day       date
)
  RETURNS bigint[]
  LANGUAGE plpgsql
  STABLE
  SET search_path TO ''
  AS $function$
declare
  v_settings logloom_private.settings;
  v_week constant timestamptz := date_trunc('week', p_day::timestamp) at time zone 'UTC';
  v_chunk_ids bigint[];
begin
  select s.* into v_settings from logloom_private.settings s;
  select array_agg(m.chunk_id order by m.chunk_id) into v_chunk_ids
  from (
    select
      c.chunk_id, c.key,
      sum(c.records) over (partition by c.key order by c.first_ts, c.chunk_id) as records,
      sum(c.bytes) over (partition by c.key order by c.first_ts, c.chunk_id) as bytes
    from (
      select
        w.*,
        -- A day's worth goes with its day, and not on disk until a week is past retention.
        case
          when w.records < v_settings.seal_day_records
            or logloom_private.utc_day(w.first_ts) < logloom_private.utc_day(w.last_ts)
            then '-infinity'
          else logloom_private.utc_day(w.first_ts)
        end as key
      from logloom_private.sealed_chunks w
      where w.tenant_id = p_tenant_id
        and w.first_ts >= v_week
        and w.last_ts < v_week + interval '7 days'
        and w.records <= v_settings.seal_chunk_records / 2
    ) c
  ) m
  where m.records <= v_settings.seal_chunk_records
    and m.bytes <= v_settings.seal_chunk_bytes / 8
  group by m.key
  having count(*) > 1
  limit 1;
  return v_chunk_ids;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.codes_of (
  p_values     text[],
  p_dictionary text[]
)
  RETURNS smallint[]
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO ''
  SET work_mem TO '32MB'
  AS $function$
begin
  return array(
    select d.code::smallint
    from (select unnest(p_values) as v, generate_series(1, cardinality(p_values)) as n) u
    left join unnest(p_dictionary) with ordinality d (v, code) on d.v = u.v
    order by u.n
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.column_bits (
  p_column  logloom_private.sealed_columns,
  p_leaf    jsonb,
  p_records integer
)
  RETURNS bit varying
  LANGUAGE plpgsql
  STABLE
  SET search_path TO ''
  AS $function$
declare
  v_field constant text := p_leaf ->> 'field';
  v_key constant text := substr(p_column.name, 7);
  v_test constant text := logloom_private.query_sql(p_leaf, 'l');
  v_codes "char"[] := p_column.codes;
  v_wide_codes smallint[] := p_column.wide_codes;
  v_numbers integer[] := p_column.numbers;
  v_lower numeric;
  v_upper numeric;
  v_absent boolean;
  v_fill text;
  v_flags text;
  v_each text[];
  v_bits text;
begin
  -- What a dictionary of a field does not hold, no record has.
  if p_column.kind = 'dictionary' and p_leaf ->> 'test' = 'equal' and v_field <> 'attrs'
    and not p_column.dictionary && array(
      select v from jsonb_array_elements_text(p_leaf -> 'values') v
    )
  then
    return logloom_private.no_bits(p_records);
  end if;
  -- One thing among many, a request above all: where it stands, not a test of each value.
  if p_column.kind <> 'dictionary' and p_leaf ->> 'test' = 'equal' and v_field <> 'attrs'
    and p_leaf - array['type', 'field', 'name', 'test', 'values', 'size', 'position'] = '{}'
  then
    v_each := logloom_private.column_texts(p_column, null);
    return logloom_private.position_bits(
      array(
        select distinct p_column.first - 1 + p.position
        from jsonb_array_elements_text(p_leaf -> 'values') v (value)
        cross join lateral unnest(array_positions(v_each, v.value)) p (position)
        order by 1
      ),
      p_records
    );
  end if;
  v_absent := logloom_private.tested_values(v_test, v_field, v_key, array[null::text]) = '1';
  v_fill := case when v_absent then '1' else '0' end;
  if p_column.kind = 'dictionary' then
    v_flags := logloom_private.tested_values(v_test, v_field, v_key, p_column.dictionary);
    if v_codes is null and v_wide_codes is null then
      v_bits := repeat(v_flags, p_column.last - p_column.first + 1);
    elsif not v_absent and strpos(v_flags, '1') = 0 then
      return logloom_private.no_bits(p_records);
    elsif v_codes is not null then
      v_each := string_to_array(v_flags, null);
      select string_agg(coalesce(v_each[c.code::integer + 129], v_fill), '' order by c.n)
      into v_bits
      from unnest(v_codes) with ordinality c (code, n);
    else
      v_each := string_to_array(v_flags, null);
      select string_agg(coalesce(v_each[c.code], v_fill), '' order by c.n) into v_bits
      from unnest(v_wide_codes) with ordinality c (code, n);
    end if;
  elsif p_column.kind = 'numbers' and p_leaf ->> 'test' = 'range' and v_field = 'attrs' then
    -- Beyond what the column holds a bound decides nothing.
    v_lower := p_leaf ->> 'lower';
    v_upper := p_leaf ->> 'upper';
    if v_lower > p_column.greatest or v_upper < p_column.least then
      return logloom_private.no_bits(p_records);
    end if;
    v_lower := case
      when v_lower is null then p_column.least
      when (p_leaf ->> 'lower_open')::boolean then greatest(floor(v_lower) + 1, p_column.least)
      else greatest(ceil(v_lower), p_column.least)
    end;
    v_upper := case
      when v_upper is null then p_column.greatest
      when (p_leaf ->> 'upper_open')::boolean then least(ceil(v_upper) - 1, p_column.greatest)
      else least(floor(v_upper), p_column.greatest)
    end;
    if v_numbers is not null then
      select string_agg(case when c.v between v_lower::bigint and v_upper::bigint
        then '1' else '0' end, '' order by c.n)
      into v_bits
      from unnest(v_numbers) with ordinality c (v, n);
    else
      select string_agg(case when c.v between v_lower::bigint and v_upper::bigint
        then '1' else '0' end, '' order by c.n)
      into v_bits
      from unnest(p_column.wide_numbers) with ordinality c (v, n);
    end if;
  else
    v_bits := logloom_private.tested_values(
      v_test, v_field, v_key, logloom_private.column_texts(p_column, null)
    );
  end if;
  return logloom_private.widen_bits(v_bits, p_column.first, p_records, v_absent);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.cut_digits (
  p_masks     text[],
  p_joined    text[],
  p_separator text
)
  RETURNS bytea
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO ''
  AS $function$
declare
  v_parts text[] := p_joined;
  v_text text;
  v_piece text;
  v_mask text;
  v_group integer := 0;
begin
  foreach v_mask in array p_masks loop
    v_group := v_group + 1;
    if strpos(v_mask, '0') = 0 then
      v_parts[v_group] := '';
      continue;
    end if;
    v_text := v_parts[v_group];
    -- One text alone, or a mask of many pieces: all that is no digit at once.
    if octet_length(v_text) < 2 * octet_length(v_mask) or length(v_mask) > 2000 then
      v_parts[v_group] := regexp_replace(v_text, '[^0-9]+', '', 'g');
      continue;
    end if;
    -- All that stands between digits, the longest first where one piece holds another: else some
    -- of it is left, and the slow way finishes.
    foreach v_piece in array
      string_to_array(replace(replace(replace(v_mask, '0000', '0'), '000', '0'), '00', '0'), '0')
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
$function$;

CREATE OR REPLACE FUNCTION logloom_private.cut_words (
  p_text text
)
  RETURNS text[]
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO ''
  AS $function$
begin
  return regexp_split_to_array(
    lower(p_text collate pg_c_utf8) collate "C", '[\u0001-@[-`{-\u007f]+'
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.encode_chunk (
  p_tenant_id text,
  p_with      text,
  p_removes   boolean DEFAULT false
)
  RETURNS bigint
  LANGUAGE plpgsql
  SET search_path TO ''
  SET work_mem TO '48MB'
  SET "TimeZone" TO 'UTC'
  AS $function$
declare
  v_chunk logloom_private.sealed_chunks;
  v_encoded record;
  v_removed integer;
  v_order integer[];
  v_ts timestamptz[];
  v_received_at timestamptz[];
  v_arrivals bigint[];
  v_ids uuid[];
  v_levels text[];
  v_messages text[];
  v_services text[];
  v_env text[];
  v_req_id text[];
  v_user_id text[];
  v_route text[];
  v_host text[];
  v_attrs jsonb[];
begin
  execute format(
    $query$
      with %s
      select
        count(*), min(r.ts), max(r.ts), min(r.arrival), max(r.arrival), %s,
        array_agg(r.ts), array_agg(r.received_at), array_agg(r.arrival), array_agg(r.id),
        array_agg(r.level), array_agg(r.msg), array_agg(r.service), array_agg(r.env),
        array_agg(r.req_id), array_agg(r.user_id), array_agg(r.route), array_agg(r.host),
        array_agg(r.attrs)
      from (select s.* from s order by s.ts, s.id) r
    $query$,
    p_with, case when p_removes then '(select count(*) from removed)' else 'count(*)' end
  )
  into
    v_chunk.records, v_chunk.first_ts, v_chunk.last_ts, v_chunk.first_arrival,
    v_chunk.last_arrival, v_removed, v_ts, v_received_at, v_arrivals, v_ids, v_levels, v_messages,
    v_services, v_env, v_req_id, v_user_id, v_route, v_host, v_attrs;
  if v_removed <> v_chunk.records then
    raise sqlstate 'LL001' using
      message = format('%s records are read, and %s removed', v_chunk.records, v_removed);
  elsif v_chunk.records = 0 then
    return null;
  end if;
  v_chunk.chunk_id := nextval(pg_get_serial_sequence('logloom_private.sealed_chunks', 'chunk_id'));
  v_chunk.tenant_id := p_tenant_id;
  v_chunk.sealed_at := clock_timestamp();
  v_chunk.bytes := 0;
  select e.* into v_encoded
  from logloom_private.encode_messages(v_chunk, v_services, v_levels, v_messages) e;
  v_chunk := v_encoded.o_chunk;
  v_order := v_encoded.o_order;
  v_ts := logloom_private.elements_at(v_ts, v_order);
  v_received_at := logloom_private.elements_at(v_received_at, v_order);
  v_arrivals := logloom_private.elements_at(v_arrivals, v_order);
  v_ids := logloom_private.elements_at(v_ids, v_order);
  v_levels := logloom_private.elements_at(v_levels, v_order);
  v_messages := logloom_private.elements_at(v_messages, v_order);
  v_services := logloom_private.elements_at(v_services, v_order);
  v_env := logloom_private.elements_at(v_env, v_order);
  v_req_id := logloom_private.elements_at(v_req_id, v_order);
  v_user_id := logloom_private.elements_at(v_user_id, v_order);
  v_route := logloom_private.elements_at(v_route, v_order);
  v_host := logloom_private.elements_at(v_host, v_order);
  v_attrs := logloom_private.elements_at(v_attrs, v_order);
  v_chunk := logloom_private.encode_times(v_chunk, v_ts);
  v_chunk := logloom_private.encode_ids(v_chunk, v_ids, v_received_at, v_arrivals);
  insert into logloom_private.sealed_chunks overriding system value select v_chunk.*;

  perform logloom_private.store_column(p_tenant_id, v_chunk.chunk_id, 'env', 1, v_env);
  perform logloom_private.store_column(p_tenant_id, v_chunk.chunk_id, 'req_id', 1, v_req_id);
  perform logloom_private.store_column(p_tenant_id, v_chunk.chunk_id, 'user_id', 1, v_user_id);
  perform logloom_private.store_column(p_tenant_id, v_chunk.chunk_id, 'route', 1, v_route);
  perform logloom_private.store_column(p_tenant_id, v_chunk.chunk_id, 'host', 1, v_host);
  perform logloom_private.store_attributes(p_tenant_id, v_chunk.chunk_id, v_attrs);

  -- Measured first: an update of a table that is spread over nodes takes no such function.
  select
    pg_column_size(c.*) + (
      select coalesce(sum(pg_column_size(k.*)), 0)
      from logloom_private.sealed_columns k
      where k.tenant_id = p_tenant_id and k.chunk_id = v_chunk.chunk_id
    )
  into v_chunk.bytes
  from logloom_private.sealed_chunks c
  where c.tenant_id = p_tenant_id and c.chunk_id = v_chunk.chunk_id;
  update logloom_private.sealed_chunks c
  set bytes = v_chunk.bytes
  where c.tenant_id = p_tenant_id and c.chunk_id = v_chunk.chunk_id;
  -- Each record once, and read back as every reader does.
  if (select count(distinct o.place) from (select unnest(v_order) as place) o) <> v_chunk.records
  then
    raise sqlstate 'LL001' using
      message = format('Chunk %s has records twice', v_chunk.chunk_id);
  end if;
  perform logloom_private.compare_chunk(
    p_tenant_id, v_chunk.chunk_id, v_ts, v_received_at, v_arrivals, v_ids, v_levels, v_messages,
    v_services, v_env, v_req_id, v_user_id, v_route, v_host, v_attrs
  );
  return v_chunk.chunk_id;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.encode_column (
  p_name   text,
  p_first  integer,
  p_values text[]
)
  RETURNS logloom_private.sealed_columns
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO ''
  SET work_mem TO '32MB'
  AS $function$
declare
  v_column logloom_private.sealed_columns;
  v_encoded logloom_private.sealed_columns;
begin
  v_column.name := p_name;
  v_column.first := p_first;
  v_column.last := p_first + cardinality(p_values) - 1;
  v_column.kind := 'dictionary';
  if cardinality(array_remove(p_values, p_values[1])) = 0 then
    if p_values[1] is null then
      return null;
    end if;
    v_column.dictionary := p_values[1:1];
    v_column.counts := array[cardinality(p_values)];
    return v_column;
  end if;

  select
    array_agg(g.v order by g.count desc, g.v collate "C"),
    array_agg(g.count order by g.count desc, g.v collate "C")
  into v_column.dictionary, v_column.counts
  from (
    select u.v, count(*)::integer as count
    from (select unnest(p_values) as v) u
    group by u.v
  ) g
  where g.v is not null;
  if cardinality(v_column.dictionary) * 3 <= cardinality(p_values) then
    v_column.wide_codes := logloom_private.codes_of(p_values, v_column.dictionary);
    return logloom_private.narrow_codes(v_column);
  end if;

  v_column.dictionary := null;
  v_column.counts := null;
  v_encoded := logloom_private.encode_numbers(v_column, p_values);
  if v_encoded.kind is null then
    v_encoded := logloom_private.encode_masked(v_column, p_values);
    if v_encoded.kind is not null then
      v_encoded := logloom_private.narrow_codes(v_encoded);
    end if;
  end if;
  if v_encoded.kind is null then
    v_column.kind := 'texts';
    v_column.texts := p_values;
    return v_column;
  end if;
  return v_encoded;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.encode_ids (
  p_chunk       logloom_private.sealed_chunks,
  p_ids         uuid[],
  p_received_at timestamp with time zone[],
  p_arrivals    bigint[]
)
  RETURNS logloom_private.sealed_chunks
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO ''
  SET work_mem TO '48MB'
  AS $function$
declare
  v_bytes bytea[] := array(select uuid_send(unnest(p_ids)));
  v_prefixes bytea[];
begin
  with b as (
    select u.prefix, u.received_at, u.arrival
    from (
      select
        substring(unnest(v_bytes) for 14) as prefix, unnest(p_received_at) as received_at,
        unnest(p_arrivals) as arrival
    ) u
    group by u.prefix, u.received_at, u.arrival
    order by u.received_at, u.prefix, u.arrival
  )
  select
    array_agg(b.prefix), string_agg(b.prefix, ''::bytea), array_agg(b.received_at),
    array_agg(b.arrival)
  into v_prefixes, p_chunk.batch_prefixes, p_chunk.batch_received_at, p_chunk.batch_arrivals
  from b;
  if cardinality(v_prefixes) > 1 then
    p_chunk.wide_batch_codes := array(
      select b.number::smallint
      from (
        select
          substring(unnest(v_bytes) for 14) as prefix, unnest(p_received_at) as received_at,
          unnest(p_arrivals) as arrival, generate_series(1, p_chunk.records) as n
      ) u
      left join unnest(v_prefixes, p_chunk.batch_received_at, p_chunk.batch_arrivals)
        with ordinality b (prefix, received_at, arrival, number)
        on b.prefix = u.prefix and b.received_at = u.received_at and b.arrival = u.arrival
      order by u.n
    );
  end if;
  if cardinality(v_prefixes) between 2 and 256 then
    p_chunk.batch_codes := array(
      select (unnest(p_chunk.wide_batch_codes)::integer - 129)::"char"
    );
    p_chunk.wide_batch_codes := null;
  end if;
  -- As a signed number of two bytes.
  p_chunk.id_indexes := array(
    select (
      ((get_byte(b.bytes, 14) << 8 | get_byte(b.bytes, 15)) + 32768 & 65535) - 32768
    )::smallint
    from (select unnest(v_bytes) as bytes) b
  );
  p_chunk.first_id := (
    select i.id from (select unnest(p_ids) as id) i order by i.id limit 1
  );
  p_chunk.last_id := (
    select i.id from (select unnest(p_ids) as id) i order by i.id desc limit 1
  );
  return p_chunk;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.encode_masked (
  p_column logloom_private.sealed_columns,
  p_values text[]
)
  RETURNS logloom_private.sealed_columns
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO ''
  SET work_mem TO '32MB'
  AS $function$
declare
  v_separator constant text := e'\x1f';
  v_null constant text := e'\x1e';
  v_text text := array_to_string(p_values, v_separator);
  v_masks text[];
  v_joined text[];
begin
  if logloom_private.separator_for(array_to_string(p_values, ' ')) <> v_separator
    or strpos(v_text, v_null) > 0
  then
    return null;
  end if;
  -- All in one text: nine calls, not nine a value.
  v_text := array_to_string(p_values, v_separator, v_null);
  v_masks := string_to_array(logloom_private.mask_of(v_text), v_separator, v_null);
  -- A group has its values in the order in which they come.
  select array_agg(g.mask), array_agg(g.count), array_agg(g.joined)
  into p_column.dictionary, p_column.counts, v_joined
  from (
    select u.mask, count(*) as count, string_agg(u.v, v_separator) as joined
    from (select unnest(p_values) as v, unnest(v_masks) as mask) u
    where u.mask is not null
    group by u.mask
    order by count(*) desc, u.mask collate "C"
  ) g;
  if cardinality(p_column.dictionary) * 3 > cardinality(p_values) then
    return null;
  end if;
  p_column.wide_codes := logloom_private.codes_of(v_masks, p_column.dictionary);
  p_column.digits := logloom_private.cut_digits(p_column.dictionary, v_joined, v_separator);
  p_column.kind := 'masked';
  return p_column;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.encode_messages (
  p_chunk    logloom_private.sealed_chunks,
  p_services text[],
  p_levels   text[],
  p_messages text[],
  OUT        o_chunk logloom_private.sealed_chunks,
  OUT        o_order integer[]
)
  RETURNS record
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO ''
  SET work_mem TO '48MB'
  SET hash_mem_multiplier TO '8'
  AS $function$
declare
  v_joined text := array_to_string(p_messages, ' ');
  v_masks text[];
  v_texts text[];
begin
  o_chunk := p_chunk;
  o_chunk.separator := logloom_private.separator_for(v_joined);
  -- All in one text: nine calls, not nine a message.
  v_joined := array_to_string(p_messages, o_chunk.separator);
  v_masks := string_to_array(logloom_private.mask_of(v_joined), o_chunk.separator);
  -- Where some have no message, or the only one is empty.
  if cardinality(v_masks) <> p_chunk.records then
    v_masks := array(select logloom_private.mask_of(m) from unnest(p_messages) m);
  end if;
  -- Runs of an equal mask, and of an equal service and level. A group has its records in the order
  -- in which they come, which is that of ts and id.
  with k as (
    select
      unnest(p_services) as service, unnest(p_levels) as level, unnest(p_messages) as msg,
      unnest(v_masks) as mask, generate_series(1, p_chunk.records) as place
  ), g as materialized (
    select
      x.*,
      row_number() over (
        order by x.service collate "C", x.level collate "C", x.mask collate "C" nulls last
      ) as n
    from (
      select
        k.service, k.level, k.mask, count(*)::integer as records, array_agg(k.place) as places,
        string_agg(k.msg, o_chunk.separator) as texts
      from k
      group by k.service, k.level, k.mask
    ) x
  ), s as (
    select
      g.service, g.level, sum(g.records) as records, count(g.mask) as masks, min(g.n) as n,
      coalesce(
        sum(g.records * (octet_length(g.mask) - octet_length(replace(g.mask, '0', '')))), 0
      ) as digits,
      coalesce(string_agg(g.mask || o_chunk.separator, '' order by g.n), '') as texts
    from g
    group by g.service, g.level, g.mask is null
  ), sections as (
    select
      array_agg(s.service order by s.n) as services,
      array_agg(s.level order by s.n) as levels,
      array_agg(s.records order by s.n) as records,
      array_agg(s.masks order by s.n) as masks,
      array_agg(s.digits_before order by s.n) as digits,
      array_agg(s.texts order by s.n) as texts,
      array_agg(logloom_private.words_of(s.texts) order by s.n) as words
    from (
      select x.*, (sum(x.digits) over (order by x.n) - x.digits)::integer as digits_before from s x
    ) s
  ), groups as (
    select
      coalesce(array_agg(g.records order by g.n), '{}') as records,
      coalesce(array_agg(g.mask order by g.n), '{}') as masks,
      coalesce(array_agg(g.texts order by g.n), '{}') as texts
    from g
    where g.mask is not null
  )
  select
    s.services, s.levels, s.records, s.masks, s.digits, s.texts, s.words,
    g.records, g.masks, g.texts,
    array(select unnest(p.places) from (select g.places from g order by g.n) p)
  into
    o_chunk.section_services, o_chunk.section_levels, o_chunk.section_records,
    o_chunk.section_masks, o_chunk.section_digits, o_chunk.masks, o_chunk.section_words,
    o_chunk.mask_records, v_masks, v_texts, o_order
  from sections s, groups g;
  o_chunk.digits := logloom_private.cut_digits(v_masks, v_texts, o_chunk.separator);
  select
    coalesce(array_agg(m.records order by m.n), '{}'),
    coalesce(array_agg(m.digits order by m.n), '{}'),
    coalesce(array_agg(m.bytes order by m.n), '{}')
  into o_chunk.mark_records, o_chunk.mark_digits, o_chunk.mark_bytes
  from (
    select
      k.n, sum(k.count) over w - k.count as records,
      sum(k.count * k.digits) over w - k.count * k.digits as digits,
      sum(k.bytes) over w - k.bytes as bytes
    from (
      select
        u.*, octet_length(u.mask) + octet_length(o_chunk.separator) as bytes,
        octet_length(u.mask) - octet_length(replace(u.mask, '0', '')) as digits
      from (
        select
          unnest(v_masks) as mask, unnest(o_chunk.mask_records) as count,
          generate_series(1, cardinality(v_masks)) as n
      ) u
    ) k
    window w as (order by k.n rows unbounded preceding)
  ) m
  where m.n % 16 = 1;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.encode_times (
  p_chunk logloom_private.sealed_chunks,
  p_ts    timestamp with time zone[]
)
  RETURNS logloom_private.sealed_chunks
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO ''
  AS $function$
declare
  v_first constant timestamptz := p_chunk.first_ts;
  v_offsets bigint[] := array(
    select (date_part('epoch', unnest(p_ts) - v_first) * 1000000)::bigint
  );
  v_greatest bigint := logloom_private.microseconds_after(v_first, p_chunk.last_ts);
begin
  select case when bool_and(o.ts % 1000 = 0) then 1000 else 1 end
  into p_chunk.ts_unit
  from (select unnest(v_offsets) as ts) o;
  if p_chunk.ts_unit = 1000 then
    v_offsets := array(select unnest(v_offsets) / 1000);
    v_greatest := v_greatest / 1000;
  end if;
  p_chunk.ts_low := array(select ((unnest(v_offsets) & 65535) - 32768)::smallint);
  if v_greatest > 65535 then
    p_chunk.ts_middle := array(
      select ((unnest(v_offsets) >> 16 & 255)::integer - 128)::"char"
    );
  end if;
  if v_greatest > 16777215 then
    p_chunk.ts_high := array(select ((unnest(v_offsets) >> 24) - 32768)::smallint);
  end if;
  return p_chunk;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.fetched_records (
  p_sql text
)
  RETURNS SETOF public.logloom_log_record
  LANGUAGE plpgsql
  STABLE
  ROWS 100
  SET search_path TO ''
  AS $function$
begin
  return query execute p_sql;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.first_positions (
  p_chunk         logloom_private.sealed_chunks,
  p_positions     integer[],
  p_limit         integer,
  p_is_descending boolean,
  p_past          timestamp with time zone,
  p_from          timestamp with time zone      DEFAULT '-infinity'::timestamp WITH time zone,
  p_to            timestamp with time zone      DEFAULT 'infinity'::timestamp WITH time zone
)
  RETURNS integer[]
  LANGUAGE plpgsql
  STABLE
  SET search_path TO ''
  SET plan_cache_mode TO 'force_generic_plan'
  AS $function$
declare
  v_sign constant bigint := case when p_is_descending then -1 else 1 end;
  v_past constant bigint :=
    logloom_private.microseconds_after(p_chunk.first_ts, p_past) / p_chunk.ts_unit;
  v_range constant bigint[] := logloom_private.range_steps(p_chunk, p_from, p_to);
  v_positions integer[] := p_positions;
  v_steps bigint[];
  v_edge bigint;
begin
  if v_positions is null then
    v_positions := logloom_private.outer_positions(
      p_chunk, p_limit, p_is_descending, v_range[1], v_range[2],
      p_past is not null or case when p_is_descending then p_to <= p_chunk.last_ts
        else p_from > p_chunk.first_ts end
    );
  end if;
  v_steps := logloom_private.chunk_steps(p_chunk, v_positions);
  v_edge := (
    array(
      select s.step
      from unnest(v_steps) s (step)
      where s.step between v_range[1] and v_range[2] and s.step is distinct from v_past
      order by v_sign * s.step
      limit p_limit
    )
  )[p_limit];
  return array(
    select coalesce(v_positions[s.n], s.n::integer) as position
    from unnest(v_steps) with ordinality s (step, n)
    where s.step between v_range[1] and v_range[2]
      and (v_edge is null or v_sign * s.step <= v_sign * v_edge or s.step = v_past)
    order by position
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.forget_replacement (
  p_day date
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO ''
  AS $function$
declare
  v_copy constant text := logloom_private.remainder_name(p_day);
begin
  if to_regclass(format('logloom.%I', v_copy)) is not null then
    execute format('drop table logloom.%I', v_copy);
  end if;
  update logloom_private.sealing_days d
  set prepared_by = null,
    removed_records =
      case when logloom_private.partition_exists(p_day) then d.removed_records else 0 end
  where d.day = p_day;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.found_page (
  p_tenant_id text,
  p_query     logloom_private.compiled_query,
  p_range     tstzrange,
  p_limit     integer,
  p_order     text,
  p_ts        timestamp with time zone,
  p_id        uuid
)
  RETURNS logloom_private.found_page
  LANGUAGE plpgsql
  STABLE
  SET search_path TO ''
  AS $function$
declare
  v_deadline constant timestamptz := clock_timestamp() + (
    select s.search_turn from logloom_private.settings s
  );
  v_is_descending constant boolean := p_order = 'desc';
  v_is_spread constant boolean := logloom_private.is_spread();
  v_from timestamptz := greatest(lower(p_range), p_query.ts_from);
  v_to timestamptz := least(upper(p_range), p_query.ts_to);
  v_parts tstzrange[];
  v_part tstzrange;
  v_sql text;
  v_page logloom_private.found_page;
begin
  v_page.logs := '{}';
  if p_ts is not null and v_is_descending then
    v_to := least(v_to, p_ts + interval '1 microsecond');
  elsif p_ts is not null then
    v_from := greatest(v_from, p_ts);
  end if;
  v_parts := logloom_private.search_parts(p_tenant_id, v_from, v_to, p_order);
  -- The bound of an extraction is one of all that it reads.
  if jsonb_array_length(p_query.plan -> 'rows') > 0 and cardinality(v_parts) > 1 then
    v_parts := array[tstzrange(v_from, v_to)];
  end if;
  foreach v_part in array v_parts loop
    v_sql := logloom_private.log_page_sql(
      p_tenant_id, p_query, v_part, p_limit + 1 - cardinality(v_page.logs), p_order, p_ts, p_id,
      v_is_spread and cardinality(v_parts) = 1
    );
    -- Of a single part nothing is opened after it, and a node would be told of the subtransaction.
    if cardinality(v_parts) = 1 and v_is_spread then
      v_page.logs := array(select f from logloom_private.fetched_records(v_sql) f);
    elsif cardinality(v_parts) = 1 then
      execute 'select array(' || v_sql || ')' into v_page.logs;
    else
      v_page.logs := v_page.logs || logloom_private.read_apart(v_sql);
    end if;
    if cardinality(v_page.logs) > p_limit then
      v_page.logs := v_page.logs[1:p_limit];
      v_page.last_ts := (v_page.logs[p_limit]).ts;
      v_page.last_id := (v_page.logs[p_limit]).id;
      return v_page;
    elsif clock_timestamp() > v_deadline and v_part <> v_parts[cardinality(v_parts)] then
      -- Before or after all records of the parts that are left.
      if v_is_descending then
        v_page.last_ts := lower(v_part);
        v_page.last_id := '00000000-0000-0000-0000-000000000000';
      else
        v_page.last_ts := upper(v_part) - interval '1 microsecond';
        v_page.last_id := 'ffffffff-ffff-ffff-ffff-ffffffffffff';
      end if;
      return v_page;
    end if;
  end loop;
  return v_page;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.insert_records (
  p_slot       smallint,
  p_batch_from bigint,
  p_batch_to   bigint,
  p_index_from integer,
  p_index_to   integer,
  p_arrival    bigint
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO ''
  SET work_mem TO '64MB'
  AS $function$
declare
  v_slot constant text := 'queue_slot_' || p_slot;
begin
  -- Tenant by tenant, which packs the pages of the primary key, in the order that is cheapest to
  -- make; cast, so that what breaks a rule fails here.
  if not logloom_private.is_spread() then
    execute logloom_private.added_records_sql(format(
      $query$
        insert into logloom.logs as l (
          id, tenant_id, ts, received_at, arrival,
          level, msg, service, env, req_id, user_id, route, host, attrs
        )
        select
          (q.id_prefix || lpad(to_hex(e.i - 1), 4, '0'))::uuid,
          q.tenant_id, coalesce(e.ts, q.received_at) as ts, q.received_at, $5,
          e.level::logloom_private.log_level, e.msg, e.service, e.env, e.req_id, e.user_id,
          e.route, e.host, e.attrs::logloom_private.log_attrs
        from (
          -- Made once a batch, not once an event: that is what offset 0 is for.
          select b.*, left(b.batch_key::text, 32) as id_prefix
          from logloom_private.%I b
          where b.batch_id between $1 and $2
          offset 0
        ) q,
          unnest(
            q.ts, q.level, q.msg, q.service, q.env, q.req_id, q.user_id, q.route, q.host, q.attrs
          ) with ordinality e (
            ts, level, msg, service, env, req_id, user_id, route, host, attrs, i
          )
        where e.i between $3 and $4
        order by q.tenant_id collate "C", ts
      $query$,
      v_slot
    ))
    using p_batch_from, p_batch_to, p_index_from, p_index_to, p_arrival;
    return;
  end if;
  -- One connection a node, not one a shard: each run's are new, and cost more than they save.
  perform set_config('citus.multi_shard_modify_mode', 'sequential', true);
  -- The records first: what Citus copies over a connection that has only read before, it does not
  -- prepare, and a node that is killed while it is told of the commit would lose it. Batches are
  -- put in order, not events, each of which goes straight from its batch to its node.
  execute format(
    $query$
      insert into logloom.logs (
        id, tenant_id, ts, received_at, arrival,
        level, msg, service, env, req_id, user_id, route, host, attrs
      )
      select
        (e.id_prefix || lpad(to_hex(e.i - 1), 4, '0'))::uuid,
        e.tenant_id, coalesce(e.ts, e.received_at), e.received_at, $5,
        e.level::logloom_private.log_level, e.msg, e.service, e.env, e.req_id, e.user_id,
        e.route, e.host, e.attrs::logloom_private.log_attrs
      from (
        select
          q.id_prefix, q.tenant_id, q.received_at, generate_series(1, cardinality(q.ts)) as i,
          unnest(q.ts) as ts, unnest(q.level) as level, unnest(q.msg) as msg,
          unnest(q.service) as service, unnest(q.env) as env, unnest(q.req_id) as req_id,
          unnest(q.user_id) as user_id, unnest(q.route) as route, unnest(q.host) as host,
          unnest(q.attrs) as attrs
        from (
          select b.*, left(b.batch_key::text, 32) as id_prefix
          from logloom_private.%I b
          where b.batch_id between $1 and $2
          order by b.tenant_id collate "C", b.ts_min
          offset 0
        ) q
      ) e
      where e.i between $3 and $4
    $query$,
    v_slot
  )
  using p_batch_from, p_batch_to, p_index_from, p_index_to, p_arrival;
  perform logloom_private.note_spread_range(
    p_slot, p_batch_from, p_batch_to, p_index_from, p_index_to, p_arrival
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.log_columns_sql()
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO ''
  AS $function$
begin
  return 'l.id, l.tenant_id, l.ts, l.received_at, l.level, l.msg, l.service, l.env, l.req_id, '
    || 'l.user_id, l.route, l.host, l.attrs';
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.log_page_sql (
  p_tenant_id text,
  p_query     logloom_private.compiled_query,
  p_range     tstzrange,
  p_limit     integer,
  p_order     text,
  p_ts        timestamp with time zone       DEFAULT NULL::timestamp WITH time zone,
  p_id        uuid                           DEFAULT NULL::uuid,
  p_by_column boolean                        DEFAULT false
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO ''
  AS $function$
declare
  v_columns constant text := logloom_private.shown_columns_sql(p_query.plan -> 'fields');
  v_from timestamptz := greatest(lower(p_range), p_query.ts_from);
  v_to timestamptz := least(upper(p_range), p_query.ts_to);
  v_filter text := p_query.filter;
  v_is_staged constant boolean := coalesce(jsonb_array_length(p_query.plan -> 'rows') > 0, false);
  v_reads integer := p_limit;
  v_rows text;
begin
  -- The comparison of rows drives the index; the bound of ts leaves out partitions.
  if p_order = 'asc' and p_ts is not null then
    v_from := greatest(v_from, p_ts);
    v_filter := format('(l.ts, l.id) > (%L::timestamptz, %L::uuid) and ', p_ts, p_id) || v_filter;
  elsif p_ts is not null then
    v_to := least(v_to, p_ts + interval '1 microsecond');
    v_filter := format('(l.ts, l.id) < (%L::timestamptz, %L::uuid) and ', p_ts, p_id) || v_filter;
  end if;
  -- A filter after an extraction lets only some through.
  if v_is_staged and p_query.plan -> 'rows' @> '[{"stage": "where"}]' then
    v_reads := (select s.search_stage_records from logloom_private.settings s) + 1;
  end if;
  v_rows := logloom_private.first_records_sql(
    p_tenant_id, p_query, v_from, v_to, v_filter, v_reads, p_order, p_ts, p_id
  );
  if v_is_staged then
    v_rows := logloom_private.staged_sql(p_query, 'from (select l.* ' || v_rows || ') l')
      || format(' order by l.ts %1$s, l.id %1$s limit %2$s', p_order, p_limit);
  end if;
  return 'select ' || case
    when p_by_column then v_columns else 'row(' || v_columns || ')::public.logloom_log_record'
  end || ' ' || v_rows;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.log_record_sql()
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO ''
  AS $function$
begin
  return 'row(' || logloom_private.log_columns_sql() || ')::public.logloom_log_record';
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.mask_counts_sql (
  p_tree jsonb
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO ''
  AS $function$
declare
  v_test constant text := logloom_private.masks_sql(p_tree);
begin
  if v_test is null then
    return null;
  elsif v_test !~ '\ml\.(?:msg|folded)\M' then
    return $query$
      select l.service, l.level, sum(l.records)::bigint
      from logloom_private.sealed_chunks c
      cross join lateral unnest(c.section_services, c.section_levels, c.section_records)
        l (service, level, records)
      where c.tenant_id = $1 and c.chunk_id = any($2) and $query$ || v_test || $query$
      group by l.service, l.level
    $query$;
  end if;
  -- "|| '{}'" reads a stored array once, "offset 0" keeps it for all that use it. The masks are
  -- read where the words of a section say that it may have one.
  return format(
    $query$
      select l.service, l.level, sum(l.count)::bigint
      from (
        select
          x.*, x.stored_masks || '{}'::text[] as masks,
          x.stored_mask_records || '{}'::integer[] as mask_records
        from (
          select
            c.separator, c.section_services, c.section_levels, c.section_records, c.section_masks,
            c.masks as stored_masks, c.mask_records as stored_mask_records,
            array(
              select l.n::integer
              from unnest(c.section_services, c.section_levels, c.section_words)
                with ordinality l (service, level, words, n)
              where %1$s
              order by l.n
            ) as found
          from logloom_private.sealed_chunks c
          where c.tenant_id = $1 and c.chunk_id = any($2) and logloom_private.take_turn()
          offset 0
        ) x
        where x.found <> '{}'
        offset 0
      ) c
      cross join lateral (
        select l.*, (
          select sum(u.masks)::integer from unnest(c.section_masks[1:l.n]) u (masks)
        ) as last
        from (
          select
            f.n, c.section_services[f.n] as service, c.section_levels[f.n] as level,
            c.section_records[f.n] as records, c.section_masks[f.n] as mask_count,
            c.masks[f.n] as masks, %2$s as folded
          from unnest(c.found) f (n)
          offset 0
        ) l
        where %3$s
        offset 0
      ) s
      cross join lateral (
        select s.service, s.level, u.msg, u.folded, u.count
        from unnest(%4$s, %5$s, c.mask_records[s.last - s.mask_count + 1:s.last])
          u (msg, folded, count)
        where s.mask_count > 0 and u.count is not null
        union all
        select s.service, s.level, null, null, s.records
        where s.mask_count = 0
      ) l
      where %6$s
      group by l.service, l.level
    $query$,
    logloom_private.sections_sql(p_tree, true),
    case when v_test ~ '\ml\.folded\M' then 'lower(c.masks[f.n] collate pg_c_utf8)'
      else 'null::text' end,
    logloom_private.sections_sql(p_tree, false),
    case when v_test ~ '\ml\.msg\M' then 'string_to_array(s.masks, c.separator)'
      else 'null::text[]' end,
    case when v_test ~ '\ml\.folded\M' then 'string_to_array(s.folded, c.separator)'
      else 'null::text[]' end,
    v_test
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.masked_texts (
  p_column    logloom_private.sealed_columns,
  p_positions integer[]
)
  RETURNS text[]
  LANGUAGE plpgsql
  STABLE
  PARALLEL SAFE
  SET search_path TO ''
  SET plan_cache_mode TO 'force_generic_plan'
  SET work_mem TO '32MB'
  AS $function$
declare
  v_first constant integer := p_column.first - 1;
  v_dictionary text[] := p_column.dictionary;
  v_digits bytea := p_column.digits || ''::bytea;
  v_codes "char"[] := p_column.codes;
  v_wide_codes smallint[] := p_column.wide_codes;
  v_at constant integer[] := array(select p - v_first from unnest(p_positions) p);
  v_found integer[];
  v_wanted integer[];
  v_numbers integer[];
  v_places integer[];
  v_texts text[];
begin
  if p_positions is not null then
    v_found := array(
      select
        case when v_codes is null and v_wide_codes is null then 1
          else coalesce(v_codes[p.place]::integer + 129, v_wide_codes[p.place]) end
      from unnest(v_at) with ordinality p (place, n)
      order by p.n
    );
    -- A mask without digits is the value.
    v_wanted := array(
      select d.code
      from (select distinct f from unnest(v_found) f) d (code)
      where strpos(v_dictionary[d.code], '0') > 0
      order by d.code
    );
    -- Before a value stand the digits of the masks of lower codes and those of its own mask at
    -- lower positions.
    return array(
      with lower as (
        select l.n, sum(sum(l.digits)) over (order by l.n) as digits
        from (
          -- How many of the codes that are found are not above this one.
          select
            width_bucket(d.code::integer, v_wanted) as n,
            d.count * (octet_length(d.mask) - octet_length(replace(d.mask, '0', ''))) as digits
          from unnest(v_dictionary, p_column.counts) with ordinality d (mask, count, code)
          where d.code < v_wanted[cardinality(v_wanted)]
        ) l
        group by l.n
      ), places as (
        -- To look for one code takes a twentieth of what it takes to gather the places of all.
        select
          d.code,
          case when v_codes is null then array_positions(v_wide_codes, d.code::smallint)
            else array_positions(v_codes, (d.code - 129)::"char") end as places
        from unnest(v_wanted) d (code)
        where cardinality(v_wanted) <= 20
        union all
        select a.code, array_agg(a.place order by a.place)
        from (
          select
            coalesce(u.code::integer + 129, u.wide_code) as code, u.place
          from (
            select
              unnest(v_codes) as code, unnest(v_wide_codes) as wide_code,
              generate_series(1, coalesce(cardinality(v_codes), cardinality(v_wide_codes)))
                as place
          ) u
        ) a
        join unnest(v_wanted) d (code) on d.code = a.code
        where cardinality(v_wanted) > 20
        group by a.code
      ), masks as materialized (
        select
          d.code, octet_length(d.mask) - octet_length(replace(d.mask, '0', '')) as digits,
          coalesce(l.digits, 0)::integer as before, p.places
        from (
          select u.code, v_dictionary[u.code] as mask, u.n
          from unnest(v_wanted) with ordinality u (code, n)
          offset 0
        ) d
        left join lower l on l.n = d.n - 1
        left join places p on p.code = d.code
      ), found as (
        select
          f.n, v_dictionary[f.code] as mask, m.digits,
          m.before + m.digits * (coalesce(width_bucket(f.place, m.places), f.place) - 1) as place
        from unnest(v_found, v_at) with ordinality f (code, place, n)
        left join masks m on m.code = f.code
        offset 0
      )
      select
        case
          when f.digits is null then f.mask
          else format(
            replace(replace(f.mask, '%', '%%'), '0', '%s'),
            variadic string_to_array(
              substr(
                encode(substring(v_digits from f.place / 2 + 1 for f.digits / 2 + 1), 'hex'),
                1 + f.place % 2, f.digits
              ),
              null
            )
          )
        end
      from found f
      order by f.n
    );
  end if;
  -- The digits lie in the order of (code, position).
  v_texts := logloom_private.fill_masks(
    v_dictionary, p_column.counts, encode(v_digits, 'hex'), e'\x1f'
  );
  if v_codes is not null then
    v_numbers := array(select unnest(v_codes)::integer + 129);
  else
    v_numbers := v_wide_codes::integer[];
  end if;
  if v_numbers is not null then
    v_places := array(
      select c.place
      from (
        select unnest(v_numbers) as code, generate_series(1, cardinality(v_numbers)) as place
      ) c
      -- Positions without a value come last, where no text is left.
      order by c.code, c.place
    );
    v_texts := array(
      select t.value
      from (select unnest(v_texts) as value, unnest(v_places) as place) t
      order by t.place
    );
  end if;
  return v_texts;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.note_spread_days (
  p_tenant_ids text[],
  p_days       date[],
  p_arrival    bigint
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO ''
  AS $function$
declare
  v_noted_tenant_ids text[];
  v_noted_days date[];
  v_new_tenant_ids text[];
  v_new_days date[];
begin
  insert into logloom_private.log_arrivals (arrival, day)
  select distinct p_arrival, d.day
  from unnest(p_days) d (day)
  on conflict do nothing;
  -- By itself: with arrays to compare with, each would be written into the statement as a text.
  select array_agg(d.tenant_id), array_agg(d.day) into v_noted_tenant_ids, v_noted_days
  from logloom_private.log_days d
  where d.tenant_id = any (p_tenant_ids) and d.day = any (p_days);
  -- Nearly always all of them are noted.
  select array_agg(n.tenant_id), array_agg(n.day) into v_new_tenant_ids, v_new_days
  from (
    select a.tenant_id, a.day from unnest(p_tenant_ids, p_days) a (tenant_id, day)
    except
    select d.tenant_id, d.day from unnest(v_noted_tenant_ids, v_noted_days) d (tenant_id, day)
  ) n;
  if v_new_days is not null then
    insert into logloom_private.log_days (tenant_id, day)
    select n.tenant_id, n.day
    from unnest(v_new_tenant_ids, v_new_days) n (tenant_id, day)
    order by 1, 2
    on conflict do nothing;
  end if;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.note_spread_range (
  p_slot       smallint,
  p_batch_from bigint,
  p_batch_to   bigint,
  p_index_from integer,
  p_index_to   integer,
  p_arrival    bigint
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO ''
  SET work_mem TO '64MB'
  AS $function$
declare
  v_slot constant text := 'queue_slot_' || p_slot;
  v_tenant_ids text[];
  v_days date[];
begin
  -- A batch within a day says itself which day it is.
  execute format(
    $query$
      select array_agg(d.tenant_id), array_agg(d.day)
      from (
        select q.tenant_id, (q.ts_min at time zone 'UTC')::date as day
        from logloom_private.%1$I q
        where q.batch_id between $1 and $2 and cardinality(q.ts) >= $3
          and (q.ts_min at time zone 'UTC')::date = (q.ts_max at time zone 'UTC')::date
        union
        select q.tenant_id, (coalesce(e.ts, q.received_at) at time zone 'UTC')::date
        from logloom_private.%1$I q, unnest(q.ts[$3:$4]) e (ts)
        where q.batch_id between $1 and $2
          and (q.ts_min at time zone 'UTC')::date < (q.ts_max at time zone 'UTC')::date
      ) d
    $query$,
    v_slot
  )
  into v_tenant_ids, v_days
  using p_batch_from, p_batch_to, p_index_from, p_index_to;
  perform logloom_private.note_spread_days(v_tenant_ids, v_days, p_arrival);
  execute 'insert into logloom_private.log_counts '
    || '(tenant_id, minute, service, level, is_other, events) '
    || logloom_private.added_counts_sql(format(
      $query$
        (
          select
            e.tenant_id, date_bin('1 minute', coalesce(e.ts, e.received_at), 'epoch') as minute,
            e.service, e.level, count(*) as events
          from (
            select
              q.tenant_id, q.received_at, generate_series(1, cardinality(q.ts)) as i,
              unnest(q.ts) as ts, unnest(q.service) as service, unnest(q.level) as level
            from logloom_private.%I q
            where q.batch_id between $1 and $2
          ) e
          where e.i between $3 and $4
          group by 1, 2, 3, 4
        )
      $query$,
      v_slot
    ))
  using p_batch_from, p_batch_to, p_index_from, p_index_to;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.outer_positions (
  p_chunk         logloom_private.sealed_chunks,
  p_limit         integer,
  p_is_descending boolean,
  p_from          bigint,
  p_to            bigint,
  p_is_cut        boolean
)
  RETURNS integer[]
  LANGUAGE plpgsql
  STABLE
  SET search_path TO ''
  SET plan_cache_mode TO 'force_generic_plan'
  AS $function$
declare
  v_upper "char"[] := p_chunk.ts_middle;
  -- Of a chunk of more than some hours.
  v_high smallint[] := p_chunk.ts_high;
  v_size constant bigint := case when v_high is null then 65536 else 16777216 end;
  v_least constant integer := case when v_high is null then 128 else 32768 end;
  v_last constant bigint := logloom_private.microseconds_after(
    p_chunk.first_ts, p_chunk.last_ts
  ) / p_chunk.ts_unit;
  v_greatest constant bigint := v_last / v_size;
  v_outermost constant bigint := case when p_is_descending then least(p_to, v_last)
    else greatest(p_from, 0) end / v_size;
  v_innermost constant bigint := case when p_is_descending then greatest(p_from, 0)
    else least(p_to, v_last) end / v_size;
  -- As many of these values as hold twice as many records, were they spread evenly.
  v_values constant bigint := least(
    abs(v_innermost - v_outermost) + 1,
    ceil(2.0 * p_limit * (v_greatest + 1) / p_chunk.records) + p_is_cut::integer
  );
  v_value integer;
  v_found integer[];
  v_positions integer[] := '{}';
  v_count integer := 0;
begin
  if v_upper is null or v_values > v_greatest then
    return null;
  end if;
  if v_values <= 10 then
    for v_at in 0..least(abs(v_innermost - v_outermost), 19) loop
      v_value := v_outermost + case when p_is_descending then -v_at else v_at end;
      v_found := case when v_high is null
        then array_positions(v_upper, (v_value - v_least)::"char")
        else array_positions(v_high, (v_value - v_least)::smallint) end;
      v_positions := v_positions || v_found;
      v_count := v_count
        + case when v_at = 0 and p_is_cut then 0 else cardinality(v_found) end;
      exit when v_count >= p_limit;
    end loop;
  else
    v_value := v_outermost + (v_values - 1) * case when p_is_descending then -1 else 1 end;
    select
      array_agg(v.n),
      count(*) filter (where not p_is_cut or v.value <> v_outermost)
    into v_positions, v_count
    from (
      select
        i.n,
        -- As numbers: bytes have no sign.
        v_least
          + case when v_high is null then v_upper[i.n]::integer else v_high[i.n] end as value
      from generate_series(1, p_chunk.records) i (n)
      offset 0
    ) v
    where v.value between least(v_value, v_outermost) and greatest(v_value, v_outermost);
  end if;
  return case when v_count >= p_limit or v_value = v_innermost
    then coalesce(v_positions, '{}') end;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.prepare_replacement (
  p_day date
)
  RETURNS boolean
  LANGUAGE plpgsql
  SET search_path TO ''
  SET "TimeZone" TO 'UTC'
  AS $function$
declare
  v_partition constant text := logloom_private.partition_name(p_day);
  v_copy constant text := logloom_private.remainder_name(p_day);
  v_day logloom_private.sealing_days;
  v_records bigint;
  v_arrival bigint;
begin
  perform logloom_private.forget_replacement(p_day);
  if not logloom_private.partition_exists(p_day) then
    return false;
  end if;
  select d.* into v_day from logloom_private.sealing_days d where d.day = p_day for update;
  execute format('select count(*), max(l.arrival) from only logloom.%I l', v_partition)
  into v_records, v_arrival;
  if v_day.removed_records = 0 or v_day.removed_records < v_records / 4 then
    return false;
  end if;
  if v_records > 0 then
    execute format('create table logloom.%I (like logloom.logs including all)', v_copy);
    execute format('alter table logloom.%I enable row level security', v_copy);
    execute format('alter table logloom.%I force row level security', v_copy);
    execute format(
      'insert into logloom.%I select l.* from only logloom.%I l order by l.tenant_id, l.ts, l.id',
      v_copy, v_partition
    );
    get diagnostics v_records = row_count;
    -- With it, attaching need not read the table.
    execute format(
      'alter table logloom.%I add constraint logs_remaining_day '
        || 'check (ts >= %L::timestamptz and ts < %L::timestamptz)',
      v_copy, p_day::timestamp at time zone 'UTC', (p_day + 1)::timestamp at time zone 'UTC'
    );
  end if;
  update logloom_private.sealing_days d
  set prepared_by = pg_current_xact_id(),
    prepared_records = v_records,
    prepared_arrival = v_arrival
  where d.day = p_day;
  return true;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.range_bits (
  p_chunk logloom_private.sealed_chunks,
  p_bits  bit varying,
  p_from  timestamp with time zone,
  p_to    timestamp with time zone
)
  RETURNS bit varying
  LANGUAGE plpgsql
  STABLE
  SET search_path TO ''
  AS $function$
declare
  v_range constant bigint[] := logloom_private.range_steps(p_chunk, p_from, p_to);
  v_positions integer[];
begin
  if bit_count(p_bits) * 4 < p_chunk.records then
    v_positions := logloom_private.bit_positions(p_bits);
    return logloom_private.position_bits(
      array(
        select s.position
        from unnest(v_positions, logloom_private.chunk_steps(p_chunk, v_positions))
          with ordinality s (position, step, n)
        where s.step between v_range[1] and v_range[2]
        order by s.n
      ),
      p_chunk.records
    );
  end if;
  return p_bits & (
    select string_agg(
      case when s.step between v_range[1] and v_range[2] then '1' else '0' end, '' order by s.n
    )::varbit
    from unnest(logloom_private.chunk_steps(p_chunk, null)) with ordinality s (step, n)
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.range_steps (
  p_chunk logloom_private.sealed_chunks,
  p_from  timestamp with time zone,
  p_to    timestamp with time zone
)
  RETURNS bigint[]
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO ''
  AS $function$
begin
  -- Bounds beyond the chunk may be infinite.
  return array[
    (
      logloom_private.microseconds_after(p_chunk.first_ts, greatest(p_from, p_chunk.first_ts))
        + p_chunk.ts_unit - 1
    ) / p_chunk.ts_unit,
    (
      logloom_private.microseconds_after(
        p_chunk.first_ts,
        least(greatest(p_to, p_chunk.first_ts), p_chunk.last_ts + interval '1 microsecond')
      ) + p_chunk.ts_unit - 1
    ) / p_chunk.ts_unit - 1
  ];
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.reads_sealed (
  p_tenant_id text,
  p_from      timestamp with time zone,
  p_to        timestamp with time zone
)
  RETURNS boolean
  LANGUAGE plpgsql
  STABLE
  SET search_path TO ''
  AS $function$
begin
  -- To ask a node costs a small search a sixth, and only days that are over are sealed.
  if p_from >= logloom_private.day_start(logloom_private.utc_day(clock_timestamp()))
    and logloom_private.is_spread()
  then
    return false;
  end if;
  perform
  from logloom_private.sealed_chunks c
  where c.tenant_id = p_tenant_id and c.last_ts >= p_from and c.first_ts < p_to
  limit 1;
  return found;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.replace_partition (
  p_day date
)
  RETURNS text
  LANGUAGE plpgsql
  SET search_path TO ''
  SET "TimeZone" TO 'UTC'
  AS $function$
declare
  v_partition constant text := logloom_private.partition_name(p_day);
  v_copy constant text := logloom_private.remainder_name(p_day);
  v_lock_wait text;
  v_day logloom_private.sealing_days;
  v_records bigint;
  v_arrival bigint;
begin
  select d.* into v_day from logloom_private.sealing_days d where d.day = p_day;
  if logloom_private.has_older_snapshot(v_day.prepared_by)
    or logloom_private.has_older_snapshot(v_day.removed_by)
  then
    return 'waiting';
  end if;
  begin
    v_lock_wait := logloom_private.limit_lock_wait(
      (select s.partition_drop_lock_timeout from logloom_private.settings s)
    );
    perform pg_advisory_xact_lock(logloom_private.lock_key('deletion'));
    perform pg_advisory_xact_lock(logloom_private.lock_key('writer'));
    perform logloom_private.lock_partitions();
    -- Retention drops a day of which nobody has a row, and one that nobody keeps.
    if not logloom_private.partition_exists(p_day) then
      perform logloom_private.forget_replacement(p_day);
      perform logloom_private.restore_lock_wait(v_lock_wait);
      return 'dropped';
    end if;
    execute format('select count(*), max(l.arrival) from only logloom.%I l', v_partition)
    into v_records, v_arrival;
    if v_records <> v_day.prepared_records or v_arrival is distinct from v_day.prepared_arrival then
      perform logloom_private.forget_replacement(p_day);
      perform logloom_private.restore_lock_wait(v_lock_wait);
      return 'changed';
    end if;
    -- From here on every reader of logloom.logs waits for the commit.
    execute format('drop table logloom.%I', v_partition);
    if v_records > 0 then
      execute format('alter table logloom.%I rename to %I', v_copy, v_partition);
      execute format(
        'alter table logloom.logs attach partition logloom.%I for values from (%L) to (%L)',
        v_partition, p_day::timestamp at time zone 'UTC',
        (p_day + 1)::timestamp at time zone 'UTC'
      );
      execute format('alter table logloom.%I drop constraint logs_remaining_day', v_partition);
    end if;
    update logloom_private.sealing_days d
    set removed_records = 0, prepared_by = null
    where d.day = p_day;
    perform logloom_private.restore_lock_wait(v_lock_wait);
    return 'replaced';
  exception when lock_not_available then
    return 'busy';
  end;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.sealed_page (
  p_tenant_id text,
  p_from      timestamp with time zone,
  p_to        timestamp with time zone,
  p_tree      jsonb,
  p_filter    text,
  p_limit     integer,
  p_order     text,
  p_ts        timestamp with time zone,
  p_id        uuid,
  p_reads     text                     DEFAULT NULL::text
)
  RETURNS SETOF logloom.logs
  LANGUAGE plpgsql
  STABLE
  ROWS 100
  SET search_path TO ''
  SET jit TO 'off'
  AS $function$
declare
  v_is_descending constant boolean := p_order = 'desc';
  v_fields constant text[] := logloom_private.fields_read(p_filter);
  v_keys constant text[] := logloom_private.keys_read(p_filter);
  v_shown constant text[] := logloom_private.fields_read(p_reads || ' l.ts l.id');
  v_shown_keys constant text[] := logloom_private.keys_read(p_reads);
  v_chunk logloom_private.sealed_chunks;
  v_bits varbit;
  v_positions integer[];
  v_times timestamptz[];
  v_best timestamptz[] := '{}';
  v_edge timestamptz;
begin
  for v_chunk in
    select c.*
    from logloom_private.sealed_chunks c
    where c.tenant_id = p_tenant_id
      and c.chunk_id in (
        select logloom_private.candidate_chunks(p_tenant_id, p_from, p_to, p_tree)
      )
    order by
      case when v_is_descending then c.last_ts end desc,
      case when not v_is_descending then c.first_ts end
  loop
    -- The page is full, and nothing of this chunk and of those after it can come before its end.
    exit when case when v_is_descending then v_chunk.last_ts < v_edge
      else v_chunk.first_ts > v_edge end;
    -- Null: all of them.
    v_positions := null;
    if p_tree ->> 'type' = 'all' then
      perform logloom_private.take_turn();
    else
      v_bits := logloom_private.chunk_bits(
        v_chunk, p_tree, p_filter, v_fields, v_keys, p_from, p_to
      );
      continue when bit_count(v_bits) = 0;
      if bit_count(v_bits) < v_chunk.records then
        v_positions := logloom_private.bit_positions(v_bits);
      end if;
    end if;
    v_positions := logloom_private.first_positions(
      v_chunk, v_positions, p_limit, v_is_descending, p_ts, p_from, p_to
    );
    continue when v_positions = '{}';
    v_times := logloom_private.chunk_times(v_chunk, v_positions);
    -- Records of the page before, of the same ts as its last, are more than p_limit.
    v_best := array(
      select t
      from unnest(v_best || v_times) t
      where p_ts is null or t <> p_ts
      order by
        case when v_is_descending then t end desc,
        case when not v_is_descending then t end
      limit p_limit
    );
    v_edge := v_best[p_limit];
    v_positions := array(
      select p.position
      from unnest(v_positions, v_times) with ordinality p (position, ts, n)
      where v_edge is null or case when v_is_descending then p.ts >= v_edge else p.ts <= v_edge end
      order by p.n
    );
    return query
    select r.*
    from logloom_private.sealed_records(
      v_chunk, case when cardinality(v_positions) < v_chunk.records then v_positions end,
      v_shown, v_shown_keys
    ) r
    where p_ts is null
      or case when v_is_descending then (r.ts, r.id) < (p_ts, p_id)
        else (r.ts, r.id) > (p_ts, p_id) end;
  end loop;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.shown_columns_sql (
  p_fields jsonb
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO ''
  AS $function$
declare
  v_attrs constant jsonb := jsonb_path_query_array(p_fields, '$[*] ? (@.field == "attrs")');
begin
  if p_fields is null then
    return logloom_private.log_columns_sql();
  end if;
  return 'l.id, l.tenant_id, l.ts, ' || (
    select string_agg(
      case
        when p_fields @> jsonb_build_array(jsonb_build_object('field', c.name))
          then 'l.' || c.name
        when c.name = 'received_at' then 'null::timestamptz'
        else 'null::text'
      end,
      ', ' order by c.n
    )
    from unnest(array[
      'received_at', 'level', 'msg', 'service', 'env', 'req_id', 'user_id', 'route', 'host'
    ]) with ordinality c (name, n)
  ) || ', ' || case
    when jsonb_array_length(v_attrs) = 0 then 'null::jsonb'
    else 'logloom_private.pick_attrs(l.attrs, ' || quote_literal(v_attrs) || ')'
  end;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.store_column (
  p_tenant_id text,
  p_chunk_id  bigint,
  p_name      text,
  p_first     integer,
  p_values    text[]
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO ''
  AS $function$
declare
  v_column logloom_private.sealed_columns;
  v_first integer;
  v_last integer;
begin
  if p_first = 1 and p_name <> 'attrs'
    and (p_values[1] is null or p_values[cardinality(p_values)] is null)
  then
    -- Without what is null at its beginning and end.
    select min(u.n), max(u.n) into v_first, v_last
    from (select unnest(p_values) as v, generate_series(1, cardinality(p_values)) as n) u
    where u.v is not null;
    if v_first is null then
      return;
    end if;
    v_column := logloom_private.encode_column(p_name, v_first, p_values[v_first:v_last]);
  else
    v_column := logloom_private.encode_column(p_name, p_first, p_values);
  end if;
  if v_column.kind is not null then
    v_column.tenant_id := p_tenant_id;
    v_column.chunk_id := p_chunk_id;
    if p_name in ('req_id', 'user_id') then
      if v_column.kind <> 'dictionary' then
        v_column.filter := logloom_private.value_filter(p_values);
      elsif cardinality(v_column.dictionary) > 256 then
        v_column.filter := logloom_private.value_filter(v_column.dictionary);
      end if;
    end if;
    insert into logloom_private.sealed_columns select v_column.*;
  end if;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.value_filter (
  p_values text[]
)
  RETURNS bytea
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO ''
  SET work_mem TO '32MB'
  AS $function$
declare
  -- One value in forty of those that are not there looks as if it were.
  v_size constant integer := 8 * ((12 * cardinality(p_values) + 7) / 8);
begin
  -- The bits as they lie, after their number.
  return substring(
    varbit_send(logloom_private.position_bits(
      array(
        -- What filter_places says of each, without a call a value.
        select distinct b.place
        from (
          select unnest(array[
            (h.hash & 2147483647) % v_size + 1, (h.hash >> 32 & 2147483647) % v_size + 1
          ])::integer as place
          from (
            select hashtextextended(v.value, 0) as hash
            from (select unnest(p_values) as value) v
            where v.value is not null
          ) h
        ) b
        order by b.place
      ),
      v_size
    ))
    from 5
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.words_of (
  p_text text
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO ''
  AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION logloom_private.words_sql (
  p_literal text
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO ''
  AS $function$
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
$function$;

COMMENT ON FUNCTION "logloom_private"."codes_of"(text[], text[]) IS 'Of each value its place in the dictionary, null where it is null.';

COMMENT ON FUNCTION "logloom_private"."cut_words"(text) IS 'A text in lower case, cut at what stands in ASCII beside letters; empty at an end where it is cut there.';

COMMENT ON FUNCTION "logloom_private"."fetched_records"(text) IS 'The records that SQL selects, column after column: a node sends columns as they are, and a composite as a text, which costs both sides more.';

COMMENT ON FUNCTION "logloom_private"."first_positions"(logloom_private.sealed_chunks, integer[], integer, boolean, timestamp with time zone, timestamp with time zone, timestamp
  with time zone) IS 'Ascending positions of a chunk''s p_limit records of [p_from, p_to) with the first ts in an order, and of all that have the last one''s ts; those with the ts p_past besides, which lies at or beyond the range''s end that the order begins with.';

COMMENT ON FUNCTION "logloom_private"."forget_replacement"(date) IS 'Drops the copy of what is left of a day. Of a day without a partition nothing is to be given back.';

COMMENT ON FUNCTION "logloom_private"."note_spread_days"(text[], date[], bigint) IS 'Keeps days and arrivals of records that the caller inserts in this transaction, holding the lock writer: what added_records_sql does, for records on nodes.';

COMMENT ON FUNCTION "logloom_private"."note_spread_range"(smallint, bigint, bigint, integer, integer, bigint) IS 'Keeps counts, days and arrivals of records that insert_records, with the same parameters, sends to nodes.';

COMMENT ON FUNCTION "logloom_private"."range_bits"(logloom_private.sealed_chunks, bit varying, timestamp with time zone, timestamp with time zone) IS 'Those of the bits whose records are in [p_from, p_to).';

COMMENT ON FUNCTION "logloom_private"."range_steps"(logloom_private.sealed_chunks, timestamp with time zone, timestamp with time zone) IS 'The first and the last step of ts that [p_from, p_to) may have in a chunk; the first is greater where it has none.';

COMMENT ON FUNCTION "logloom_private"."replace_partition"(date) IS 'Puts the copy in the place of a day''s partition, or nothing where nothing is left. replaced; waiting: an older snapshot is held; dropped: the partition went meanwhile; changed: begin again; busy: readers or the writer hold it.';

COMMENT ON FUNCTION "logloom_private"."words_of"(text) IS 'The words of a text, each once, between blanks. Null where they are more than a quarter of the text.';

REVOKE ALL ON FUNCTION "logloom_private"."codes_of"(text[], text[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."cut_words"(text) FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."fetched_records"(text) FROM PUBLIC;

REVOKE ALL
  ON FUNCTION "logloom_private"."first_positions"(logloom_private.sealed_chunks, integer[], integer, boolean, timestamp WITH time zone, timestamp WITH time zone, timestamp
    WITH time zone)
  FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."forget_replacement"(date) FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."log_columns_sql"() FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."log_page_sql"(text, logloom_private.compiled_query, tstzrange, integer, text, timestamp WITH time zone, uuid, boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."note_spread_days"(text[], date[], bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."outer_positions"(logloom_private.sealed_chunks, integer, boolean, bigint, bigint, boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."range_bits"(logloom_private.sealed_chunks, bit varying, timestamp WITH time zone, timestamp WITH time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."range_steps"(logloom_private.sealed_chunks, timestamp WITH time zone, timestamp WITH time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."shown_columns_sql"(jsonb) FROM PUBLIC;
