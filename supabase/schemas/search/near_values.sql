-- Finds names, values and words like those of a query that found nothing.

-- Returns the services of a query's scope by the stored counts. Null if these cannot answer.
create function logloom_private.counted_services(
  p_tenant_id text,
  p_scoped logloom_private.compiled_query
)
returns text[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_counts logloom_private.sql_source;
  v_services text[];
begin
  p_scoped.aggregate := 'count';
  p_scoped.by_fields := '{service}';
  v_counts := logloom_private.counted_rows_sql(
    p_tenant_id, p_scoped, p_scoped.ts_from, p_scoped.ts_to
  );
  if v_counts.from_sql is not null then
    v_counts.max_rows := 20000;
    execute format(
      'select array(select distinct l.service from (select l.service %s) l '
        || 'where length(l.service) <= 60 limit 500)',
      logloom_private.source_sql(v_counts)
    )
    into v_services;
  end if;
  return v_services;
end;
$$;

-- Returns the name or value of p_known that p_text probably means, or null. Ignores case and
-- punctuation; accepts one or two wrong letters, a part of a word, and the synonyms in v_groups.
create function logloom_private.near_text(p_text text, p_known text[])
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  -- A group has names that logging libraries and collectors use for the same attribute.
  v_groups constant text[] := array[
    ' status statuscode httpstatus httpstatuscode httpresponsestatuscode responsestatus '
      || 'responsestatuscode responsecode code scstatus ',
    ' duration durationms latency latencyms elapsed elapsedms took tookms responsetime '
      || 'responsetimems requesttime requestduration timems eventduration time ms ',
    ' method httpmethod httprequestmethod requestmethod verb csmethod ',
    ' useragent httpuseragent useragentoriginal agent ua browser ',
    ' clientip ip remoteaddr remoteip remotehost sourceip srcip clientaddress sourceaddress '
      || 'networkclientip addr src ',
    ' bytes size bytessent responsebytes responsesize bodybytessent contentlength networkbytes '
      || 'httpresponsebodybytes ',
    ' referer referrer httpreferer httprequestreferrer ',
    ' error err exception errormessage exceptionmessage errortype exceptiontype ',
    ' thread threadname tid threadid ', ' pid processid procid ', ' logger loggername class '
  ];
  v_plain constant text :=
    regexp_replace(lower(p_text), '^(?:http|event|log)[._]|[^[:alnum:]]', '', 'g');
begin
  return (
    select k.name
    from unnest(p_known) k (name)
    cross join lateral regexp_replace(
      lower(k.name), '^(?:http|event|log)[._]|[^[:alnum:]]', '', 'g'
    ) plain
    cross join lateral (
      select case
        when plain = v_plain then 0
        when exists (
          select from unnest(v_groups) g
          where strpos(g, ' ' || plain || ' ') > 0 and strpos(g, ' ' || v_plain || ' ') > 0
        ) then 1
        when length(plain) between 2 and 30 and length(v_plain) between 3 and 30
          and abs(length(plain) - length(v_plain)) <= 2
          and logloom_private.query_distance(v_plain, plain)
            <= case when length(v_plain) < 8 then 1 else 2 end then 2
        when least(length(plain), length(v_plain)) >= 3
          and (starts_with(plain, v_plain) or starts_with(v_plain, plain)) then 3
        when least(length(plain), length(v_plain)) >= 4
          and (strpos(plain, v_plain) > 0 or strpos(v_plain, plain) > 0) then 4
      end as place
    ) m
    where m.place is not null
    order by m.place, abs(length(plain) - length(v_plain)), k.name
    limit 1
  );
end;
$$;

-- Suggests a comparison with a plain number instead of one with a unit: @duration_ms:>1s.
create function logloom_private.plain_comparison(p_leaf jsonb)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_name constant text := p_leaf ->> 'name';
  v_bounds constant jsonb := p_leaf -> 'bounds';
  v_factor constant numeric := case
    when v_bounds ->> 'unit' = 'bytes' then 1
    when v_name ~ '(?:[_.-]ms|@ms|[a-z]Ms|millis|milliseconds)$' then 1e3
    when v_name ~ '(?:[_.-]us|[a-z]Us|micros|microseconds)$' then 1e6
    when v_name ~ '(?:[_.-]ns|[a-z]Ns|nanos|nanoseconds)$' then 1e9
    else 1 end;
  v_lower constant text := trim_scale((v_bounds ->> 'lower')::numeric * v_factor);
  v_upper constant text := trim_scale((v_bounds ->> 'upper')::numeric * v_factor);
begin
  return v_name || ':' || case
    when v_upper is null
      then case when (v_bounds -> 'lower_open')::boolean then '>' else '>=' end || v_lower
    when v_lower is null
      then case when (v_bounds -> 'upper_open')::boolean then '<' else '<=' end || v_upper
    else format('[%s TO %s]', v_lower, v_upper) end;
end;
$$;

-- Returns the message and suggestion for a value of a leaf that no record has, or null. p_source:
-- the records to look at.
create function logloom_private.value_hint(p_leaf jsonb, p_value text, p_source text)
returns text[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_name constant text := p_leaf ->> 'name';
  v_is_there boolean;
  v_is_number boolean;
  v_other_case text;
  v_is_pattern boolean;
  v_is_part boolean;
  v_values text[];
  v_near text;
begin
  execute format(
    $query$
      select
        bool_or(r.text = %1$L) as is_there,
        bool_or(jsonb_typeof(r.value) = 'number') as is_number,
        min(r.text) filter (where lower(r.text) = lower(%1$L)) as other_case,
        bool_or(r.text like %2$L) as is_pattern,
        bool_or(strpos(r.text, %1$L) > 0) as is_part,
        (array_agg(distinct r.text) filter (where length(r.text) <= 60))[:500] as values
      from (select to_jsonb(%3$s) as value, %4$s as text from (select l.* %5$s) l) r
    $query$,
    p_value, case when p_value ~ '[*?]' then logloom_private.query_like(p_value) end,
    logloom_private.query_value_sql(p_leaf, 'l'), logloom_private.query_group_sql(p_leaf, 'l'),
    p_source
  )
  into v_is_there, v_is_number, v_other_case, v_is_pattern, v_is_part, v_values;
  if p_value is null then
    v_near := (
      select substring(v from '^[0-9.]+ ?([a-zA-Zµ]+)$') from unnest(v_values) v limit 1
    );
    return case
      when v_is_number and p_leaf -> 'bounds' ->> 'unit' is not null then array[
        format('%s holds plain numbers, which have no unit', v_name),
        logloom_private.plain_comparison(p_leaf)
      ]
      when not v_is_number and p_leaf -> 'bounds' ->> 'unit' is null and v_near is not null
        then array[
          format('%s has a unit, as in %s', v_name, v_values[1]),
          regexp_replace(
            logloom_private.plain_comparison(p_leaf), '([0-9])(?![0-9.])', '\1' || v_near, 'g'
          )
        ] end;
  elsif v_is_there or v_values is null then
    return null;
  end if;
  v_near := case when v_other_case is not null then v_other_case
    when not v_is_part then logloom_private.near_text(p_value, v_values) end;
  return case
    when p_value ~ '^[<>]=? *-?[0-9.]+$' then array[
      format(
        'A comparison has no brackets and no quotes: write %s:%s', v_name, replace(p_value, ' ', '')
      ), ''
    ]
    when v_other_case is not null and p_leaf ->> 'field' = 'attrs' then array[
      format('%s has another letter case: %s', v_name, v_other_case),
      v_name || ':' || logloom_private.translated_value(v_other_case, false)
    ]
    when v_is_pattern and p_value ~ '^[[:alnum:]_./*?-]+$' then array[
      'In quotes, * and ? are characters', v_name || ':' || p_value
    ]
    when v_is_part and v_other_case is null and p_value <> '' then array[
      format('%s is compared with the whole value', v_name),
      v_name || ':*' || regexp_replace(p_value, '([^[:alnum:]_./-])', '\\\1', 'g') || '*'
    ]
    when v_near is not null then array[
      format('There is no %s %s: did you mean %s?', v_name, p_value, v_near),
      v_name || ':' || logloom_private.translated_value(v_near, false)
    ]
    when cardinality(v_values) <= 20 then array[
      format(
        'None of the newest records has %s %s; they have %s', v_name, p_value,
        array_to_string(v_values, ', ')
      ), ''
    ]
  end;
end;
$$;

-- Returns the message and suggestion for a word that no message has, if one has a similar word.
create function logloom_private.word_hint(p_word text, p_source text)
returns text[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_near text;
begin
  execute format(
    $query$
      with words as materialized (
        select distinct w.word
        from (select left(lower(l.msg), 500) as msg %1$s) l
        cross join lateral regexp_split_to_table(l.msg, '[^a-z]+') w (word)
        where left(w.word, 1) = %3$L
      )
      select w.word
      from words w
      where not exists (select from words p where strpos(p.word, %2$L) > 0)
        and length(w.word) between %4$s - 2 and %4$s + 2
        and logloom_private.query_distance(%2$L, w.word) <= %5$s
      order by logloom_private.query_distance(%2$L, w.word), w.word
      limit 1
    $query$,
    p_source, lower(p_word), lower(left(p_word, 1)), length(p_word),
    case when length(p_word) < 6 then 1 else 2 end
  )
  into v_near;
  return array[
    format('None of the newest messages has %s: did you mean %s?', p_word, v_near), v_near
  ];
end;
$$;

-- Replaces the first term of a field by p_term. With p_value, the first with this value.
create function logloom_private.with_term(p_query_dsl text, p_name text, p_value text, p_term text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_escape constant text := '([^[:alnum:]_ ])';
  v_begin constant text := '(?<![[:alnum:]_.@"])';
  v_name constant text := v_begin || regexp_replace(p_name, v_escape, '\\\1', 'g') || ':';
  v_value constant text := '=?"?' || regexp_replace(p_value, v_escape, '\\\1', 'g')
    || '"?(?![[:alnum:]_.-])';
  v_term constant text := replace(p_term, '\', '\\');
begin
  return case
    when p_query_dsl ~ (v_name || v_value)
      then regexp_replace(p_query_dsl, v_name || v_value, v_term)
    when p_value is not null and p_query_dsl ~ (v_name || '\(') then regexp_replace(
      p_query_dsl, '(' || v_name || '\([^)]*?)' || v_begin || v_value,
      '\1' || substr(v_term, length(p_name) + 2)
    )
    when p_value is null then regexp_replace(
      p_query_dsl, v_name || '(?:[[{][^]}]*[]}]|[^ )]+)', v_term
    )
    else p_query_dsl end;
end;
$$;
