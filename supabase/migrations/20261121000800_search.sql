-- The operations that read logs.
--
-- Each public operation is a thin function that calls one definer function here. Definer, because
-- operators that are not leakproof (LIKE, regex, jsonb) drive no index under row-level security.
-- private.resolve_tenant says whose logs are read, and private.tenant_rows_sql is the only place
-- that names app.logs or its counts: every statement is made from its answer.

alter table private.settings
  add column search_default_range interval not null default '1 hour',
  add column search_buckets_default integer not null default 60,
  add column search_buckets_max integer not null default 1000,
  add column search_sample_records integer not null default 5000,
  add column search_sample_fields integer not null default 200,
  add column search_sample_values integer not null default 10;

comment on column private.settings.search_default_range is
  'How long a range is that names no start.';
comment on column private.settings.search_buckets_default is 'p_buckets where none is given.';
comment on column private.settings.search_buckets_max is 'Greatest p_buckets.';
comment on column private.settings.search_sample_records is
  'Records, newest first, that list_log_fields looks at.';
comment on column private.settings.search_sample_fields is
  'Fields that list_log_fields lists at most.';
comment on column private.settings.search_sample_values is
  'Values of a field that list_log_fields lists at most.';

create type public.log_record as (
  id uuid,
  tenant_id text,
  ts timestamptz,
  received_at timestamptz,
  level text,
  msg text,
  service text,
  env text,
  req_id text,
  user_id text,
  route text,
  host text,
  attrs jsonb
);

create type public.log_page as (
  logs public.log_record[],
  next_cursor text,
  ts_from timestamptz,
  ts_to timestamptz
);

create type public.log_stat as ("group" jsonb, value double precision);

create type public.log_level_counts as (
  debug bigint,
  info bigint,
  warn bigint,
  error bigint,
  "none" bigint
);

create type public.log_bucket as (
  ts timestamptz,
  count bigint,
  levels public.log_level_counts
);

create type public.log_histogram as (
  interval_seconds bigint,
  total bigint,
  buckets public.log_bucket[]
);

create type public.log_field_value as (value text, count bigint);

create type public.log_field as (
  field text,
  type text,
  count bigint,
  values public.log_field_value[]
);

create type public.log_tail as (
  logs public.log_record[],
  next_cursor text,
  more boolean
);

create type public.saved_search_run as (
  logs public.log_record[],
  next_cursor text,
  ts_from timestamptz,
  ts_to timestamptz,
  stats public.log_stat[]
);

create type public.query_validity as (valid boolean, error text, "position" integer, hint text);

-- What a caller asks for

create function private.search_range(p_ts_from timestamptz, p_ts_to timestamptz)
returns tstzrange
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_to constant timestamptz := coalesce(p_ts_to, now());
  v_from constant timestamptz := coalesce(
    p_ts_from, v_to - (select s.search_default_range from private.settings s)
  );
begin
  if not (v_from >= '1970-01-01T00:00:00Z' and v_to <= '9999-12-31T00:00:00Z') then
    raise sqlstate 'PT400' using
      message = 'Invalid range: it leaves the years 1970 to 9999',
      hint = 'Send both as ISO 8601, such as 2026-11-21T10:00:00Z.';
  elsif v_from >= v_to then
    raise sqlstate 'PT400' using
      message = 'Invalid range: p_ts_from must be before p_ts_to',
      hint = 'p_ts_from is inclusive, p_ts_to exclusive and now where it is left out.';
  end if;
  return tstzrange(v_from, v_to);
end;
$$;

create function private.page_limit(p_limit integer)
returns integer
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_max integer;
  v_default integer;
begin
  select s.list_limit_max, s.list_limit_default into v_max, v_default from private.settings s;
  if p_limit not between 1 and v_max then
    raise sqlstate 'PT400' using
      message = format('Invalid p_limit: 1 to %s', v_max),
      hint = 'Page with p_cursor for more.';
  end if;
  return coalesce(p_limit, v_default);
end;
$$;

create function private.search_query(p_query_dsl text, p_now timestamptz, p_takes_aggregate boolean)
returns private.compiled_query
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_query private.compiled_query;
begin
  v_query := private.compile_query(p_query_dsl, p_now);
  if v_query.aggregate is not null and not p_takes_aggregate then
    raise sqlstate 'PT400' using
      message = format('Invalid p_query_dsl: records are asked for, not %s()', v_query.aggregate),
      hint = 'Leave out the bar and what follows, or ask log_stats.';
  end if;
  return v_query;
end;
$$;

create function private.refuse_slow_search()
returns void
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  raise sqlstate 'PT408' using
    message = 'The search took too long',
    hint = 'Narrow it: a shorter range of time, or a filter by level, service or req_id.';
end;
$$;

-- Cursors: texts that mean nothing to a caller. Nothing in one widens what may be seen.

create function private.encode_cursor(p_parts text[])
returns text
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return translate(
    encode(convert_to(array_to_string(p_parts, ' '), 'UTF8'), 'base64'), e'+/=\n', '-_'
  );
end;
$$;

create function private.decode_cursor(p_cursor text, p_pattern text)
returns text[]
language plpgsql
immutable
security invoker
set search_path = ''
as $$
declare
  v_parts text[];
begin
  begin
    v_parts := regexp_match(
      convert_from(
        decode(
          rpad(translate(p_cursor, '-_', '+/'), (length(p_cursor) + 3) / 4 * 4, '='), 'base64'
        ),
        'UTF8'
      ),
      p_pattern
    );
  exception when data_exception then
    v_parts := null;
  end;
  if v_parts is null then
    raise sqlstate 'PT400' using
      message = 'Invalid p_cursor',
      hint = 'Send next_cursor of the page before, unchanged, or none to begin.';
  end if;
  return v_parts;
end;
$$;

create function private.to_microseconds(p_ts timestamptz)
returns bigint
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return (extract(epoch from p_ts) * 1000000)::bigint;
end;
$$;

create function private.from_microseconds(p_microseconds bigint)
returns timestamptz
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  -- Seconds and the rest apart: a double holds no more than 2^53 exactly.
  return 'epoch'::timestamptz
    + p_microseconds / 1000000 * interval '1 second'
    + p_microseconds % 1000000 * interval '1 microsecond';
end;
$$;

-- SQL over a tenant's records

-- Constants, not parameters: with them the planner leaves out the partitions of other days.
create function private.tenant_rows_sql(
  p_tenant_id text,
  p_from timestamptz,
  p_to timestamptz,
  p_filter text,
  p_table regclass default 'app.logs',
  p_time text default 'ts'
)
returns text
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return format(
    'from %1$s l where l.tenant_id = %2$L'
      || ' and l.%3$I >= %4$L::timestamptz and l.%3$I < %5$L::timestamptz and ',
    p_table, p_tenant_id, p_time, p_from, p_to
  ) || p_filter;
end;
$$;

-- The counts of the range's whole minutes, and the records of what it has of its first and last
-- one. Null where the counts cannot answer the query.
create function private.counted_rows_sql(
  p_tenant_id text,
  p_query private.compiled_query,
  p_from timestamptz,
  p_to timestamptz
)
returns text
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_fields constant text[] := p_query.fields || p_query.by_fields;
  v_first constant timestamptz :=
    date_bin('1 minute', p_from + interval '59.999999 seconds', 'epoch');
  v_last constant timestamptz := date_bin('1 minute', p_to, 'epoch');
  v_hides_services boolean;
begin
  if v_first >= v_last
    or not v_fields <@ array['level', 'service']
    or p_query.aggregate not in ('count', 'rate')
  then
    return null;
  end if;
  if 'service' = any(v_fields) then
    execute 'select exists (select ' || private.tenant_rows_sql(
      p_tenant_id, v_first, v_last, 'l.is_other', 'private.log_counts', 'minute'
    ) || ')'
    into v_hides_services;
    if v_hides_services then
      return null;
    end if;
  end if;

  return 'from (select l.minute as ts, l.level, l.service, l.events '
    || private.tenant_rows_sql(
      p_tenant_id, v_first, v_last, p_query.filter, 'private.log_counts', 'minute'
    )
    || case when p_from < v_first then
        ' union all select l.ts, l.level, l.service, 1 '
          || private.tenant_rows_sql(p_tenant_id, p_from, v_first, p_query.filter)
      else '' end
    || case when v_last < p_to then
        ' union all select l.ts, l.level, l.service, 1 '
          || private.tenant_rows_sql(p_tenant_id, v_last, p_to, p_query.filter)
      else '' end
    || ') l';
end;
$$;

-- A record of the alias l as a composite.
create function private.log_record_sql()
returns text
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return 'row(l.id, l.tenant_id, l.ts, l.received_at, l.level, l.msg, l.service, l.env, l.req_id, '
    || 'l.user_id, l.route, l.host, l.attrs)::public.log_record';
end;
$$;

-- Up to p_limit records, the newest or the oldest of the range first, those after p_ts and p_id
-- where they are given.
create function private.log_page_sql(
  p_tenant_id text,
  p_query private.compiled_query,
  p_range tstzrange,
  p_limit integer,
  p_order text,
  p_ts timestamptz default null,
  p_id uuid default null
)
returns text
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_from timestamptz := greatest(lower(p_range), p_query.ts_from);
  v_to timestamptz := least(upper(p_range), p_query.ts_to);
  v_filter text := p_query.filter;
begin
  -- The comparison of rows drives the index; the bound of ts leaves out partitions.
  if p_order = 'asc' and p_ts is not null then
    v_from := greatest(v_from, p_ts);
    v_filter := format('(l.ts, l.id) > (%L::timestamptz, %L::uuid) and ', p_ts, p_id) || v_filter;
  elsif p_ts is not null then
    v_to := least(v_to, p_ts + interval '1 microsecond');
    v_filter := format('(l.ts, l.id) < (%L::timestamptz, %L::uuid) and ', p_ts, p_id) || v_filter;
  end if;
  return 'select ' || private.log_record_sql() || ' '
    || private.tenant_rows_sql(p_tenant_id, v_from, v_to, v_filter)
    || format(' order by l.ts %1$s, l.id %1$s limit %2$s', p_order, p_limit);
end;
$$;

-- Rows of public.log_stat. p_range is the caller's, by which rate() divides.
create function private.log_stats_sql(
  p_tenant_id text,
  p_query private.compiled_query,
  p_range tstzrange,
  p_limit integer
)
returns text
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_from constant timestamptz := greatest(lower(p_range), p_query.ts_from);
  v_to constant timestamptz := least(upper(p_range), p_query.ts_to);
  v_value text := coalesce(p_query.aggregate_sql, 'count(*)::double precision');
  v_rows text;
  v_names text;
  v_texts text;
  v_having text := '';
begin
  p_query.aggregate := coalesce(p_query.aggregate, 'count');
  v_rows := private.counted_rows_sql(p_tenant_id, p_query, v_from, v_to);
  if v_rows is not null then
    v_value := 'coalesce(sum(l.events), 0)::double precision';
    v_having := ' having sum(l.events) <> 0';
  else
    v_rows := private.tenant_rows_sql(p_tenant_id, v_from, v_to, p_query.filter);
  end if;
  if p_query.aggregate = 'rate' then
    v_value := v_value || format(
      ' / %L::double precision', extract(epoch from upper(p_range) - lower(p_range)) / 60
    );
  end if;
  if cardinality(p_query.by_sql) = 0 then
    return 'select ''{}''::jsonb, ' || v_value || ' ' || v_rows;
  end if;

  -- Arrays, since a function takes 100 arguments at most and a query may name more fields.
  select
    string_agg(quote_literal(b.name), ', ' order by b.n),
    string_agg('to_jsonb(' || b.sql || ') #>> ''{}''', ', ' order by b.n)
  into v_names, v_texts
  from unnest(p_query.by_fields, p_query.by_sql) with ordinality b (name, sql, n);
  return 'select jsonb_object(array[' || v_names || '], array[' || v_texts || ']), ' || v_value
    || ' ' || v_rows
    || ' group by ' || array_to_string(p_query.by_sql, ', ') || v_having
    || ' order by 2 desc nulls last, array[' || v_texts || '] collate "C"'
    || ' limit ' || p_limit;
end;
$$;

create function private.log_stats_of(
  p_tenant_id text,
  p_query private.compiled_query,
  p_range tstzrange,
  p_limit integer
)
returns setof public.log_stat
language plpgsql
stable
security invoker
set search_path = ''
set timezone = 'UTC'
as $$
begin
  return query execute private.log_stats_sql(p_tenant_id, p_query, p_range, p_limit);
end;
$$;

-- The least width of a bucket that gives p_buckets at most, counted from the epoch.
create function private.histogram_seconds(p_range tstzrange, p_buckets integer)
returns bigint
language plpgsql
immutable
security invoker
set search_path = ''
as $$
declare
  v_first constant bigint := floor(extract(epoch from lower(p_range)));
  v_last constant bigint := ceil(extract(epoch from upper(p_range))) - 1;
  v_width bigint;
begin
  foreach v_width in array
    array[1, 5, 10, 15, 30, 60, 300, 900, 1800, 3600, 10800, 21600, 43200, 86400]
  loop
    if v_last / v_width - v_first / v_width < p_buckets then
      return v_width;
    end if;
  end loop;
  v_width := greatest((v_last - v_first) / 86400 / p_buckets, 1) * 86400;
  while v_last / v_width - v_first / v_width >= p_buckets loop
    v_width := v_width + 86400;
  end loop;
  return v_width;
end;
$$;

-- Rows of public.log_bucket.
create function private.log_histogram_sql(
  p_tenant_id text,
  p_query private.compiled_query,
  p_range tstzrange,
  p_seconds bigint
)
returns text
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_from constant timestamptz := greatest(lower(p_range), p_query.ts_from);
  v_to constant timestamptz := least(upper(p_range), p_query.ts_to);
  v_events text := 'sum(l.events)::bigint';
  v_rows text;
begin
  p_query.aggregate := 'count';
  if p_seconds >= 60 then
    v_rows := private.counted_rows_sql(p_tenant_id, p_query, v_from, v_to);
  end if;
  if v_rows is null then
    v_rows := private.tenant_rows_sql(p_tenant_id, v_from, v_to, p_query.filter);
    v_events := 'count(*)';
  end if;
  return format(
    $query$
      with counted as (
        select
          g.ts,
          sum(g.count)::bigint as count,
          sum(g.count) filter (where g.level = 'debug')::bigint as debug,
          sum(g.count) filter (where g.level = 'info')::bigint as info,
          sum(g.count) filter (where g.level = 'warn')::bigint as warn,
          sum(g.count) filter (where g.level = 'error')::bigint as error,
          sum(g.count) filter (where g.level is null)::bigint as none
        from (
          select date_bin(%1$L::interval, l.ts, 'epoch') as ts, l.level, %4$s as count
          %5$s
          group by 1, 2
        ) g
        group by g.ts
      )
      select row(
        b.ts,
        coalesce(c.count, 0),
        row(
          coalesce(c.debug, 0), coalesce(c.info, 0), coalesce(c.warn, 0), coalesce(c.error, 0),
          coalesce(c.none, 0)
        )::public.log_level_counts
      )::public.log_bucket
      from generate_series(
        date_bin(%1$L::interval, %2$L::timestamptz, 'epoch'),
        date_bin(%1$L::interval, %3$L::timestamptz - interval '1 microsecond', 'epoch'),
        %1$L::interval
      ) b (ts)
      left join counted c on c.ts = b.ts
      order by b.ts
    $query$,
    make_interval(secs => p_seconds), lower(p_range), upper(p_range), v_events, v_rows
  );
end;
$$;

-- Records of the arrivals from p_first to p_last, of the first one those after p_id where it is
-- given, in the order in which they became visible.
create function private.log_tail_sql(
  p_tenant_id text,
  p_query private.compiled_query,
  p_limit integer,
  p_first bigint,
  p_id uuid,
  p_last bigint
)
returns text
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_days timestamptz[];
  v_filter text;
begin
  select array_agg(distinct a.day::timestamp at time zone 'UTC') into v_days
  from private.log_arrivals a
  where a.arrival >= p_first;
  v_filter := format('l.arrival between %s and %s and ', p_first, p_last);
  if p_id is not null then
    v_filter := v_filter || format('(l.arrival > %s or l.id > %L::uuid) and ', p_first, p_id);
  end if;
  -- Day by day, so that one late event does not bring in all days between. A client that was away
  -- for so long that there are many of them reads from the first to the last.
  if cardinality(v_days) <= 31 then
    v_filter := v_filter || '(' || (
      select string_agg(
        format('l.ts >= %L::timestamptz and l.ts < %L::timestamptz', d.day, d.day + '24 hours'),
        ' or '
      )
      from unnest(v_days) d (day)
    ) || ') and ';
  end if;
  return 'select ' || private.log_record_sql() || ' as record, l.arrival '
    || private.tenant_rows_sql(
      p_tenant_id, v_days[1], v_days[cardinality(v_days)] + interval '24 hours',
      v_filter || p_query.filter
    )
    || ' order by l.arrival, l.id limit ' || p_limit;
end;
$$;

-- A key as a segment of an attribute's path, quoted where the language wants it so.
create function private.query_segment(p_key text)
returns text
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  if p_key collate "und-x-icu" ~ '^[[:alpha:][:digit:]_-]+$' then
    return p_key;
  end if;
  return '"' || regexp_replace(p_key, '(["\\])', '\\\1', 'g') || '"';
end;
$$;

-- Rows of public.log_field. Objects are walked five deep and 200 keys wide, and a value of more
-- than 200 characters is left out: hostile attrs cost no more than others.
create function private.log_fields_sql(p_tenant_id text, p_range tstzrange)
returns text
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_settings private.settings;
begin
  select s.* into v_settings from private.settings s;
  return format(
    $query$
      with recursive sample as materialized (
        select l.* %1$s order by l.ts desc, l.id desc limit %2$s
      ), attributes as (
        select private.query_segment(a.key) as path, a.value, 1 as depth
        from sample s, lateral (select j.* from jsonb_each(s.attrs) j limit 200) a
        union all
        select p.path || '.' || private.query_segment(a.key), a.value, p.depth + 1
        from attributes p,
          lateral (
            select j.*
            from jsonb_each(case jsonb_typeof(p.value) when 'object' then p.value end) j
            limit 200
          ) a
        where p.depth < 5
      ), present as (
        select f.field, f.type, f.value
        from sample s,
          lateral (
            values
              ('ts', 'timestamp', null),
              ('received_at', 'timestamp', null),
              ('id', 'uuid', null),
              ('level', 'string', s.level),
              ('service', 'string', s.service),
              ('env', 'string', s.env),
              ('req_id', 'string', s.req_id),
              ('user_id', 'string', s.user_id),
              ('route', 'string', s.route),
              ('host', 'string', s.host)
          ) f (field, type, value)
        where f.value is not null or f.type <> 'string'
        union all
        select 'msg', 'string', null from sample s where s.msg is not null
        union all
        select
          'attrs.' || a.path,
          jsonb_typeof(a.value),
          case when jsonb_typeof(a.value) in ('string', 'number', 'boolean')
            then a.value #>> '{}' end
        from attributes a
        where jsonb_typeof(a.value) not in ('null', 'object')
      ), fields as (
        select
          p.field,
          case count(distinct p.type) when 1 then min(p.type) else 'mixed' end as type,
          count(*) as count
        from present p
        group by p.field
        order by count(*) desc, p.field collate "C"
        limit %3$s
      ), facets as (
        select
          p.field, p.value, count(*) as count,
          row_number() over (
            partition by p.field order by count(*) desc, p.value collate "C"
          ) as place
        from present p
        where length(p.value) <= 200
        group by p.field, p.value
      )
      select
        f.field, f.type, f.count,
        array(
          select row(v.value, v.count)::public.log_field_value
          from facets v
          where v.field = f.field and v.place <= %4$s
          order by v.place
        )
      from fields f
      order by f.count desc, f.field collate "C"
    $query$,
    private.tenant_rows_sql(p_tenant_id, lower(p_range), upper(p_range), 'true'),
    v_settings.search_sample_records, v_settings.search_sample_fields,
    v_settings.search_sample_values
  );
end;
$$;

-- Reading: a function for each operation

-- Compiling a filter to machine code takes far longer than it saves here: jit is off.
create function private.read_log_page(
  p_query_dsl text,
  p_ts_from timestamptz,
  p_ts_to timestamptz,
  p_limit integer,
  p_cursor text,
  p_order text
)
returns public.log_page
language plpgsql
stable
security definer
set search_path = ''
set jit = off
as $$
-- definer because a filter drives an index only where row-level security does not stand between
declare
  v_tenant_id constant text := private.resolve_tenant();
  v_limit constant integer := private.page_limit(p_limit);
  v_order constant text := coalesce(p_order, 'desc');
  v_now timestamptz := now();
  v_from timestamptz := p_ts_from;
  v_to timestamptz := p_ts_to;
  v_range tstzrange;
  v_query private.compiled_query;
  v_after text[];
  v_logs public.log_record[];
  v_cursor text;
begin
  if v_order not in ('desc', 'asc') then
    raise sqlstate 'PT400' using
      message = 'Invalid p_order: desc or asc',
      hint = 'desc gives the newest records first.';
  end if;
  if p_cursor is not null then
    v_after := private.decode_cursor(
      p_cursor,
      '^page (desc|asc) (\d{1,18}) ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})'
        || ' (\d{1,18}) (\d{1,18}) (\d{1,18})$'
    );
    if v_after[1] <> v_order then
      raise sqlstate 'PT400' using
        message = 'Invalid p_cursor: it belongs to the other p_order',
        hint = 'Send the p_order of the page before.';
    end if;
    -- What the first page meant by now and by its range, so that no page moves away from it.
    v_from := coalesce(v_from, private.from_microseconds(v_after[4]::bigint));
    v_to := coalesce(v_to, private.from_microseconds(v_after[5]::bigint));
    v_now := private.from_microseconds(v_after[6]::bigint);
  end if;
  v_range := private.search_range(v_from, v_to);
  v_query := private.search_query(p_query_dsl, v_now, false);

  execute 'select array(' || private.log_page_sql(
    v_tenant_id, v_query, v_range, v_limit + 1, v_order,
    private.from_microseconds(v_after[2]::bigint), v_after[3]::uuid
  ) || ')'
  into v_logs;
  if cardinality(v_logs) > v_limit then
    v_logs := v_logs[1:v_limit];
    v_cursor := private.encode_cursor(array[
      'page', v_order, private.to_microseconds((v_logs[v_limit]).ts)::text,
      (v_logs[v_limit]).id::text, private.to_microseconds(lower(v_range))::text,
      private.to_microseconds(upper(v_range))::text, private.to_microseconds(v_now)::text
    ]);
  end if;
  return row(v_logs, v_cursor, lower(v_range), upper(v_range))::public.log_page;
exception when query_canceled or lock_not_available then
  perform private.refuse_slow_search();
  return null;
end;
$$;

create function private.read_log_stats(
  p_query_dsl text,
  p_ts_from timestamptz,
  p_ts_to timestamptz,
  p_limit integer
)
returns setof public.log_stat
language plpgsql
stable
security definer
set search_path = ''
set jit = off
as $$
-- definer because a filter drives an index only where row-level security does not stand between
declare
  v_tenant_id constant text := private.resolve_tenant();
  v_limit constant integer := private.page_limit(p_limit);
  v_range constant tstzrange := private.search_range(p_ts_from, p_ts_to);
  v_query private.compiled_query;
begin
  v_query := private.search_query(p_query_dsl, now(), true);
  return query
  select s."group", s.value
  from private.log_stats_of(v_tenant_id, v_query, v_range, v_limit) s;
exception when query_canceled or lock_not_available then
  perform private.refuse_slow_search();
end;
$$;

create function private.read_log_histogram(
  p_query_dsl text,
  p_ts_from timestamptz,
  p_ts_to timestamptz,
  p_buckets integer
)
returns public.log_histogram
language plpgsql
stable
security definer
set search_path = ''
set jit = off
as $$
-- definer because a filter drives an index only where row-level security does not stand between
declare
  v_tenant_id constant text := private.resolve_tenant();
  v_range constant tstzrange := private.search_range(p_ts_from, p_ts_to);
  v_query private.compiled_query;
  v_settings private.settings;
  v_seconds bigint;
  v_total bigint;
  v_buckets public.log_bucket[];
begin
  select s.* into v_settings from private.settings s;
  if p_buckets not between 1 and v_settings.search_buckets_max then
    raise sqlstate 'PT400' using
      message = format('Invalid p_buckets: 1 to %s', v_settings.search_buckets_max),
      hint = 'The width of a bucket follows from the range and p_buckets.';
  end if;
  v_query := private.search_query(p_query_dsl, now(), false);
  v_seconds := private.histogram_seconds(
    v_range, coalesce(p_buckets, v_settings.search_buckets_default)
  );
  execute 'select array('
    || private.log_histogram_sql(v_tenant_id, v_query, v_range, v_seconds) || ')'
  into v_buckets;
  select sum(b.count) into v_total from unnest(v_buckets) b;
  return row(v_seconds, v_total, v_buckets)::public.log_histogram;
exception when query_canceled or lock_not_available then
  perform private.refuse_slow_search();
  return null;
end;
$$;

create function private.read_log_fields(p_ts_from timestamptz, p_ts_to timestamptz)
returns setof public.log_field
language plpgsql
stable
security definer
set search_path = ''
set jit = off
as $$
-- definer because nobody but this file makes SQL over records
declare
  v_tenant_id constant text := private.resolve_tenant();
  v_range constant tstzrange := private.search_range(p_ts_from, p_ts_to);
begin
  return query execute private.log_fields_sql(v_tenant_id, v_range);
exception when query_canceled or lock_not_available then
  perform private.refuse_slow_search();
end;
$$;

create function private.read_log(p_id uuid, p_ts timestamptz)
returns public.log_record
language plpgsql
stable
security definer
set search_path = ''
set jit = off
as $$
-- definer because nobody but this file makes SQL over records
declare
  v_tenant_id constant text := private.resolve_tenant();
  v_received_at timestamptz;
  v_window tstzrange;
  v_windows tstzrange[] := '{}';
  v_logs public.log_record[];
begin
  perform private.require_parameter('p_id', p_id is null);
  -- Around it: a client's clock may hold less than microseconds.
  if p_ts between '1970-01-03T00:00:00Z' and '9999-12-29T00:00:00Z' then
    v_windows := v_windows || tstzrange(p_ts - interval '1 second', p_ts + interval '1 second');
  end if;
  -- The id says when the event was received, and most events are received when they happen.
  v_received_at := private.from_microseconds(
    1000 * ('x' || left(replace(p_id::text, '-', ''), 12))::bit(48)::bigint
  );
  if v_received_at between '1970-01-03T00:00:00Z' and '9999-12-29T00:00:00Z' then
    v_windows := v_windows || array[
      tstzrange(v_received_at - interval '5 minutes', v_received_at + interval '5 minutes'),
      tstzrange(v_received_at - interval '1 day', v_received_at + interval '1 day')
    ];
  end if;
  v_windows := v_windows || tstzrange('1970-01-01T00:00:00Z', '9999-12-31T00:00:00Z');

  foreach v_window in array v_windows loop
    execute 'select array(select ' || private.log_record_sql() || ' ' || private.tenant_rows_sql(
      v_tenant_id, lower(v_window), upper(v_window), format('l.id = %L::uuid', p_id)
    ) || ' limit 1)'
    into v_logs;
    if cardinality(v_logs) = 1 then
      return v_logs[1];
    end if;
  end loop;
  raise sqlstate 'PT404' using
    message = 'Log record not found',
    hint = 'It may be on its way still, or past its retention.';
exception when query_canceled or lock_not_available then
  perform private.refuse_slow_search();
  return null;
end;
$$;

-- Without statistics of a new day the planner takes the index for useless: no sequential scans.
create function private.read_log_tail(p_query_dsl text, p_cursor text, p_limit integer)
returns public.log_tail
language plpgsql
stable
security definer
set search_path = ''
set jit = off
set enable_seqscan = off
as $$
-- definer because a filter drives an index only where row-level security does not stand between
declare
  v_tenant_id constant text := private.resolve_tenant();
  v_limit constant integer := private.page_limit(p_limit);
  v_query private.compiled_query;
  v_last bigint;
  v_after text[];
  v_first bigint;
  v_id uuid;
  v_steps bigint := 64;
  v_logs public.log_record[] := '{}';
  v_arrivals bigint[];
  v_more boolean := false;
begin
  v_query := private.search_query(p_query_dsl, now(), false);
  select coalesce(max(a.arrival), 0) into v_last from private.log_arrivals a;
  if p_cursor is null then
    v_first := v_last + 1;
  else
    v_after := private.decode_cursor(
      p_cursor, '^tail (\d{1,18})(?: ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}))?$'
    );
    v_first := v_after[1];
    v_id := v_after[2];
  end if;

  -- A few steps of the writer at a time: a client that was away does not read all it missed for
  -- each page.
  while v_first <= v_last and not v_more loop
    execute 'select coalesce(array_agg(r.record), ''{}''), array_agg(r.arrival) from ('
      || private.log_tail_sql(
        v_tenant_id, v_query, v_limit + 1, v_first, v_id, least(v_first + v_steps, v_last)
      )
      || ') r'
    into v_logs, v_arrivals;
    v_more := cardinality(v_logs) > v_limit;
    exit when v_first + v_steps >= v_last;
    v_steps := v_steps * 4;
  end loop;
  if v_more then
    v_logs := v_logs[1:v_limit];
    v_first := v_arrivals[v_limit];
    v_id := (v_logs[v_limit]).id;
  else
    -- All of the last arrival was seen. The days of later ones may be gone.
    v_first := greatest(v_last + 1, v_first);
    v_id := null;
  end if;
  return row(
    v_logs, private.encode_cursor(array['tail', v_first::text, v_id::text]), v_more
  )::public.log_tail;
exception when query_canceled or lock_not_available then
  perform private.refuse_slow_search();
  return null;
end;
$$;

create function private.read_saved_search(
  p_query_dsl text,
  p_ts_from timestamptz,
  p_ts_to timestamptz,
  p_limit integer,
  p_cursor text
)
returns public.saved_search_run
language plpgsql
stable
security definer
set search_path = ''
as $$
-- definer because whether the query aggregates is for the compiler to say
declare
  v_query private.compiled_query;
  v_page public.log_page;
  v_range tstzrange;
  v_stats public.log_stat[];
begin
  v_query := private.search_query(p_query_dsl, now(), true);
  if v_query.aggregate is null then
    v_page := private.read_log_page(p_query_dsl, p_ts_from, p_ts_to, p_limit, p_cursor, null);
    return row(
      v_page.logs, v_page.next_cursor, v_page.ts_from, v_page.ts_to, null
    )::public.saved_search_run;
  end if;
  v_range := private.search_range(p_ts_from, p_ts_to);
  v_stats := array(
    select s from private.read_log_stats(p_query_dsl, lower(v_range), upper(v_range), p_limit) s
  );
  return row(
    '{}'::public.log_record[], null, lower(v_range), upper(v_range), v_stats
  )::public.saved_search_run;
end;
$$;

create function private.note_saved_search_run(p_id uuid)
returns void
language plpgsql
volatile
security definer
set search_path = ''
as $$
-- definer because who runs a colleague's shared search may not change it otherwise
declare
  v_tenant_id constant text := private.resolve_tenant();
begin
  update app.saved_searches s
  set run_count = s.run_count + 1, last_run_at = now()
  where s.id = p_id
    and s.tenant_id = v_tenant_id
    and (s.is_shared or s.created_by = private.current_user_id());
end;
$$;

create function private.read_query_validity(p_query_dsl text)
returns public.query_validity
language plpgsql
stable
security definer
set search_path = ''
as $$
-- definer because no API role calls the compiler's parts
begin
  perform private.resolve_tenant();
  return jsonb_populate_record(null::public.query_validity, private.validate_query(p_query_dsl));
exception when query_canceled or lock_not_available then
  perform private.refuse_slow_search();
  return null;
end;
$$;

-- The operations

create function public.search_logs(
  p_query_dsl text default null,
  p_ts_from timestamptz default null,
  p_ts_to timestamptz default null,
  p_limit integer default null,
  p_cursor text default null,
  p_order text default null
)
returns public.log_page
language plpgsql
stable
security invoker
set search_path = ''
set statement_timeout = '15s'
as $$
begin
  return private.read_log_page(p_query_dsl, p_ts_from, p_ts_to, p_limit, p_cursor, p_order);
end;
$$;

create function public.log_stats(
  p_query_dsl text default null,
  p_ts_from timestamptz default null,
  p_ts_to timestamptz default null,
  p_limit integer default null
)
returns setof public.log_stat
language plpgsql
stable
security invoker
set search_path = ''
set statement_timeout = '15s'
as $$
begin
  return query
  select s."group", s.value
  from private.read_log_stats(p_query_dsl, p_ts_from, p_ts_to, p_limit) s;
end;
$$;

create function public.log_histogram(
  p_query_dsl text default null,
  p_ts_from timestamptz default null,
  p_ts_to timestamptz default null,
  p_buckets integer default null
)
returns public.log_histogram
language plpgsql
stable
security invoker
set search_path = ''
set statement_timeout = '15s'
as $$
begin
  return private.read_log_histogram(p_query_dsl, p_ts_from, p_ts_to, p_buckets);
end;
$$;

create function public.list_log_fields(
  p_ts_from timestamptz default null,
  p_ts_to timestamptz default null
)
returns setof public.log_field
language plpgsql
stable
security invoker
set search_path = ''
set statement_timeout = '15s'
as $$
begin
  return query
  select f.field, f.type, f.count, f.values
  from private.read_log_fields(p_ts_from, p_ts_to) f;
end;
$$;

create function public.get_log(p_id uuid default null, p_ts timestamptz default null)
returns public.log_record
language plpgsql
stable
security invoker
set search_path = ''
set statement_timeout = '15s'
as $$
begin
  return private.read_log(p_id, p_ts);
end;
$$;

create function public.tail_logs(
  p_query_dsl text default null,
  p_cursor text default null,
  p_limit integer default null
)
returns public.log_tail
language plpgsql
stable
security invoker
set search_path = ''
set statement_timeout = '15s'
as $$
begin
  return private.read_log_tail(p_query_dsl, p_cursor, p_limit);
end;
$$;

create function public.run_saved_search(
  p_id uuid default null,
  p_ts_from timestamptz default null,
  p_ts_to timestamptz default null,
  p_limit integer default null,
  p_cursor text default null
)
returns public.saved_search_run
language plpgsql
volatile
security invoker
set search_path = ''
set statement_timeout = '15s'
as $$
declare
  v_query_dsl text;
  v_run public.saved_search_run;
begin
  select s.query_dsl into v_query_dsl from public.get_saved_search(p_id) s;
  v_run := private.read_saved_search(v_query_dsl, p_ts_from, p_ts_to, p_limit, p_cursor);
  -- Further pages belong to the run that the first one began.
  if p_cursor is null then
    perform private.note_saved_search_run(p_id);
  end if;
  return v_run;
end;
$$;

create function public.validate_query(p_query_dsl text default null)
returns public.query_validity
language plpgsql
stable
security invoker
set search_path = ''
set statement_timeout = '15s'
as $$
begin
  perform private.require_parameter('p_query_dsl', p_query_dsl is null);
  return private.read_query_validity(p_query_dsl);
end;
$$;

grant execute on function
  private.read_log_page(text, timestamptz, timestamptz, integer, text, text),
  private.read_log_stats(text, timestamptz, timestamptz, integer),
  private.read_log_histogram(text, timestamptz, timestamptz, integer),
  private.read_log_fields(timestamptz, timestamptz),
  private.read_log(uuid, timestamptz),
  private.read_log_tail(text, text, integer),
  private.read_saved_search(text, timestamptz, timestamptz, integer, text),
  private.note_saved_search_run(uuid),
  private.read_query_validity(text),
  public.search_logs(text, timestamptz, timestamptz, integer, text, text),
  public.log_stats(text, timestamptz, timestamptz, integer),
  public.log_histogram(text, timestamptz, timestamptz, integer),
  public.list_log_fields(timestamptz, timestamptz),
  public.get_log(uuid, timestamptz),
  public.tail_logs(text, text, integer),
  public.run_saved_search(uuid, timestamptz, timestamptz, integer, text),
  public.validate_query(text)
to authenticated, service_role;

comment on type public.log_record is 'A log record. Members that the event did not have are null.';
comment on type public.log_page is
  'Records of [ts_from, ts_to), and the cursor of the next page; null where this is the last.';
comment on type public.log_stat is
  'The value of an aggregate for a group: {field: text}, null where records lack the field.';
comment on type public.log_level_counts is 'Records by level; none: without one.';
comment on type public.log_bucket is 'The records from ts on, for interval_seconds.';
comment on type public.log_histogram is 'Records over time, in buckets of equal width.';
comment on type public.log_field_value is 'A value of a field, and how many records have it.';
comment on type public.log_field is
  'A field as a query names it; type: string, number, boolean, array, timestamp, uuid or mixed; '
  'how many records of the sample have it, and its most frequent values.';
comment on type public.log_tail is
  'Records in the order in which they became visible; more: whether others wait already.';
comment on type public.saved_search_run is
  'What a saved search finds: a page of records or, where it aggregates, the rows of stats.';
comment on type public.query_validity is
  'Whether a query compiles; if not, what is wrong, where (1-based, code points), and what was '
  'expected.';
comment on function private.search_range(timestamptz, timestamptz) is
  'The range that is asked for: [from, to), by default search_default_range to now. PT400.';
comment on function private.page_limit(integer) is
  'The page size of an operation with a cursor: p_limit or the default. PT400 when out of bounds.';
comment on function private.search_query(text, timestamptz, boolean) is
  'Compiles the query; PT400 where it aggregates and records are asked for.';
comment on function private.refuse_slow_search() is 'PT408.';
comment on function private.encode_cursor(text[]) is 'An opaque text that decode_cursor reads.';
comment on function private.decode_cursor(text, text) is
  'The parts of a cursor as a regular expression captures them. PT400 where it does not match.';
comment on function private.tenant_rows_sql(
  text, timestamptz, timestamptz, text, regclass, text
) is
  'SQL from "from" on: the tenant''s rows, as alias l, of a range that pass a filter. '
  'The only place that says whose rows are read.';
comment on function private.counted_rows_sql(
  text, private.compiled_query, timestamptz, timestamptz
) is
  'SQL from "from" on: ts, level, service and events of what is to be counted; null where the '
  'counts cannot answer.';
comment on function private.log_stats_of(text, private.compiled_query, tstzrange, integer) is
  'A query''s aggregate for a tenant, from the counts where they can answer. For jobs, too.';
comment on function private.note_saved_search_run(uuid) is
  'Counts a run of a saved search that the caller may read.';
comment on function public.search_logs(text, timestamptz, timestamptz, integer, text, text) is
  'A page of records that match p_query_dsl in [p_ts_from, p_ts_to), by default the last hour. '
  'p_order: desc (newest first, the default) or asc. p_limit 1 to 1000 (default 100). p_cursor: '
  'next_cursor of the page before; it keeps the range of the first page. '
  'Errors: PT400, PT401, PT408 (took longer than 15 s).';
comment on function public.log_stats(text, timestamptz, timestamptz, integer) is
  'The aggregate of p_query_dsl, count() where it has none: a row for each group, largest first; '
  'one row with group {} without by. p_limit 1 to 1000 (default 100). '
  'Errors: PT400, PT401, PT408.';
comment on function public.log_histogram(text, timestamptz, timestamptz, integer) is
  'Records that match p_query_dsl over time, by level, empty buckets included. p_buckets 1 to 1000 '
  '(default 60). Errors: PT400, PT401, PT408.';
comment on function public.list_log_fields(timestamptz, timestamptz) is
  'Fields that the newest records of the range have, most frequent first. Errors: PT400, PT401, '
  'PT408.';
comment on function public.get_log(uuid, timestamptz) is
  'One record. p_ts, its time, finds it at once; without it the search begins at the time of '
  'receipt, which the id holds. Errors: PT400, PT401, PT404, PT408.';
comment on function public.tail_logs(text, text, integer) is
  'Records that match p_query_dsl as they become visible, late ones included. Without p_cursor: no '
  'records, and the cursor of now. p_limit 1 to 1000 (default 100). '
  'Errors: PT400, PT401, PT408.';
comment on function public.run_saved_search(uuid, timestamptz, timestamptz, integer, text) is
  'Runs a saved search of the caller or one that a colleague shares, and counts the run. As '
  'search_logs; where the query aggregates, stats holds the rows of log_stats. '
  'Errors: PT400, PT401, PT404, PT408.';
comment on function public.validate_query(text) is
  'Whether p_query_dsl compiles: {valid, error, position, hint}. Errors: PT400, PT401, PT408.';
