-- Assembled from supabase/schemas, as of 1.0.0.

set local search_path = pg_catalog, pg_temp;

-- search/types/log_changes.sql
create type public.logloom_log_change as (
  kind text,
  field text,
  value text,
  before bigint,
  after bigint,
  change text,
  score double precision
);

comment on type public.logloom_log_change is
  'How often records had a value of a field, or a message of a pattern, in a range (after) and in '
  'the one before it. kind: pattern or value. change: new, gone, grown or shrunk, by the share of '
  'the records. score: how surprising that is (G-squared of Dunning).';

create type public.logloom_log_changes as (
  ts_from timestamptz,
  ts_to timestamptz,
  before_from timestamptz,
  records bigint,
  records_before bigint,
  changes public.logloom_log_change[],
  warnings public.logloom_query_warning[]
);

comment on type public.logloom_log_changes is
  'What differs in [ts_from, ts_to) from [before_from, ts_from), the most surprising first.';

-- search/types/log_export.sql
create type public.logloom_log_export as (
  text text,
  records integer,
  cursor text,
  next_cursor text,
  logs json
);

comment on type public.logloom_log_export is
  'A page of an export: text, its lines, each with its end, or logs, its records; records, how '
  'many they are. cursor: of its beginning; next_cursor: of the page after it, null where there '
  'is none.';

-- search/types/log_overview.sql
create type public.logloom_log_service as (
  service text,
  records bigint,
  errors bigint,
  records_before bigint,
  errors_before bigint,
  last_seen timestamptz
);

comment on type public.logloom_log_service is
  'What a service (null: records without one) sent in a range, and in the same hours of the days '
  'before. last_seen: the minute of its newest record of both; of a range of more than a day, to '
  'its 1,440th part.';

create type public.logloom_log_overview as (
  ts_from timestamptz,
  ts_to timestamptz,
  before_from timestamptz,
  before_to timestamptz,
  total_services bigint,
  services public.logloom_log_service[],
  warnings public.logloom_query_warning[]
);

comment on type public.logloom_log_overview is
  'The services of [ts_from, ts_to), the largest first, beside [before_from, before_to).';

-- search/types/log_series.sql
create type public.logloom_log_series as (
  "group" jsonb,
  points jsonb
);

comment on type public.logloom_log_series is
  'An aggregate of a group over time: points [[ts, value], …], one for each bucket, oldest first. '
  'group null: all groups but the largest together.';

create type public.logloom_log_series_answer as (
  interval_seconds bigint,
  series public.logloom_log_series[],
  warnings public.logloom_query_warning[]
);

comment on type public.logloom_log_series_answer is 'Aggregates over time, for a chart.';

-- search/types/log_stats.sql
create type public.logloom_log_stat as (
  "group" jsonb,
  value double precision,
  "values" jsonb,
  total_groups bigint,
  warnings public.logloom_query_warning[]
);

comment on type public.logloom_log_stat is
  'What aggregates say of a group: group {field: text}, null where records lack the field, ts for '
  'the beginning of a bucket; value, the first aggregate; values, all of them by name; '
  'total_groups, how many rows there are without p_limit and limit; warnings, what the query '
  'probably means otherwise, the same in each row.';

create type logloom_private.counted_source as (
  rows_sql text,
  count_sql text,
  keys_sql text[],
  has_numbers boolean
);

comment on type logloom_private.counted_source is
  'Where an aggregate reads: SQL from "from" on with the alias l, and what count() is over it. '
  'keys_sql: what it is grouped by, where this is not by_sql of the query. has_numbers: it has '
  'numbers, total, minimum and maximum, and double in place of the attribute.';

-- search/types/logs.sql
create type public.logloom_log_record as (
  -- fields shown joined: {name} {type}
  id uuid, tenant_id text, ts timestamptz, received_at timestamptz, level text, msg text,
  service text, env text, req_id text, user_id text, route text, host text, attrs jsonb
  -- fields end
);

comment on type public.logloom_log_record is
  'A log record. Members that the event did not have are null.';

create type public.logloom_log_page as (
  logs public.logloom_log_record[],
  next_cursor text,
  ts_from timestamptz,
  ts_to timestamptz,
  warnings public.logloom_query_warning[]
);

comment on type public.logloom_log_page is
  'Records of [ts_from, ts_to), and the cursor of the next page; null where this is the last, '
  'and there only: a page may end early. '
  'warnings: what the query probably means otherwise.';

create type logloom_private.log_tail as (
  "first" bigint,
  id uuid,
  logs public.logloom_log_record[],
  more boolean
);

comment on type logloom_private.log_tail is
  'Where a tail stands: it goes on with the write_seq first, of which it saw what is up to id, and '
  'has found logs since. more: whether there is more to look at.';

-- search/advance_log_tail.sql
-- Moves a tail over the next p_records records, whether they match or not, since a search for those
-- that do took too long. more: whether there were any.
create function logloom_private.examine_log_tail(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_records integer,
  p_last bigint,
  p_tail logloom_private.log_tail
)
returns logloom_private.log_tail
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_all logloom_private.compiled_query;
  v_found public.logloom_log_record[];
  v_first bigint;
  v_id uuid;
begin
  v_all.tree := '{"type": "all"}';
  v_all.filter := 'true';
  execute 'with piece as materialized (select l.*, ' || p_query.filter || ' as is_found '
    || logloom_private.log_tail_rows_sql(
      p_tenant_id, v_all, p_records, p_tail.first, p_tail.id, p_last, 9223372036854775807
    )
    || '), found as materialized ('
    || logloom_private.page_sql(
      p_query,
      logloom_private.masked_sql(p_query, 'from piece l where l.is_found'),
      'l.write_seq, l.id', p_records, (select s.max_page_bytes from logloom_private.settings s),
      p_others => ', l.write_seq, l.id'
    )
    || ') select array(select f.record from found f where f.record is distinct from null '
    || 'order by f.write_seq, f.id), o.write_seq, o.id '
    || 'from (select 1) _ left join lateral (select p.write_seq, p.id from piece p '
    || 'where (p.write_seq, p.id) < all ('
    || 'select f.write_seq, f.id from found f where f.record is not distinct from null) '
    || 'order by 1 desc, 2 desc limit 1) o on true'
  into v_found, v_first, v_id;
  p_tail.logs := p_tail.logs || v_found;
  p_tail.more := v_first is not null;
  p_tail.first := coalesce(v_first, p_tail.first);
  p_tail.id := v_id;
  return p_tail;
end;
$$;

-- Moves a tail on by p_limit records that match, by max_page_bytes of them, or as far as it comes
-- in its time. It looks at more and more of the writer's steps at a time: a client that was away
-- does not read all that it missed for each page.
create function logloom_private.advance_log_tail(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_limit integer,
  p_last bigint,
  p_tail logloom_private.log_tail
)
returns logloom_private.log_tail
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_page_time constant interval := (select s.tail_page_time from logloom_private.settings s);
  v_deadline timestamptz := clock_timestamp() + v_page_time;
  v_steps bigint := 4;
  v_step_last bigint;
  v_left bigint;
  v_bytes bigint := (select s.max_page_bytes from logloom_private.settings s);
  v_found public.logloom_log_record[];
  v_write_seqs bigint[];
  v_has_moved boolean := false;
  v_records integer := 4;
  v_began_at timestamptz;
begin
  begin
    while p_tail.first <= p_last loop
      v_step_last := least(p_tail.first + v_steps - 1, p_last);
      v_left := p_limit + 1 - cardinality(p_tail.logs);
      for v_fits in 0..1 loop
        execute 'select coalesce(array_agg(r.record), ''{}''), array_agg(r.write_seq) from ('
          || logloom_private.log_tail_sql(
            p_tenant_id, p_query, v_left::integer, p_tail.first, p_tail.id, v_step_last,
            case v_fits when 0 then v_bytes * v_left / (p_limit + 1)
              else v_bytes - logloom_private.answered_bytes(p_tail.logs) end,
            v_fits = 1
          )
          || ') r'
        into v_found, v_write_seqs;
        exit when array_position(v_found, null) is null;
      end loop;
      v_has_moved := true;
      if array_position(v_found, null) is not null then
        v_found := array_remove(v_found, null);
      end if;
      if cardinality(p_tail.logs) + cardinality(v_found) > p_limit then
        v_found := v_found[1:p_limit - cardinality(p_tail.logs)];
      end if;
      p_tail.logs := case when p_tail.logs = '{}' then v_found else p_tail.logs || v_found end;
      if cardinality(v_found) < cardinality(v_write_seqs) then
        p_tail.more := true;
        -- After the last that this step found; where it was, if the page was full before.
        if cardinality(v_found) > 0 then
          p_tail.first := v_write_seqs[cardinality(v_found)];
          p_tail.id := v_found[cardinality(v_found)].id;
        end if;
        v_found := null;
        return p_tail;
      end if;
      v_found := null;
      p_tail.first := v_step_last + 1;
      p_tail.id := null;
      p_tail.more := p_tail.first <= p_last;
      if clock_timestamp() > v_deadline then
        return p_tail;
      end if;
      v_steps := v_steps * 4;
    end loop;
    return p_tail;
  exception when query_canceled then
    p_tail.more := true;
  end;
  -- Cancelled: what was found stands. Where that is nothing, some records by themselves; there is
  -- no timeout any more, so that they are few.
  v_deadline := clock_timestamp() + v_page_time;
  while not v_has_moved or (clock_timestamp() < v_deadline and cardinality(p_tail.logs) = 0) loop
    v_began_at := clock_timestamp();
    p_tail := logloom_private.examine_log_tail(
      p_tenant_id, p_query, least(v_records, p_limit), p_last, p_tail
    );
    v_has_moved := true;
    exit when not p_tail.more;
    -- Nothing ends the next piece: it must be sure to end in time by itself.
    if clock_timestamp() - v_began_at < v_page_time / 8 then
      v_records := least(v_records * 2, p_limit);
    end if;
  end loop;
  return p_tail;
end;
$$;

-- search/answered_bytes.sql
-- How many bytes records have in an answer.
create function logloom_private.answered_bytes(p_logs public.logloom_log_record[])
returns bigint
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return coalesce(
    (
      select sum(octet_length(to_json(l)::text))
      from (select unnest(p_logs) as l) l
    ),
    0
  );
end;
$$;

-- search/bound_query.sql
-- The query with the bounds of what is read: of a range, what its ts leaves, what the tenant keeps,
-- and, where p_ts is given, what a page after it can have.
create function logloom_private.bound_query(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_range tstzrange,
  p_order text default 'desc',
  p_ts timestamptz default null
)
returns logloom_private.compiled_query
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  p_query.ts_from := logloom_private.kept_from(
    p_tenant_id,
    greatest(lower(p_range), p_query.ts_from, case when p_order = 'asc' then p_ts end)
  );
  p_query.ts_to := least(
    upper(p_range), p_query.ts_to,
    case when p_order = 'desc' then p_ts + interval '1 microsecond' end
  );
  return p_query;
end;
$$;

-- search/bucket_seconds.sql
-- The least width of which p_buckets, or search_buckets_default, cover the range. Buckets are
-- counted from the epoch: one more than p_buckets may touch it. PT400 when out of bounds.
create function logloom_private.bucket_seconds(p_range tstzrange, p_buckets integer)
returns bigint
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_seconds constant numeric := extract(epoch from upper(p_range) - lower(p_range));
  v_max integer;
  v_buckets integer;
  v_width bigint;
begin
  select s.search_buckets_max, coalesce(p_buckets, s.search_buckets_default)
  into v_max, v_buckets
  from logloom_private.settings s;
  if p_buckets not between 1 and v_max then
    perform logloom_private.refuse('search.buckets_are_out_of_range', v_max::text);
  end if;
  foreach v_width in array
    array[1, 5, 10, 15, 30, 60, 300, 900, 1800, 3600, 10800, 21600, 43200, 86400]
  loop
    if v_width * v_buckets >= v_seconds then
      return v_width;
    end if;
  end loop;
  return ceil(v_seconds / v_buckets / 86400) * 86400;
end;
$$;

-- search/chosen_rows_sql.sql
-- SQL from "where" on, over columns that p_sql maps from the names of aggregates and groups: what
-- where after an aggregate asks, the keys of sort, then p_order, and the least of both limits.
create function logloom_private.chosen_rows_sql(
  p_plan jsonb,
  p_sql jsonb,
  p_order text,
  p_limit integer
)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_having constant text := (
    select string_agg(
      format(
        '%s %s %L::double precision', p_sql ->> (h ->> 'name'),
        case h ->> 'operator' when '!=' then '<>' else h ->> 'operator' end, h ->> 'number'
      ),
      ' and '
    )
    from jsonb_array_elements(p_plan -> 'having') h
  );
  v_keys constant text := (
    select string_agg(
      (p_sql ->> (k.key ->> 'name'))
        || case when (k.key -> 'descending')::boolean then ' desc' else '' end || ' nulls last',
      ', ' order by k.n
    )
    from jsonb_array_elements(p_plan -> 'sort') with ordinality k (key, n)
  );
begin
  return format(
    'where %s order by %s limit %s', coalesce(v_having, 'true'),
    concat_ws(', ', v_keys, p_order), least(p_limit, (p_plan -> 'limit')::integer)
  );
end;
$$;

-- search/counted_rows_sql.sql
-- SQL from "from" on: ts, level, service and events of what is to be counted: the counts of the
-- range's whole minutes, in log_counts and in blocks, and the records of what it has of its first
-- and last one. Null where the counts cannot answer the query.
create function logloom_private.counted_rows_sql(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_from timestamptz,
  p_to timestamptz
)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_fields constant text[] :=
    logloom_private.query_reads(p_query.tree) || p_query.by_fields;
  v_first constant timestamptz :=
    date_bin('1 minute', p_from + interval '59.999999 seconds', 'epoch');
  v_last constant timestamptz := date_bin('1 minute', p_to, 'epoch');
  v_filter text;
  v_hides_services boolean;
begin
  if v_first >= v_last
    or not v_fields <@ array['level', 'service']
    or p_query.aggregate not in ('count', 'rate')
  then
    return null;
  end if;
  if 'service' = any(v_fields) then
    execute 'select exists (select ' || logloom_private.tenant_rows_sql(
      p_tenant_id, v_first, v_last, 'l.is_other', 'logloom_private.log_counts', 'minute'
    ) || ')'
    into v_hides_services;
    if v_hides_services then
      return null;
    end if;
  end if;

  v_filter := logloom_private.query_sql(p_query.tree, 'l');
  return 'from (select l.minute as ts, l.level, l.service, l.events '
    || logloom_private.tenant_rows_sql(
      p_tenant_id, v_first, v_last, v_filter, 'logloom_private.log_counts', 'minute'
    )
    || ' union all select l.ts, l.level, l.service, l.events '
    || logloom_private.tenant_rows_sql(
      p_tenant_id, v_first, v_last, v_filter,
      format(
        'logloom_private.block_counts(%s, %L, %L)',
        logloom_private.scanned_tenant_sql(quote_literal(p_tenant_id)), v_first, v_last
      )
    )
    || case when p_from < v_first then
        ' union all select l.ts, l.level, l.service, 1 '
          || logloom_private.records_sql(
            p_tenant_id, p_query, p_from, v_first, array['ts', 'level', 'service']
          )
      else '' end
    || case when v_last < p_to then
        ' union all select l.ts, l.level, l.service, 1 '
          || logloom_private.records_sql(
            p_tenant_id, p_query, v_last, p_to, array['ts', 'level', 'service']
          )
      else '' end
    || ') l';
end;
$$;

-- search/cut_record.sql
-- What an answer has of a record that is larger than a page: the beginnings of its texts, and in
-- attrs.logloom_cut how many bytes it has.
create function logloom_private.cut_record(p_log public.logloom_log_record, p_size bigint)
returns public.logloom_log_record
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  p_log.msg := left(p_log.msg, 100000);
  -- fields text but level, msg: p_log.{name} := left(p_log.{name}, 10000);
  p_log.service := left(p_log.service, 10000);
  p_log.env := left(p_log.env, 10000);
  p_log.req_id := left(p_log.req_id, 10000);
  p_log.user_id := left(p_log.user_id, 10000);
  p_log.route := left(p_log.route, 10000);
  p_log.host := left(p_log.host, 10000);
  -- fields end
  p_log.attrs := jsonb_build_object('logloom_cut', jsonb_build_object('attrs', p_size));
  return p_log;
end;
$$;

-- search/decode_cursor.sql
-- The parts of a cursor as a regular expression captures them. PT400 where it does not match.
create function logloom_private.decode_cursor(p_cursor text, p_pattern text)
returns text[]
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
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
    perform logloom_private.refuse('search.cursor_is_invalid');
  end if;
  return v_parts;
end;
$$;

-- search/encode_cursor.sql
-- An opaque text that decode_cursor reads. What a cursor holds: of a page, read_log_page says; of
-- the live tail, tail_logs.
create function logloom_private.encode_cursor(p_parts text[])
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return translate(
    encode(convert_to(array_to_string(p_parts, ' '), 'UTF8'), 'base64'), e'+/=\n', '-_'
  );
end;
$$;

-- search/export_logs.sql
-- SQL: the cell of a CSV file that p_value, an SQL expression, is, as RFC 4180 quotes it. A
-- spreadsheet takes a text for a formula that begins as one: an apostrophe before it makes it text.
-- Most cells are as they are: to find these by strpos costs less than by an expression.
create function logloom_private.csv_cell_sql(p_value text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_cell constant text := 'case when %1$s is null then '''' '
    'when strpos(e''=+@-\t\r\n＝＋－＠'', left(%1$s, 1)) = 0 and strpos(%1$s, ''"'') = 0 '
    'and strpos(%1$s, '','') = 0 and strpos(%1$s, e''\n'') = 0 and strpos(%1$s, e''\r'') = 0 '
    'then %1$s when %1$s ~ ''^[-+]?[0-9.]+$'' then %1$s '
    'when %1$s ~ ''^[=+@\t\r\n＝＋－＠-]'' '
    'then ''"'''''' || replace(%1$s, ''"'', ''""'') || ''"'' '
    'else ''"'' || replace(%1$s, ''"'', ''""'') || ''"'' end';
begin
  return case when p_value ~ '^l\.[a-z_]+$' then format(v_cell, p_value)
    else format('(select ' || v_cell || ' from (select %2$s as v offset 0) c)', 'c.v', p_value)
  end;
end;
$$;

-- The columns of a CSV export, {name, sql} over the alias l: ts and id, then those of the query's
-- stage fields, or all.
create function logloom_private.csv_columns(p_fields jsonb)
returns table (name text, sql text)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select c.name, c.sql
  from (
    select 0 as part, f.place::bigint as n, f.name, 'to_json(l.' || f.name || ') #>> ''{}''' as sql
    from (values (1, 'ts'), (2, 'id')) f (place, name)
    union all
    select 1, f.n, f.field ->> 'name', logloom_private.query_group_sql(f.field, 'l')
    from jsonb_array_elements(p_fields) with ordinality f (field, n)
    where f.field ->> 'field' not in ('ts', 'id')
    union all
    select
      1, f.shown, f.name,
      case f.type
        when 'text' then 'l.' || f.name
        when 'jsonb' then 'l.' || f.name || '::text'
        else 'to_json(l.' || f.name || ') #>> ''{}'''
      end
    from unnest(logloom_private.record_fields()) f
    where p_fields is null and f.shown is not null and f.name not in ('ts', 'id', 'tenant_id')
  ) c
  order by c.part, c.n;
end;
$$;

-- A cursor of read_log_page at the beginning of an export: at its range's end, of what had been
-- received when everything before that was visible.
create function logloom_private.export_cursor(
  p_range tstzrange,
  p_order text
)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_received_before constant timestamptz := coalesce(
    logloom_private.watermark((logloom_private.queue_state()).oldest_received_at), 'epoch'
  );
begin
  return logloom_private.encode_cursor(
    array['page', p_order]
      || array(
        select (extract(epoch from t) * 1000000)::bigint::text
        from unnest(array[
          case p_order when 'asc' then lower(p_range) else upper(p_range) end,
          lower(p_range), upper(p_range), now()
        ]) t
      )
      || '00000000-0000-0000-0000-000000000000'::text
      || ('w' || (extract(epoch from v_received_before) * 1000000)::bigint)
  );
end;
$$;

-- A cursor of an export, moved to after the record that p_after names: its ts and its id.
create function logloom_private.cursor_after(p_cursor text, p_after text)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_parts text[];
  v_after constant text[] := regexp_match(
    p_after, '^([^,]{1,40}),([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$'
  );
  v_ts constant timestamptz := logloom_private.iso_instant(v_after[1]);
begin
  if p_after is null then
    return p_cursor;
  elsif v_ts is null then
    perform logloom_private.refuse('search.place_is_invalid');
  end if;
  v_parts := logloom_private.decode_cursor(
    p_cursor,
    '^(page (?:desc|asc)) \d{1,18} (\d{1,18}) (\d{1,18}) (\d{1,18}) [0-9a-f-]{36}(.*)$'
  );
  -- In a range that has moved on since, records after that place may be missing.
  if not v_ts <@ tstzrange(
    'epoch'::timestamptz + (v_parts[2] || ' microseconds')::interval,
    'epoch'::timestamptz + (v_parts[3] || ' microseconds')::interval
  ) then
    perform logloom_private.refuse('search.place_is_outside');
  end if;
  return logloom_private.encode_cursor(array[
    v_parts[1], (extract(epoch from v_ts) * 1000000)::bigint::text,
    v_parts[2], v_parts[3], v_parts[4], v_after[2] || v_parts[5]
  ]);
end;
$$;

create function logloom_private.read_log_export(
  p_scope logloom_private.reading_scope,
  p_query_dsl text,
  p_ts_from text,
  p_ts_to text,
  p_format text,
  p_order text,
  p_cursor text,
  p_after text
)
returns public.logloom_log_export
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
set jit = off
as $$
-- definer because no API role knows what the writer has written
declare
  v_scope constant logloom_private.reading_scope :=
    logloom_private.checked_scope(p_scope, 'export_logs');
  v_page public.logloom_log_page;
  v_export public.logloom_log_export;
  v_is_first constant boolean := p_cursor is null and p_after is null;
  v_plan jsonb;
  v_order text;
  v_columns text[];
  v_cells text[];
begin
  if p_format not in ('ndjson', 'csv', 'json') then
    perform logloom_private.refuse('search.format_is_unknown');
  elsif p_order not in ('desc', 'asc') then
    perform logloom_private.refuse('search.order_is_unknown');
  end if;
  v_plan := (logloom_private.compile_query(p_query_dsl)).plan;
  if p_after is not null and v_plan ? 'limit' then
    perform logloom_private.refuse('search.place_meets_limit');
  end if;
  v_order := coalesce(
    p_order,
    case when (v_plan -> 'sort' -> 0 -> 'descending')::boolean then 'desc' end, 'asc'
  );
  -- Of what comes last in a descending export, as much is missing as the range has moved on.
  if p_after is not null and p_cursor is null and v_order = 'desc'
    and (p_ts_from ~ '^\s*[^n\s]') is not true then
    perform logloom_private.refuse('search.place_is_outside');
  end if;
  v_export.cursor := coalesce(
    p_cursor,
    logloom_private.export_cursor(
      logloom_private.search_range(p_ts_from, p_ts_to), v_order
    )
  );
  -- By itself it opens no other records than that does.
  v_page := logloom_private.read_log_page(
    p_scope, p_query_dsl, p_ts_from, p_ts_to, null,
    logloom_private.cursor_after(v_export.cursor, p_after), v_order
  );
  v_export.records := cardinality(v_page.logs);
  v_export.next_cursor := v_page.next_cursor;
  if p_format = 'json' then
    v_export.text := '';
    select coalesce(json_agg(l), '[]') into v_export.logs from unnest(v_page.logs) l;
    return v_export;
  elsif p_format is distinct from 'csv' then
    select coalesce(string_agg(to_json(r.l)::text || e'\n', '' order by r.n), '')
    into v_export.text
    from (select l, row_number() over () as n from (select unnest(v_page.logs) as l) u) r;
    return v_export;
  end if;
  select
    array_agg(logloom_private.csv_cell_sql(quote_literal(c.name))),
    array_agg(logloom_private.csv_cell_sql(c.sql))
  into v_columns, v_cells
  from logloom_private.csv_columns(v_plan -> 'fields') c;
  execute format(
    'select coalesce(string_agg(%s || e''\r\n'', '''' order by l.n), '''') '
      'from unnest($1) with ordinality l (%s, n)',
    array_to_string(v_cells, ' || '','' || '),
    (
      select string_agg(f.name, ', ' order by f.shown)
      from unnest(logloom_private.record_fields()) f
      where f.shown is not null
    )
  )
  into v_export.text
  using v_page.logs;
  if v_is_first then
    execute 'select ' || array_to_string(v_columns, ' || '','' || ') || ' || e''\r\n'' || $1'
    into v_export.text
    using v_export.text;
  end if;
  return v_export;
exception when query_canceled or lock_not_available or connection_exception or admin_shutdown
  or internal_error
then
  if not logloom_private.reads_again(sqlstate, sqlerrm) then
    raise;
  end if;
  return logloom_private.read_log_export(
    p_scope, p_query_dsl, p_ts_from, p_ts_to, p_format, p_order, p_cursor, p_after
  );
end;
$$;

create function public.export_logs(
  p_query_dsl text default null,
  p_ts_from text default null,
  p_ts_to text default null,
  p_format text default null,
  p_order text default null,
  p_cursor text default null,
  p_after text default null
)
returns public.logloom_log_export
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
set statement_timeout = '15s'
as $$
begin
  return logloom_private.read_log_export(
    null, p_query_dsl, p_ts_from, p_ts_to, p_format, p_order, p_cursor, p_after
  );
end;
$$;

comment on function public.export_logs(text, text, text, text, text, text, text) is
  'A page of an export: {text, records, cursor, next_cursor, logs}, for GET '
  'logloom-read/v1/export. p_format: ndjson (the default), a record as search_logs has it in each '
  'line of text; csv (RFC 4180); or json, the records in logs. '
  'p_order: asc (the default) or desc. It holds what was received when it began and visible to its '
  'end. p_cursor: next_cursor of the page before, or cursor of any page with p_after: <ts>,<id> of '
  'the last record that was received. Errors: PT400, PT401, PT403, PT408, PT429.';

-- search/filter_by_scan_slot.sql
-- A query's tree as a boolean expression over the alias l that takes the scan slot while it reads.
-- p_filter: the expression of the whole tree, where it is known. What an index answers stays
-- outside: a condition within CASE is a filter to the planner.
create function logloom_private.filter_by_scan_slot(p_tree jsonb, p_filter text default null)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_items constant jsonb := case p_tree ->> 'type'
    when 'and' then p_tree -> 'items' else jsonb_build_array(p_tree)
  end;
  v_filter constant text := coalesce(p_filter, logloom_private.query_sql(p_tree, 'l'));
  -- In the text: where records are sharded, who reads them knows no setting of this transaction.
  v_scan constant text := quote_nullable(current_setting('logloom.scan', true));
  v_quick jsonb;
  v_costly jsonb;
begin
  select
    jsonb_agg(i.item order by i.n) filter (where i.is_quick),
    jsonb_agg(i.item order by i.n) filter (where i.is_quick is not true)
  into v_quick, v_costly
  from (
    select
      e.item,
      e.n,
      -- Null where a node is no leaf: each item stands on one of the two sides.
      e.item ->> 'type' = 'none' or (e.item -> 'rows_index')::boolean as is_quick
    from jsonb_array_elements(v_items) with ordinality e (item, n)
  ) i;
  return '(' || concat_ws(
    ' and ',
    case
      when v_costly is null then v_filter
      when v_quick is not null
        then logloom_private.query_sql(jsonb_build_object('type', 'and', 'items', v_quick), 'l')
    end,
    'case when uuid_hash(l.id) & 255 <> 0 or logloom_private.take_scan_slot(' || v_scan || ') then '
      || case
        when v_quick is null then v_filter
        when v_costly is null then 'true'
        else logloom_private.query_sql(jsonb_build_object('type', 'and', 'items', v_costly), 'l')
      end || ' end'
  ) || ')';
end;
$$;

-- search/first_records_sql.sql
-- SQL from "from" on: the first p_limit records of a bound query in p_order, those after p_ts and
-- p_id where they are given: as many of rows and of sealed ones, and of these the first; as many as
-- an extraction may read where a filter comes after it. p_reads: what is read besides ts and id;
-- all may be where it is null. p_bytes: of records after so many bytes nothing but the place and
-- the size is there, unless they are extracted from.
create function logloom_private.first_records_sql(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_limit integer,
  p_order text,
  p_ts timestamptz default null,
  p_id uuid default null,
  p_reads text[] default null,
  p_bytes bigint default null
)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_after constant text := case when p_ts is null then ''
    -- The comparison of rows drives the index.
    else format(
      '(l.ts, l.id) %s (%L::timestamptz, %L::uuid) and ',
      case p_order when 'asc' then '>' else '<' end, p_ts, p_id
    ) end;
  v_rows text;
  v_order text;
begin
  p_reads := case when p_reads is not null then p_reads || array['ts', 'id'] end;
  if jsonb_array_length(p_query.plan -> 'rows') > 0 then
    p_bytes := null;
    if p_query.plan -> 'rows' @> '[{"stage": "where"}]' then
      p_limit := (select s.search_stage_records from logloom_private.settings s) + 1;
    end if;
  end if;
  v_order := format(' order by l.ts %1$s, l.id %1$s limit %2$s', p_order, p_limit);
  if p_query.masked_tree is not null then
    -- How many of them it lets through shows without the hidden fields alone.
    return logloom_private.records_sql(
      p_tenant_id, p_query, p_query.ts_from, p_query.ts_to, p_reads
    ) || ' and ' || v_after || 'true' || v_order;
  elsif p_query.hidden_fields is not null then
    p_bytes := null;
  end if;
  v_rows := logloom_private.rows_sql(
    p_tenant_id, p_query.ts_from, p_query.ts_to, v_after || p_query.filter, p_reads, p_order,
    p_limit, p_bytes
  ) || v_order;
  if logloom_private.reads_sealed(p_tenant_id, p_query.ts_from, p_query.ts_to) then
    v_rows := 'from ((select l.* ' || v_rows
      || ') union all select l.* from logloom_private.sealed_page('
      || format(
        '%s, %L, %L, %L, %L, %L, %L, %L, %L, %L',
        logloom_private.scanned_tenant_sql(quote_literal(p_tenant_id)), p_query.ts_from,
        p_query.ts_to, p_query.tree, p_limit, p_order, p_ts, p_id, p_reads, p_bytes
      )
      || ') l) l' || v_order;
  end if;
  if p_query.hidden_fields is not null then
    v_rows := logloom_private.masked_sql(p_query, v_rows) || v_order;
  end if;
  return v_rows;
end;
$$;

-- search/found_page.sql
-- Up to p_limit records that a query finds, those after p_ts and p_id where they are given: part
-- after part of the range, until the page is full, by number or by p_bytes (default
-- max_page_bytes). It begins no further part after search_page_time, so that it may find fewer.
-- last_ts, last_id: after which the next page goes on; null where there is none.
create function logloom_private.found_page(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_range tstzrange,
  p_limit integer,
  p_order text,
  p_ts timestamptz,
  p_id uuid,
  p_bytes bigint default null,
  out logs public.logloom_log_record[],
  out last_ts timestamptz,
  out last_id uuid
)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_is_staged constant boolean := jsonb_array_length(p_query.plan -> 'rows') > 0;
  -- Borders of blocks say something of what is hidden.
  v_is_masked constant boolean := p_query.hidden_fields is not null;
  v_parts tstzrange[];
  v_part tstzrange;
  v_left integer;
  v_rows text;
  v_sql text;
  v_deadline timestamptz;
  v_found public.logloom_log_record[];
  v_is_exact boolean;
  v_is_full boolean;
begin
  select clock_timestamp() + s.search_page_time, coalesce(p_bytes, s.max_page_bytes)
  into v_deadline, p_bytes
  from logloom_private.settings s;
  p_query := logloom_private.bound_query(p_tenant_id, p_query, p_range, p_order, p_ts);
  v_parts := logloom_private.search_parts(
    p_tenant_id, p_query.ts_from, p_query.ts_to, p_order, not v_is_masked
  );
  -- The bound of an extraction is one of all that it reads.
  if v_is_staged and cardinality(v_parts) > 1 then
    v_parts := array[tstzrange(p_query.ts_from, p_query.ts_to)];
  end if;
  logs := '{}';
  foreach v_part in array v_parts loop
    p_query.ts_from := lower(v_part);
    p_query.ts_to := upper(v_part);
    v_left := p_limit + 1 - cardinality(logs);
    v_rows := logloom_private.first_records_sql(
      p_tenant_id, p_query, v_left, p_order, p_ts, p_id, p_bytes => p_bytes
    );
    -- Most pages have no large record, and adding up sizes costs: first as if there were none.
    foreach v_is_exact in array array[false, true] loop
      v_sql := logloom_private.page_sql(
        p_query, v_rows, format('l.ts %1$s, l.id %1$s', p_order), v_left, p_bytes, v_is_exact
      );
      -- After a single part nothing more is opened.
      v_found := case when cardinality(v_parts) = 1 then logloom_private.read_page(v_sql)
        else logloom_private.read_apart(v_sql) end;
      v_is_full := array_position(v_found, null) is not null;
      -- What is extracted, or hides fields, was measured at once.
      exit when v_is_staged or v_is_masked or not v_is_full;
    end loop;
    if v_is_full then
      v_found := array_remove(v_found, null);
    end if;
    logs := case when cardinality(logs) = 0 then v_found else logs || v_found end;
    if v_is_full or cardinality(logs) > p_limit then
      logs := logs[1:p_limit];
      last_ts := logs[cardinality(logs)].ts;
      last_id := logs[cardinality(logs)].id;
      exit;
    elsif v_part <> v_parts[cardinality(v_parts)] and clock_timestamp() > v_deadline then
      -- Before or after all records of the parts that are left.
      if p_order = 'desc' then
        last_ts := lower(v_part);
        last_id := '00000000-0000-0000-0000-000000000000';
      else
        last_ts := upper(v_part) - interval '1 microsecond';
        last_id := 'ffffffff-ffff-ffff-ffff-ffffffffffff';
      end if;
      exit;
    end if;
    if cardinality(v_parts) > 1 then
      p_bytes := p_bytes - logloom_private.answered_bytes(v_found);
    end if;
  end loop;
end;
$$;

-- search/get_log.sql
create function public.get_log(p_id uuid default null, p_ts timestamptz default null)
returns public.logloom_log_record
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
set statement_timeout = '15s'
as $$
begin
  return logloom_private.read_log(null, p_id, p_ts);
end;
$$;

comment on function public.get_log(uuid, timestamptz) is
  'One record. p_ts, its time, finds it at once; without it the search begins at the time of '
  'receipt, which the id holds. Errors: PT400, PT401, PT404, PT408.';

-- search/get_log_context.sql
-- The neighbours of a record in a scope, of its host and service, on one side of it: of a very long
-- host or service those that begin alike, since a query is in memory many times.
create function logloom_private.log_neighbours(
  p_scope logloom_private.reading_scope,
  p_log public.logloom_log_record,
  p_count integer,
  p_order text,
  p_bytes bigint
)
returns public.logloom_log_record[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_query logloom_private.compiled_query;
begin
  if p_count = 0 then
    return '{}';
  end if;
  select case when count(*) = 0 then '{"type": "all"}' else jsonb_build_object(
    'type', 'and', 'items', jsonb_agg(case
      when v.value is not null then logloom_private.query_leaf(
        logloom_private.query_field(v.field, 1),
        case
          when length(v.value) <= 50000
            then jsonb_build_object('test', 'equal', 'values', jsonb_build_array(v.value))
          else jsonb_build_object(
            'test', 'like', 'values',
            jsonb_build_array(logloom_private.query_like_text(left(v.value, 50000)) || '%')
          )
        end
      )
      else jsonb_build_object('type', 'not', 'item', logloom_private.query_leaf(
        logloom_private.query_field(v.field, 1), '{"test": "exists"}'
      ))
    end)
  ) end
  into v_query.tree
  from (values ('host', p_log.host), ('service', p_log.service)) v (field, value)
  where logloom_private.is_hidden(v.field, p_scope.hidden_fields) is not true;
  v_query.filter := logloom_private.query_sql(v_query.tree, 'l');
  v_query := logloom_private.scoped_query(p_scope, v_query, '');
  return (
    logloom_private.found_page(
      p_log.tenant_id, v_query,
      tstzrange(p_log.ts - interval '1 day', p_log.ts + interval '1 day'),
      p_count, p_order, p_log.ts, p_log.id, p_bytes
    )
  ).logs;
end;
$$;

create function logloom_private.read_log_context(
  p_scope logloom_private.reading_scope,
  p_id uuid,
  p_ts timestamptz,
  p_before integer,
  p_after integer
)
returns setof public.logloom_log_record
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
set jit = off
as $$
-- definer because nobody but the search functions makes SQL over records
declare
  v_scope constant logloom_private.reading_scope :=
    logloom_private.checked_scope(p_scope, 'get_log_context');
  v_log public.logloom_log_record;
  v_bytes bigint := (select s.max_page_bytes from logloom_private.settings s);
  v_before constant integer := coalesce(p_before, 20);
  v_after constant integer := coalesce(p_after, 20);
  v_max constant integer := (select s.list_limit_max from logloom_private.settings s) / 2 - 1;
begin
  if v_before not between 0 and v_max or v_after not between 0 and v_max then
    perform logloom_private.refuse('search.context_is_out_of_range', v_max::text);
  end if;
  v_log := logloom_private.read_log(p_scope, p_id, p_ts);
  -- Half of what is left to each side, and a record at least.
  v_bytes := greatest((v_bytes - logloom_private.answered_bytes(array[v_log])) / 2, 1);
  return query
  select b.*
  from unnest(logloom_private.log_neighbours(v_scope, v_log, v_before, 'desc', v_bytes)) b
  where b.host is not distinct from v_log.host and b.service is not distinct from v_log.service
  order by b.ts, b.id;
  return next v_log;
  return query
  select a.*
  from unnest(logloom_private.log_neighbours(v_scope, v_log, v_after, 'asc', v_bytes)) a
  where a.host is not distinct from v_log.host and a.service is not distinct from v_log.service;
exception when query_canceled or lock_not_available or connection_exception or admin_shutdown
  or internal_error
then
  if not logloom_private.reads_again(sqlstate, sqlerrm) then
    raise;
  end if;
  return query
  select r.*
  from logloom_private.read_log_context(p_scope, p_id, p_ts, p_before, p_after) r;
end;
$$;

create function public.get_log_context(
  p_id uuid default null,
  p_ts timestamptz default null,
  p_before integer default null,
  p_after integer default null
)
returns setof public.logloom_log_record
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
set statement_timeout = '15s'
as $$
begin
  return query
  select r.* from logloom_private.read_log_context(null, p_id, p_ts, p_before, p_after) r;
end;
$$;

comment on function public.get_log_context(uuid, timestamptz, integer, integer) is
  'A record and those around it, of the same host and the same service (or likewise without), in '
  'time order: p_before before it and p_after after it, 0 to 499 (default 20), within a day; of '
  'large records fewer, some 4 MB a side. p_ts, its time, finds it at once. '
  'Errors: PT400, PT401, PT404, PT408, PT429.';

-- search/groups_source.sql
-- Rows of what a bound query groups by, and events: for how many records a row stands. With p_key
-- the numbers of this attribute, and what their sums need, in rows of which not each stands for
-- records. Sealed ones come from columns of blocks. Null where a field that it groups by is none of
-- these. The tenant has rows from p_rows_from on.
create function logloom_private.groups_source(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_rows_from timestamptz,
  p_key text default null
)
returns logloom_private.counted_source
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_by constant jsonb := p_query.plan -> 'by';
  v_exact constant boolean := p_key is not null and jsonb_path_exists(
    p_query.plan -> 'aggregates', '$[*] ? (@.fraction == null && @.field != null)'
  );
  v_percentiles constant jsonb := (
    select jsonb_object_agg('q' || a.n, a.item -> 'fraction')
    from jsonb_array_elements(p_query.plan -> 'aggregates') with ordinality a (item, n)
    where p_key is not null and a.item ->> 'fraction' is not null
  );
  v_doubles constant boolean := v_percentiles is not null;
  v_sums constant text[] := case when v_exact
    then array['numbers', 'total', 'minimum', 'maximum'] else '{}' end;
  v_names constant text[] := array(
    select concat_ws('.', f.field ->> 'field', f.field -> 'path' ->> 0)
    from jsonb_array_elements(v_by) with ordinality f (field, n)
    order by f.n
  );
  v_by_names constant text[] := array(select distinct n from unnest(v_names) n order by 1);
  v_group constant text := array_to_string(
    array(select format('l.k%s, ', n) from generate_subscripts(v_names, 1) n order by n), ''
  );
  v_keys text;
  v_sql text;
begin
  if jsonb_path_exists(v_by, '$[*] ? (@.path.size() > 1)')
    or exists (
      select
      from jsonb_array_elements(v_by) f
      where f ->> 'field' <> all(
        logloom_private.column_fields() || array['attrs', 'level', 'service']
      )
    )
  then
    return null;
  end if;
  v_keys := (
    select string_agg(
      format(
        case when k.name like 'attrs.%' then '(g.keys[%s]::jsonb #>> ''{}'')' else 'g.keys[%s]' end
          || ' as k%s, ',
        array_position(v_by_names, k.name), k.n
      ),
      '' order by k.n
    )
    from unnest(v_names) with ordinality k (name, n)
  );
  v_sql := format(
    'logloom_private.sealed_groups(%s, %L, %L, %L, %L, %L, %L, %L)',
    logloom_private.scanned_tenant_sql(quote_literal(p_tenant_id)),
    p_query.ts_from, p_query.ts_to, p_query.tree, v_by_names, p_key, v_exact, v_doubles
  );
  if p_key is null then
    v_sql := format('(select s.keys, sum(s.events) as events from %s s group by s.keys)', v_sql);
  end if;
  v_sql := concat(
    'select ', v_keys, 'g.events',
    array_to_string(array(select ', g.' || s from unnest(v_sums) s), ''),
    case when v_doubles then ', g.doubles' end, ' from ', v_sql, ' g'
  );
  if p_rows_from < p_query.ts_to then
    v_keys := (
      select string_agg(format('%s as k%s, ', b.sql, b.n), '' order by b.n)
      from unnest(p_query.by_sql) with ordinality b (sql, n)
    );
    v_sql := v_sql || concat(
      ' union all select ', v_group, case when p_key is null then '1' else 'count(*)' end,
      case when v_exact
        then ', count(l.number), sum(l.number), min(l.number), max(l.number)' end,
      case when v_doubles
        then ', array_agg(logloom_private.finite_double(l.number)) '
          || 'filter (where l.number is not null)' end,
      ' from (select ', v_keys,
      case when p_key is null then 'null'
        else format('logloom_private.json_number(l.attrs -> %L)', p_key) end,
      ' as number, date_bin(''10 minutes'', l.ts, ''epoch'') as part ',
      logloom_private.rows_sql(
        p_tenant_id, p_rows_from, p_query.ts_to, p_query.filter,
        array_remove('ts'::text || v_names || ('attrs.' || p_key), null)
      ),
      ' offset 0) l',
      -- In parts, so that no array becomes long.
      case when p_key is not null then ' group by ' || v_group || 'l.part' end
    );
  end if;
  if v_doubles then
    v_sql := logloom_private.percentiles_sql(
      v_sql, array(select 'k' || n from generate_subscripts(v_names, 1) n order by n),
      'events'::text || v_sums || 'doubles'::text, v_percentiles
    );
  end if;
  return (
    'from (' || v_sql || ') l', 'coalesce(sum(l.events), 0)::double precision',
    array(select 'l.k' || n from generate_subscripts(v_names, 1) n order by n), p_key is not null
  )::logloom_private.counted_source;
end;
$$;

-- search/list_log_fields.sql
create type public.logloom_log_field_value as (value text, count bigint);

comment on type public.logloom_log_field_value is
  'A value of a field, and how many records have it.';

create type public.logloom_log_field as (
  field text,
  type text,
  count bigint,
  values public.logloom_log_field_value[]
);

comment on type public.logloom_log_field is
  'A field as a query names it; type: string, number, boolean, array, timestamp, uuid or mixed; '
  'how many records of the sample have it, and its most frequent values.';

-- A key as a segment of an attribute's path, quoted where the language wants it so.
create function logloom_private.query_segment(p_key text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_key collate "und-x-icu" ~ '^[[:alpha:][:digit:]_-]+$' then
    return p_key;
  end if;
  return '"' || regexp_replace(p_key, '(["\\])', '\\\1', 'g') || '"';
end;
$$;

-- SQL from "from" on: the newest records that together stay within the sample's bytes, decided
-- before anything large is opened or sorted. Of msg it matters whether there is one. What is stored
-- is larger than what a reader sees without hidden fields: of that the sample itself is measured.
create function logloom_private.log_fields_sample_sql(
  p_tenant_id text,
  p_query logloom_private.compiled_query
)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_fields constant text[] := array(
    select f.name from unnest(logloom_private.record_fields()) f where f.place is not null
  ) || 'attrs'::text;
  v_settings logloom_private.settings;
begin
  select s.* into v_settings from logloom_private.settings s;
  return logloom_private.sized_rows_sql(
    logloom_private.first_records_sql(
      p_tenant_id, p_query, v_settings.search_sample_records, 'desc',
      p_reads => v_fields || array['msg.exists', 'record_bytes'],
      p_bytes => v_settings.search_sample_bytes
    ),
    'l.ts desc, l.id desc', v_settings.search_sample_bytes,
    case when p_query.hidden_fields is not null then format(
      'octet_length(to_json(row(%s))::text)',
      array_to_string(array(select 'l.' || f from unnest(v_fields) f), ', ')
    ) end
  ) || ' where l.fits';
end;
$$;

-- Rows of public.logloom_log_field. Objects are walked five deep and 200 keys wide; a value of more
-- than 200 characters is left out: hostile attrs cost no more than others.
create function logloom_private.log_fields_sql(
  p_tenant_id text,
  p_query logloom_private.compiled_query
)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  -- An array is not kept: it may be as large as its record.
  v_attributes constant text :=
    '(select j.key, jsonb_typeof(j.value) as type, '
    || 'case jsonb_typeof(j.value) when ''object'' then j.value end as object, '
    || 'case when jsonb_typeof(j.value) in (''string'', ''number'', ''boolean'') '
    || 'then left(j.value #>> ''{}'', 201) end as value from jsonb_each(%s) j limit 200)';
  v_settings logloom_private.settings;
  v_sampled text;
  v_present text;
begin
  select s.* into v_settings from logloom_private.settings s;
  select
    string_agg(format('left(l.%1$s, 201) as %1$s', f.name), ', '),
    string_agg(format('(%1$L, ''string'', s.%1$s)', f.name), ', ')
  into v_sampled, v_present
  from unnest(logloom_private.record_fields()) f
  where f.place is not null;
  return format(
    $query$
      with recursive sample as materialized (
        -- One character more than a value that is listed may have.
        select %5$s, l.msg is not null as has_msg, l.attrs
        %1$s
      ), attributes as (
        select
          logloom_private.query_segment(a.key) as path, 1 as depth, a.type, a.object, a.value
        from sample s, lateral %7$s a
        where length(a.key) <= 200
        union all
        select
          p.path || '.' || logloom_private.query_segment(a.key), p.depth + 1,
          a.type, a.object, a.value
        from attributes p, lateral %8$s a
        where p.depth < 5 and length(p.path) + length(a.key) <= 200
      ), present as (
        select f.field, f.type, f.value
        from sample s,
          lateral (
            values
              ('ts', 'timestamp', null),
              ('received_at', 'timestamp', null),
              ('id', 'uuid', null),
              %6$s
          ) f (field, type, value)
        where f.value is not null or f.type <> 'string'
        union all
        select 'msg', 'string', null from sample s where s.has_msg
        union all
        select 'attrs.' || a.path, a.type, a.value
        -- The recursion ends when nobody asks for more.
        from (select t.* from attributes t limit %4$s) a
        where a.type not in ('null', 'object')
      ), fields as (
        select
          p.field,
          case count(distinct p.type) when 1 then min(p.type) else 'mixed' end as type,
          count(*) as count
        from present p
        group by p.field
        order by count(*) desc, p.field collate "C"
        limit %2$s
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
          select row(v.value, v.count)::public.logloom_log_field_value
          from facets v
          where v.field = f.field and v.place <= %3$s
          order by v.place
        )
      from fields f
      order by f.count desc, f.field collate "C"
    $query$,
    logloom_private.log_fields_sample_sql(p_tenant_id, p_query),
    v_settings.search_sample_fields, v_settings.search_sample_values,
    v_settings.search_sample_cells,
    v_sampled, v_present,
    format(v_attributes, 's.attrs'), format(v_attributes, 'p.object')
  );
end;
$$;

create function logloom_private.read_log_fields(
  p_scope logloom_private.reading_scope,
  p_query_dsl text,
  p_ts_from text,
  p_ts_to text
)
returns setof public.logloom_log_field
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
set jit = off
set work_mem = '4MB'
as $$
-- definer because nobody but this file makes SQL over records
declare
  v_scope constant logloom_private.reading_scope :=
    logloom_private.checked_scope(p_scope, 'list_log_fields');
  v_tenant_id constant text := v_scope.tenant_id;
  v_range constant tstzrange := logloom_private.search_range(p_ts_from, p_ts_to);
  v_query logloom_private.compiled_query;
begin
  perform logloom_private.take_search_slot(v_tenant_id);
  v_query := logloom_private.search_query(v_scope, p_query_dsl, now(), 'filter');
  return query execute logloom_private.log_fields_sql(
    v_tenant_id, logloom_private.bound_query(v_tenant_id, v_query, v_range)
  );
exception when query_canceled or lock_not_available or connection_exception or admin_shutdown
  or internal_error
then
  if not logloom_private.reads_again(sqlstate, sqlerrm) then
    raise;
  end if;
  return query
  select r.*
  from logloom_private.read_log_fields(p_scope, p_query_dsl, p_ts_from, p_ts_to) r;
end;
$$;

create function public.list_log_fields(
  p_query_dsl text default null,
  p_ts_from text default null,
  p_ts_to text default null
)
returns setof public.logloom_log_field
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
set statement_timeout = '15s'
as $$
begin
  return query
  select f.field, f.type, f.count, f.values
  from logloom_private.read_log_fields(null, p_query_dsl, p_ts_from, p_ts_to) f;
end;
$$;

comment on function public.list_log_fields(text, text, text) is
  'Fields that the newest records of the range have which match p_query_dsl (all where it is '
  'blank), most frequent first. Errors: PT400, PT401, PT408.';

-- search/log_changes.sql
-- How surprising it is that p_after of p_records_after and p_before of p_records_before are the
-- same share: G-squared, the log-likelihood ratio of T. Dunning, "Accurate Methods for the
-- Statistics of Surprise and Coincidence", Computational Linguistics 19 (1993). Chance brings it to
-- 10.83 once in a thousand times.
create function logloom_private.surprise(
  p_after bigint,
  p_records_after bigint,
  p_before bigint,
  p_records_before bigint
)
returns double precision
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_all constant double precision := p_records_after + p_records_before;
  v_having constant double precision := p_after + p_before;
begin
  return 2 * (
    select coalesce(sum(c.count * ln(c.count / (c.of_row * c.of_column / v_all))), 0)
    from (
      values
        (p_after::double precision, v_having, p_records_after::double precision),
        (p_before, v_having, p_records_before),
        (p_records_after - p_after, v_all - v_having, p_records_after),
        (p_records_before - p_before, v_all - v_having, p_records_before)
    ) c (count, of_row, of_column)
    where c.count > 0
  );
end;
$$;

-- Of the records of a range that a query finds how many have each of a field's most frequent
-- values, or each of their most frequent patterns where p_field is null. is_cut: there are more.
create function logloom_private.facet_counts(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_range tstzrange,
  p_field text
)
returns table (value text, records bigint, is_cut boolean)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_stages constant logloom_private.compiled_query := logloom_private.compile_query(
    case when p_field is null then '| patterns' else '| count() by ' || p_field end
  );
  v_max constant integer := (select s.list_limit_max from logloom_private.settings s);
begin
  p_query.plan := v_stages.plan;
  p_query.aggregate := v_stages.aggregate;
  p_query.by_fields := v_stages.by_fields;
  p_query.by_sql := v_stages.by_sql;
  return query
  select s."group" ->> coalesce(p_field, 'pattern'), s.value::bigint, s.total_groups > v_max
  from logloom_private.log_stats_of(p_tenant_id, p_query, p_range, v_max) s;
end;
$$;

-- The changes of a field's values, or of patterns, that are hardly due to chance, between a range
-- and the one before. Where a list is cut nothing is said of what it leaves out.
create function logloom_private.facet_changes(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_range tstzrange,
  p_before tstzrange,
  p_field text,
  p_records bigint,
  p_records_before bigint
)
returns setof public.logloom_log_change
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  with after as materialized (
    select f.*
    from logloom_private.facet_counts(p_tenant_id, p_query, p_range, p_field) f
  ), before as materialized (
    select f.*
    from logloom_private.facet_counts(p_tenant_id, p_query, p_before, p_field) f
  ), counted as (
    select
      value, coalesce(b.records, 0) as before, coalesce(a.records, 0) as after
    from after a
    full join before b using (value)
    where value is not null
      and (a.value is not null or (select bool_or(c.is_cut) from after c) is not true)
      and (b.value is not null or (select bool_or(c.is_cut) from before c) is not true)
  )
  select
    case when p_field is null then 'pattern' else 'value' end,
    coalesce(p_field, 'msg'), c.value, c.before, c.after,
    case
      when c.before = 0 then 'new'
      when c.after = 0 then 'gone'
      when c.after::double precision / p_records > c.before::double precision / p_records_before
        then 'grown'
      else 'shrunk'
    end,
    round(s.score::numeric, 2)::double precision
  from counted c
  -- Patterns are those of the newest records, which may be fewer.
  cross join lateral logloom_private.surprise(
    least(c.after, p_records), p_records, least(c.before, p_records_before), p_records_before
  ) s (score)
  where s.score >= 10.83;
end;
$$;

create function logloom_private.read_log_changes(
  p_scope logloom_private.reading_scope,
  p_query_dsl text,
  p_ts_from text,
  p_ts_to text,
  p_limit integer
)
returns public.logloom_log_changes
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
set jit = off
as $$
-- definer because nobody but the search functions makes SQL over records
declare
  v_scope constant logloom_private.reading_scope :=
    logloom_private.checked_scope(p_scope, 'log_changes');
  v_tenant_id constant text := v_scope.tenant_id;
  v_deadline constant timestamptz := clock_timestamp() + (
    select s.search_page_time from logloom_private.settings s
  );
  v_range constant tstzrange := logloom_private.search_range(p_ts_from, p_ts_to);
  v_before constant tstzrange := tstzrange(
    lower(v_range) - (upper(v_range) - lower(v_range)), lower(v_range)
  );
  v_query logloom_private.compiled_query;
  v_fields text[];
  v_field text;
  v_answer public.logloom_log_changes;
begin
  perform logloom_private.take_search_slot(v_tenant_id);
  if coalesce(p_limit, 20) not between 1 and 100 then
    perform logloom_private.refuse('search.changes_are_out_of_range');
  end if;
  v_query := logloom_private.search_query(v_scope, p_query_dsl, now(), 'filter');
  v_answer.ts_from := lower(v_range);
  v_answer.ts_to := upper(v_range);
  v_answer.before_from := lower(v_before);
  v_answer.changes := '{}';
  v_answer.warnings := array(
    select w
    from jsonb_populate_recordset(null::public.logloom_query_warning, v_query.warnings) w
  );
  if logloom_private.kept_from(v_tenant_id, lower(v_before)) > lower(v_before) then
    v_answer.warnings := v_answer.warnings || row(
      null, 'the range before begins when records are no longer kept: what is new may be older',
      'Ask for a shorter or a later range.'
    )::public.logloom_query_warning;
  end if;
  select s.value into v_answer.records
  from logloom_private.log_stats_of(v_tenant_id, v_query, v_range, 1) s;
  select s.value into v_answer.records_before
  from logloom_private.log_stats_of(v_tenant_id, v_query, v_before, 1) s;
  if v_answer.records > 0 and v_answer.records_before > 0 then
    execute format(
      'select array(select f.field from (%s) f (field, type, count, items) '
        'where f.field like ''attrs.%%'' and f.type in (''string'', ''number'', ''boolean'') '
        -- Few values, of which each may say something.
        'and (select sum(i.count) from unnest(f.items) i) * 2 >= f.count '
        'order by f.count desc, f.field collate "C" limit 5)',
      logloom_private.log_fields_sql(
        v_tenant_id, logloom_private.bound_query(v_tenant_id, v_query, v_range)
      )
    )
    into v_fields;
    -- Null: patterns.
    foreach v_field in array
      array['level', 'service', 'env', 'host', 'route', null]::text[] || v_fields
    loop
      continue when logloom_private.is_hidden(coalesce(v_field, 'msg'), v_query.hidden_fields);
      if clock_timestamp() > v_deadline then
        v_answer.warnings := v_answer.warnings || row(
          null, 'not all fields were compared, since that took too long',
          'Narrow the filter or the range of time.'
        )::public.logloom_query_warning;
        exit;
      end if;
      v_answer.changes := v_answer.changes || array(
        select c
        from logloom_private.facet_changes(
          v_tenant_id, v_query, v_range, v_before, v_field, v_answer.records,
          v_answer.records_before
        ) c
      );
    end loop;
  end if;
  v_answer.changes := array(
    select c
    from unnest(v_answer.changes) c
    order by
      c.score desc, array_position(array['new', 'gone', 'grown', 'shrunk'], c.change), c.kind,
      c.field collate "C", c.value collate "C"
    limit coalesce(p_limit, 20)
  );
  return v_answer;
exception when query_canceled or lock_not_available or connection_exception or admin_shutdown
  or internal_error
then
  if not logloom_private.reads_again(sqlstate, sqlerrm) then
    raise;
  end if;
  return logloom_private.read_log_changes(p_scope, p_query_dsl, p_ts_from, p_ts_to, p_limit);
end;
$$;

create function public.log_changes(
  p_query_dsl text default null,
  p_ts_from text default null,
  p_ts_to text default null,
  p_limit integer default null
)
returns public.logloom_log_changes
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
set statement_timeout = '15s'
as $$
begin
  return logloom_private.read_log_changes(null, p_query_dsl, p_ts_from, p_ts_to, p_limit);
end;
$$;

comment on function public.log_changes(text, text, text, integer) is
  'What is different in [p_ts_from, p_ts_to) from the range of the same length before it, among '
  'the records that match p_query_dsl: patterns of messages and values of fields that are new, '
  'gone, grown or shrunk by more than chance explains (once in a thousand times), the most '
  'surprising first. p_limit 1 to 100 (default 20). Errors: PT400, PT401, PT408, PT429.';

-- search/log_histogram.sql
create type public.logloom_log_level_counts as (
  debug bigint,
  info bigint,
  warn bigint,
  error bigint,
  "none" bigint
);

comment on type public.logloom_log_level_counts is 'Records by level; none: without one.';

create type public.logloom_log_bucket as (
  ts timestamptz,
  count bigint,
  levels public.logloom_log_level_counts
);

comment on type public.logloom_log_bucket is 'The records from ts on, for interval_seconds.';

create type public.logloom_log_histogram as (
  interval_seconds bigint,
  total bigint,
  buckets public.logloom_log_bucket[]
);

comment on type public.logloom_log_histogram is 'Records over time, in buckets of equal width.';

-- Rows of public.logloom_log_bucket.
create function logloom_private.log_histogram_sql(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_range tstzrange,
  p_seconds bigint
)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_source logloom_private.counted_source;
begin
  p_query := logloom_private.bound_query(p_tenant_id, p_query, p_range);
  -- As count() by level is counted.
  p_query.by_fields := array['level'];
  p_query.plan := '{"reads": ["level"]}';
  v_source := logloom_private.stats_source(p_tenant_id, p_query, true, p_seconds);
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
        )::public.logloom_log_level_counts
      )::public.logloom_log_bucket
      from generate_series(
        date_bin(%1$L::interval, %2$L::timestamptz, 'epoch'),
        date_bin(%1$L::interval, %3$L::timestamptz - interval '1 microsecond', 'epoch'),
        %1$L::interval
      ) b (ts)
      left join counted c on c.ts = b.ts
      order by b.ts
    $query$,
    make_interval(secs => p_seconds), lower(p_range), upper(p_range), v_source.count_sql,
    v_source.rows_sql
  );
end;
$$;

create function logloom_private.read_log_histogram(
  p_scope logloom_private.reading_scope,
  p_query_dsl text,
  p_ts_from text,
  p_ts_to text,
  p_buckets integer
)
returns public.logloom_log_histogram
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
set jit = off
as $$
-- definer because a filter drives an index only where row-level security does not stand between
declare
  v_scope constant logloom_private.reading_scope :=
    logloom_private.checked_scope(p_scope, 'log_histogram');
  v_tenant_id constant text := v_scope.tenant_id;
  v_range constant tstzrange := logloom_private.search_range(p_ts_from, p_ts_to);
  v_query logloom_private.compiled_query;
  v_seconds bigint;
  v_total bigint;
  v_buckets public.logloom_log_bucket[];
begin
  perform logloom_private.take_search_slot(v_tenant_id);
  v_seconds := logloom_private.bucket_seconds(v_range, p_buckets);
  v_query := logloom_private.search_query(v_scope, p_query_dsl, now(), 'filter');
  execute 'select array('
    || logloom_private.log_histogram_sql(v_tenant_id, v_query, v_range, v_seconds) || ')'
  into v_buckets;
  select sum(b.count) into v_total from unnest(v_buckets) b;
  return row(v_seconds, v_total, v_buckets)::public.logloom_log_histogram;
exception when query_canceled or lock_not_available or connection_exception or admin_shutdown
  or internal_error
then
  if not logloom_private.reads_again(sqlstate, sqlerrm) then
    raise;
  end if;
  return logloom_private.read_log_histogram(p_scope, p_query_dsl, p_ts_from, p_ts_to, p_buckets);
end;
$$;

create function public.log_histogram(
  p_query_dsl text default null,
  p_ts_from text default null,
  p_ts_to text default null,
  p_buckets integer default null
)
returns public.logloom_log_histogram
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
set statement_timeout = '15s'
as $$
begin
  return logloom_private.read_log_histogram(null, p_query_dsl, p_ts_from, p_ts_to, p_buckets);
end;
$$;

comment on function public.log_histogram(text, text, text, integer) is
  'Records that match p_query_dsl over time, by level, empty buckets included. p_buckets 1 to 1000 '
  '(default 60). Errors: PT400, PT401, PT408.';

-- search/log_overview.sql
-- SQL: ts, level, service and count of the records of a range that a query finds, ts in steps of
-- p_seconds.
create function logloom_private.service_counts_sql(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_range tstzrange,
  p_seconds bigint
)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_source logloom_private.counted_source;
begin
  p_query := logloom_private.bound_query(p_tenant_id, p_query, p_range);
  -- As count() by service, level is counted.
  p_query.by_fields := array['level', 'service'];
  p_query.plan := '{"reads": ["level", "service"]}';
  v_source := logloom_private.stats_source(p_tenant_id, p_query, true, p_seconds);
  return format(
    'select date_bin(%L::interval, l.ts, ''epoch'') as ts, l.level, l.service, %s as count '
      '%s group by 1, 2, 3',
    make_interval(secs => p_seconds), v_source.count_sql, v_source.rows_sql
  );
end;
$$;

create function logloom_private.read_log_overview(
  p_scope logloom_private.reading_scope,
  p_query_dsl text,
  p_ts_from text,
  p_ts_to text,
  p_limit integer
)
returns public.logloom_log_overview
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
set jit = off
as $$
-- definer because nobody but the search functions makes SQL over records
declare
  v_scope constant logloom_private.reading_scope :=
    logloom_private.checked_scope(p_scope, 'log_overview');
  v_tenant_id constant text := v_scope.tenant_id;
  v_limit constant integer := logloom_private.list_limit(
    p_limit, 'search.page_limit_is_out_of_range'
  );
  v_range constant tstzrange := logloom_private.search_range(p_ts_from, p_ts_to);
  v_length constant double precision := extract(epoch from upper(v_range) - lower(v_range));
  -- The same hours of the day: a load that comes every morning is no change.
  v_shift constant interval := make_interval(hours => 24 * ceil(v_length / 86400)::integer);
  v_before constant tstzrange := tstzrange(lower(v_range) - v_shift, upper(v_range) - v_shift);
  v_seconds constant bigint := 60 * ceil(v_length / 86400)::bigint;
  v_query logloom_private.compiled_query;
  v_answer public.logloom_log_overview;
begin
  perform logloom_private.take_search_slot(v_tenant_id);
  v_query := logloom_private.search_query(v_scope, p_query_dsl, now(), 'filter');
  v_answer.ts_from := lower(v_range);
  v_answer.ts_to := upper(v_range);
  v_answer.before_from := lower(v_before);
  v_answer.before_to := upper(v_before);
  v_answer.warnings := array(
    select w
    from jsonb_populate_recordset(null::public.logloom_query_warning, v_query.warnings) w
  );
  if logloom_private.kept_from(v_tenant_id, lower(v_before)) > lower(v_before) then
    v_answer.warnings := v_answer.warnings || row(
      null, 'the range before begins when records are no longer kept: its counts are not whole',
      'Ask for a shorter or a later range.'
    )::public.logloom_query_warning;
  end if;
  execute format(
    $query$
      with counted as (
        select false as is_before, c.* from (%s) c
        union all
        select true, c.* from (%s) c
      ), services as (
        select
          c.service,
          coalesce(sum(c.count) filter (where not c.is_before), 0)::bigint as records,
          coalesce(sum(c.count) filter (where not c.is_before and c.level = 'error'), 0)::bigint
            as errors,
          coalesce(sum(c.count) filter (where c.is_before), 0)::bigint as records_before,
          coalesce(sum(c.count) filter (where c.is_before and c.level = 'error'), 0)::bigint
            as errors_before,
          max(c.ts) filter (where c.count > 0) as last_seen
        from counted c
        group by c.service
      )
      select
        (select count(*) from services s where s.records > 0 or s.records_before > 0),
        array(
          select row(s.*)::public.logloom_log_service
          from services s
          where s.records > 0 or s.records_before > 0
          order by s.records desc, s.records_before desc, s.service collate "C"
          limit $1
        )
    $query$,
    logloom_private.service_counts_sql(v_tenant_id, v_query, v_range, v_seconds),
    logloom_private.service_counts_sql(v_tenant_id, v_query, v_before, v_seconds)
  )
  into v_answer.total_services, v_answer.services
  using v_limit;
  return v_answer;
exception when query_canceled or lock_not_available or connection_exception or admin_shutdown
  or internal_error
then
  if not logloom_private.reads_again(sqlstate, sqlerrm) then
    raise;
  end if;
  return logloom_private.read_log_overview(p_scope, p_query_dsl, p_ts_from, p_ts_to, p_limit);
end;
$$;

create function public.log_overview(
  p_query_dsl text default null,
  p_ts_from text default null,
  p_ts_to text default null,
  p_limit integer default null
)
returns public.logloom_log_overview
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
set statement_timeout = '15s'
as $$
begin
  return logloom_private.read_log_overview(null, p_query_dsl, p_ts_from, p_ts_to, p_limit);
end;
$$;

comment on function public.log_overview(text, text, text, integer) is
  'The services among the records of [p_ts_from, p_ts_to) that match p_query_dsl: how many records '
  'and errors each has, how many it had in the same hours the day before (of a longer range: as '
  'many days before), and when it was last seen. The largest first. p_limit 1 to 1000 (default '
  '100). Errors: PT400, PT401, PT408, PT429.';

-- search/log_patterns_of.sql
-- Patterns: messages by their shape. What differs from event to event, numbers, ids, addresses and
-- times, is <*>.

-- The shape of a message in two steps. The first is quick and is done for every record: from a
-- digit to the last one of its run, hexadecimal letters and what stands inside times, addresses
-- and paths of numbers included. The second looks at each different result of the first only: the
-- letters that stick to it are those of an id, of a zone or of a month.
create function logloom_private.rough_shape_sql(p_value text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return 'regexp_replace(left(' || p_value || ', 1000) collate "C", '
    || '''[0-9](?:[0-9a-fA-F.:,/+T-]*[0-9])?'', ''<*>'', ''g'')';
end;
$$;

create function logloom_private.shape(p_rough text)
returns text
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_shape text := p_rough;
begin
  if strpos(v_shape, '<*>') = 0 then
    return v_shape;
  end if;
  -- A look whether there may be any takes a tenth of the time that replacing takes.
  -- Ids: hexadecimal letters around digits, or letters between them.
  if v_shape collate "C" ~ '[a-fA-F]<\*>|<\*>[A-Za-z_<-]' then
    v_shape := regexp_replace(
      v_shape collate "C",
      '(?:\m[a-fA-F]{1,16}-?)?<\*>(?:[A-Za-z_-]{0,16}<\*>)+(?:-?[a-fA-F]{1,16}\M)?'
        || '|\m[a-fA-F]{1,16}<\*>(?:-?[a-fA-F]{1,16}\M)?|<\*>-?[a-fA-F]{1,16}\M|<\*>Z\M',
      '<*>', 'g'
    );
  end if;
  -- Addresses of IPv6, dates with the name of the month, lists of numbers.
  if v_shape collate "C" ~ '<\*>[:,]|[bcglnprtvy][ /-]{1,2}<\*>' then
    v_shape := regexp_replace(
      v_shape collate "C",
      '(?:[a-fA-F]{0,4}:{1,2})*<\*>(?::{1,2}(?:[a-fA-F]{1,4}|<\*>))+'
        || '|(?:<\*>[ /-])?\m(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\M[ /-]{1,2}<\*>'
        || '|<\*>(?:, ?<\*>)+',
      '<*>', 'g'
    );
  end if;
  return v_shape;
end;
$$;

-- SQL: shape, count, first, last and example of the rough shapes of the newest messages, p_records
-- at most; of sealed ones, which are counted by their templates, p_templates at most and some more,
-- place instead of example. first and last are microseconds since 1970. is_cut: there are more.
create function logloom_private.rough_shapes_sql(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_records integer,
  p_templates integer
)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_is_counted constant boolean := not p_query.plan ? 'rows' and p_query.hidden_fields is null
    and logloom_private.reads_sealed(p_tenant_id, p_query.ts_from, p_query.ts_to);
  v_rows text;
begin
  -- The newest, for there may be more than can be looked at.
  v_rows := case
    when v_is_counted then logloom_private.rows_sql(
      p_tenant_id, p_query.ts_from, p_query.ts_to, p_query.filter, array['ts', 'id', 'msg'],
      'desc', p_records + 1
    ) || ' order by l.ts desc, l.id desc limit ' || p_records + 1
    else logloom_private.first_records_sql(
      p_tenant_id, p_query, p_records + 1, 'desc',
      p_reads => case when p_query.plan ? 'rows' then null else array['msg'] end
    )
  end;
  return 'select ' || logloom_private.rough_shape_sql('r.msg') || ' as shape, '
    || 'count(*) as count, (extract(epoch from min(r.ts)) * 1000000)::bigint as first, '
    || '(extract(epoch from max(r.ts)) * 1000000)::bigint as last, '
    || 'min(left(r.msg, 1000) collate "C") as example, null::bigint[] as place, '
    || 'sum(count(*)) over () > ' || p_records || ' as is_cut from (select l.ts, l.msg '
    || logloom_private.staged_sql(p_query, 'from (select l.* ' || v_rows || ') l')
    || ') r group by 1'
    || case when v_is_counted then ' union all select '
      || logloom_private.rough_shape_sql('t.template')
      || ', t.count, t.first, t.last, null, t.place, t.is_cut '
      || 'from (select s.template, sum(s.events) as count, min(s.first_us) as first, '
      || 'max(s.last_us) as last, min(s.place) as place, '
      || 'sum(count(*)) over () > ' || p_templates
      || ' as is_cut from logloom_private.sealed_patterns('
      || format(
        '%s, %L, %L, %L, %s',
        logloom_private.scanned_tenant_sql(quote_literal(p_tenant_id)),
        p_query.ts_from, p_query.ts_to, p_query.tree, p_templates
      )
      || ') s group by s.template) t'
    else '' end;
end;
$$;

-- The shapes of the messages that a query finds: of the newest search_stage_records of those that
-- are read, of the newest search_stage_templates of those that blocks count.
create function logloom_private.log_patterns_of(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_range tstzrange,
  p_limit integer
)
returns setof public.logloom_log_stat
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_records integer;
  v_templates integer;
  v_columns constant jsonb := jsonb_build_object(
    'count', 'p.count', 'first', 'p.first', 'last', 'p.last', 'pattern', 'p.pattern collate "C"'
  );
  v_time constant text :=
    'to_char(timestamptz ''epoch'' + p.%s * interval ''1 microsecond'', '
      || '''YYYY-MM-DD"T"HH24:MI:SS.US"Z"'')';
begin
  select s.search_stage_records, s.search_stage_templates into v_records, v_templates
  from logloom_private.settings s;
  return query execute
    'with found as materialized ('
      || logloom_private.rough_shapes_sql(
        p_tenant_id, logloom_private.bound_query(p_tenant_id, p_query, p_range), v_records,
        v_templates
      )
    || '), rough as (select f.shape, sum(f.count) as count, min(f.first) as first, '
      || 'max(f.last) as last, min(f.example) as example, min(f.place) as place '
      || 'from found f group by 1'
    || '), patterns as (select logloom_private.shape(r.shape) as pattern, '
      || 'sum(r.count)::double precision as count, min(r.first) as first, max(r.last) as last, '
      || 'min(r.example) as example, min(r.place) as place from rough r group by 1'
    || '), chosen as materialized (select c.*, row_number() over () as n from ('
      || 'select p.*, count(*) over () as total from patterns p '
      || logloom_private.chosen_rows_sql(
        p_query.plan, v_columns, 'p.count desc, p.pattern collate "C"', p_limit
      )
    || ') c), messages as (select m.* from logloom_private.sealed_messages('
      || logloom_private.scanned_tenant_sql(quote_literal(p_tenant_id))
      || ', array(select c.place from chosen c where c.place is not null)'
      || ') m) '
    || 'select jsonb_build_object(''pattern'', p.pattern), p.count, jsonb_build_object('
      || '''count'', p.count, ''first'', ' || format(v_time, 'first') || ', ''last'', '
      || format(v_time, 'last') || ', ''example'', least(p.example, left(m.msg, 1000) collate "C"))'
      || ', p.total, case when exists (select from found f where f.is_cut) '
      || 'then $1 || row($2, $3, $4)::public.logloom_query_warning else $1 end '
      || 'from chosen p left join messages m on m.place = p.place order by p.n'
  using
    array(
      select w
      from jsonb_populate_recordset(null::public.logloom_query_warning, p_query.warnings) w
    ),
    (p_query.plan -> 'first' -> 'position')::integer,
    format(
      'patterns reached its limit of %s records, or %s templates of blocks: these are the newest',
      v_records, v_templates
    ),
    'Narrow the filter or the range of time.';
end;
$$;

-- search/log_series.sql
-- Groups as arrays of texts: the largest of the range by the first aggregate, which get a series of
-- their own.
create function logloom_private.largest_groups(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_range tstzrange
)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_groups jsonb;
begin
  p_query.plan := p_query.plan - 'bucket' - 'sort' - 'limit' - 'having';
  execute 'select jsonb_agg(array(select r.g ->> n from unnest($1) with ordinality u (n, i) '
    || 'order by u.i)) from ('
    || logloom_private.log_stats_sql(
      p_tenant_id, p_query, p_range,
      (select s.search_series from logloom_private.settings s)
    )
    || ') r (g, v, vs, t)'
  into v_groups
  using p_query.by_fields;
  -- They become a part of the statement. Those with long values are among the others.
  return coalesce(
    (
      select jsonb_agg(g.texts order by g.n)
      from (
        select u.*, sum(octet_length(u.texts::text)) over (order by u.n) as bytes
        from jsonb_array_elements(v_groups) with ordinality u (texts, n)
      ) g
      where g.bytes <= (select s.max_page_bytes / 8 from logloom_private.settings s)
    ),
    '[]'
  );
end;
$$;

-- Rows of bucket, number of the series (from 0, null for the rest) and value.
create function logloom_private.log_series_sql(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_range tstzrange,
  p_seconds bigint,
  p_groups jsonb
)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_aggregate constant jsonb :=
    jsonb_build_array(logloom_private.stats_aggregates(p_query) -> 0);
  v_bucket constant text := format(
    'date_bin(%L::interval, l.ts, ''epoch'')', make_interval(secs => p_seconds)
  );
  v_keys text[] := p_query.by_sql;
  v_key text := '0';
  v_source logloom_private.counted_source;
begin
  v_source := logloom_private.stats_source(
    p_tenant_id, logloom_private.bound_query(p_tenant_id, p_query, p_range),
    v_aggregate -> 0 ->> 'kind' in ('count', 'rate'), p_seconds
  );
  if cardinality(v_keys) > 0 and v_source.count_sql like '%l.events%' then
    -- Which series it is is asked of each group of a bucket, not of each minute.
    v_source.rows_sql := 'from (select ' || v_bucket || ' as ts, sum(l.events) as events, '
      || (
        select string_agg(format('%s as b%s', k.sql, k.n), ', ' order by k.n)
        from unnest(v_keys) with ordinality k (sql, n)
      )
      || ' ' || v_source.rows_sql || ' group by 1, '
      || array_to_string(array(select n + 2 from generate_subscripts(v_keys, 1) n), ', ')
      || ') l';
    v_keys := array(select 'l.b' || n from generate_subscripts(v_keys, 1) n);
  end if;
  if cardinality(v_keys) > 0 then
    v_key := '(' || quote_literal((
      select coalesce(jsonb_object_agg(g.texts::text, g.n - 1), '{}')
      from jsonb_array_elements(p_groups) with ordinality g (texts, n)
    )) || '::jsonb ->> to_jsonb(array['
      || (select string_agg('to_jsonb(' || b || ') #>> ''{}''', ', ') from unnest(v_keys) b)
      || '])::text)::integer';
  end if;
  return 'select ' || v_bucket || ', ' || v_key || ', '
    || (logloom_private.stats_values_sql(
      v_aggregate, v_source, p_seconds::numeric / 60
    ))[1]
    || ' ' || v_source.rows_sql || ' group by 1, 2';
end;
$$;

create function logloom_private.read_log_series(
  p_scope logloom_private.reading_scope,
  p_query_dsl text,
  p_ts_from text,
  p_ts_to text,
  p_buckets integer
)
returns public.logloom_log_series_answer
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
set jit = off
as $$
-- definer because a filter drives an index only where row-level security does not stand between
declare
  v_scope constant logloom_private.reading_scope :=
    logloom_private.checked_scope(p_scope, 'log_series');
  v_tenant_id constant text := v_scope.tenant_id;
  v_range constant tstzrange := logloom_private.search_range(p_ts_from, p_ts_to);
  v_query logloom_private.compiled_query;
  v_seconds bigint;
  v_groups jsonb := '[[]]';
  v_series public.logloom_log_series[];
begin
  perform logloom_private.take_search_slot(v_tenant_id);
  v_seconds := logloom_private.bucket_seconds(v_range, p_buckets);
  v_query := logloom_private.search_query(v_scope, p_query_dsl, now(), 'series');
  v_seconds := coalesce((v_query.plan -> 'bucket')::bigint, v_seconds);
  if extract(epoch from upper(v_range) - lower(v_range)) / v_seconds
    > (select s.search_buckets_max from logloom_private.settings s)
  then
    perform logloom_private.refuse_stage_bound(
      'by', (select s.search_buckets_max from logloom_private.settings s), 'buckets'
    );
  end if;
  if cardinality(v_query.by_sql) > 0 then
    v_groups := logloom_private.largest_groups(v_tenant_id, v_query, v_range);
  end if;
  execute 'with found (ts, series, value) as materialized ('
    || logloom_private.log_series_sql(v_tenant_id, v_query, v_range, v_seconds, v_groups)
    || ') '
    || $query$
      select array_agg(
        row(
          case when s.n is not null then jsonb_object($1::text[], s.texts) end, p.points
        )::public.logloom_log_series
        order by s.n nulls last
      )
      from (
        select (g.n - 1)::integer as n, array(select jsonb_array_elements_text(g.texts)) as texts
        from jsonb_array_elements($2) with ordinality g (texts, n)
        union all
        select null, null where exists (select from found f where f.series is null)
      ) s
      cross join lateral (
        select jsonb_agg(
          jsonb_build_array(
            to_char(b.ts at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
            coalesce(f.value, $3)
          )
          order by b.ts
        ) as points
        from generate_series(
          date_bin($4, lower($5), 'epoch'),
          date_bin($4, upper($5) - interval '1 microsecond', 'epoch'),
          $4
        ) b (ts)
        left join found f on f.ts = b.ts and f.series is not distinct from s.n
      ) p
    $query$
  into v_series
  using
    v_query.by_fields, v_groups,
    case when logloom_private.stats_aggregates(v_query) -> 0 ->> 'kind'
      in ('count', 'rate', 'sum', 'count_distinct') then 0::double precision end,
    make_interval(secs => v_seconds), v_range;
  return row(
    v_seconds, coalesce(v_series, '{}'),
    array(
      select w
      from jsonb_populate_recordset(null::public.logloom_query_warning, v_query.warnings) w
    )
  )::public.logloom_log_series_answer;
exception when query_canceled or lock_not_available or connection_exception or admin_shutdown
  or internal_error
then
  if not logloom_private.reads_again(sqlstate, sqlerrm) then
    raise;
  end if;
  return logloom_private.read_log_series(p_scope, p_query_dsl, p_ts_from, p_ts_to, p_buckets);
end;
$$;

create function public.log_series(
  p_query_dsl text default null,
  p_ts_from text default null,
  p_ts_to text default null,
  p_buckets integer default null
)
returns public.logloom_log_series_answer
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
set statement_timeout = '15s'
as $$
begin
  return logloom_private.read_log_series(null, p_query_dsl, p_ts_from, p_ts_to, p_buckets);
end;
$$;

comment on function public.log_series(text, text, text, integer) is
  'The first aggregate of p_query_dsl, count() where it has none, over time: {interval_seconds, '
  'series: [{group, points: [[ts, value], …]}], warnings}. The largest 20 groups of the range have '
  'a series each, the others one together, group null. A bucket without records has the value 0 '
  'of count, rate, sum and count_distinct, else null; rate is per minute of a bucket. p_buckets 1 '
  'to 1000 (default 60), where the query has no by (5m) of its own. Errors: PT400, PT401, PT408, '
  'PT429.';

-- search/log_stats.sql
create function public.log_stats(
  p_query_dsl text default null,
  p_ts_from text default null,
  p_ts_to text default null,
  p_limit integer default null
)
returns setof public.logloom_log_stat
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
set statement_timeout = '15s'
as $$
begin
  return query
  select s.*
  from logloom_private.read_log_stats(null, p_query_dsl, p_ts_from, p_ts_to, p_limit) s;
end;
$$;

comment on function public.log_stats(text, text, text, integer) is
  'The aggregates of p_query_dsl, count() where it has none: a row for each group, {group, value, '
  'values: {name: number}, total_groups, warnings}, largest first, of buckets of time the oldest '
  'first; one row with group {} without by. For patterns a row for each pattern, values {count, '
  'first, last, example}. p_limit 1 to 1000 (default 100); rows with long values end after 8 MB, '
  'and total_groups says how many there are. Errors: PT400, PT401, PT408, PT429.';

-- search/log_stats_sql.sql
-- Rows of public.logloom_log_stat but for the warnings. p_range is the caller's, by which rate()
-- divides where the rows have no bucket.
create function logloom_private.log_stats_sql(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_range tstzrange,
  p_limit integer
)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_aggregates constant jsonb := logloom_private.stats_aggregates(p_query);
  v_bucket constant bigint := p_query.plan -> 'bucket';
  v_groups constant integer := (select s.search_groups from logloom_private.settings s);
  v_only_counts constant boolean := not jsonb_path_exists(
    v_aggregates, '$[*] ? (@.kind != "count" && @.kind != "rate")'
  );
  v_keys text[];
  v_names text[] := p_query.by_fields;
  v_source logloom_private.counted_source;
  v_values text[];
  v_texts text[];
  v_sorted jsonb;
  v_grouped text;
begin
  v_source := logloom_private.stats_source(
    p_tenant_id, logloom_private.bound_query(p_tenant_id, p_query, p_range), v_only_counts, v_bucket
  );
  v_keys := coalesce(v_source.keys_sql, p_query.by_sql);
  if v_bucket is not null then
    v_keys := format('date_bin(%L::interval, l.ts, ''epoch'')', make_interval(secs => v_bucket))
      || v_keys;
    v_names := 'ts'::text || v_names;
  end if;
  v_values := logloom_private.stats_values_sql(
    v_aggregates, v_source,
    coalesce(v_bucket, extract(epoch from upper(p_range) - lower(p_range))) / 60
  );

  -- Columns k1, k2 … of the groups and v1, v2 … of the aggregates.
  v_grouped := 'select ' || (
    select string_agg(c.sql || ' as ' || c.name, ', ')
    from (
      select k.sql, 'k' || k.n as name from unnest(v_keys) with ordinality k (sql, n)
      union all
      select v.sql, 'v' || v.n from unnest(v_values) with ordinality v (sql, n)
    ) c
  ) || ' ' || v_source.rows_sql;
  if cardinality(v_keys) > 0 then
    v_grouped := v_grouped || ' group by '
      || (select string_agg(n::text, ', ') from generate_series(1, cardinality(v_keys)) n)
      || case when v_source.count_sql like '%events%' then ' having sum(l.events) <> 0' else '' end;
  end if;
  -- What is a text is one already.
  v_texts := array(
    select case
      when v_bucket is not null and k.n = 1
        then 'to_char(g.k1 at time zone ''UTC'', ''YYYY-MM-DD"T"HH24:MI:SS"Z"'')'
      when k.name in ('ts', 'received_at', 'id') then format('(to_jsonb(g.k%s) #>> ''{}'')', k.n)
      else 'g.k' || k.n
    end
    from unnest(v_names) with ordinality k (name, n)
    order by k.n
  );
  v_sorted := (
    select jsonb_object_agg(c.name, c.sql)
    from (
      select
        k.name,
        case when v_bucket is not null and k.n = 1 then 'g.k1'
          else v_texts[k.n] || ' collate "C"' end as sql
      from unnest(v_names) with ordinality k (name, n)
      union all
      select a.item ->> 'name', 'g.v' || a.n
      from jsonb_array_elements(v_aggregates) with ordinality a (item, n)
    ) c
  );
  v_grouped := format(
      'select g.*, count(*) over () as total from (select g.* from (select g.*, count(*) over () '
        || 'as groups from (%1$s) g) g where g.groups <= %2$s '
        || 'or logloom_private.refuse_stage_bound(''by'', %2$s, ''groups'')) g ',
      v_grouped, v_groups
    )
    || logloom_private.chosen_rows_sql(
      p_query.plan, v_sorted,
      concat_ws(
        ', ',
        case when v_bucket is not null then 'g.k1' end,
        'g.v1 desc nulls last',
        (
          select string_agg(v_texts[n] || ' collate "C"', ', ')
          from generate_series(
            case when v_bucket is null then 1 else 2 end, cardinality(v_texts)
          ) n
        )
      ),
      p_limit
    );

  -- Arrays, since a function takes 100 arguments at most and a query may name more fields.
  return 'select jsonb_object(array['
    || array_to_string(array(select quote_literal(n) from unnest(v_names) n), ', ')
    || ']::text[], array[' || array_to_string(v_texts, ', ')
    || ']::text[]), g.v1, jsonb_build_object('
    || (
      select string_agg(quote_literal(a.item ->> 'name') || ', g.v' || a.n, ', ')
      from jsonb_array_elements(v_aggregates) with ordinality a (item, n)
    )
    || '), g.total from (' || v_grouped || ') g';
end;
$$;

-- search/log_tail_sql.sql
-- SQL from "from" on: the tenant's records of the write sequences from p_first to p_last, of the
-- first one those after p_id where it is given, that a query finds; without its hidden fields. The
-- first p_limit of them in the order in which they became visible. p_bytes: of sealed ones after so
-- many bytes nothing but the place and the size is there.
create function logloom_private.log_tail_rows_sql(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_limit integer,
  p_first bigint,
  p_id uuid,
  p_last bigint,
  p_bytes bigint
)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_kept_from constant timestamptz := logloom_private.kept_from(p_tenant_id);
  v_days timestamptz[];
  v_filter text;
  v_write_seqs text;
  v_rows text;
  v_is_sealed boolean;
  v_order constant text := ' order by l.write_seq, l.id limit ' || p_limit;
begin
  select array_agg(distinct a.day::timestamp at time zone 'UTC') into v_days
  from logloom_private.log_writes a
  where a.write_seq >= p_first;
  v_write_seqs := format('l.write_seq between %s and %s and ', p_first, p_last);
  if p_id is not null then
    v_write_seqs := v_write_seqs
      || format('(l.write_seq > %s or l.id > %L::uuid) and ', p_first, p_id);
  end if;
  v_filter := v_write_seqs;
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
  v_rows := logloom_private.rows_sql(
    p_tenant_id, greatest(v_days[1], v_kept_from),
    v_days[cardinality(v_days)] + interval '24 hours', v_filter || p_query.filter, null
  );
  -- What a client that was away for long missed may be sealed by now.
  v_is_sealed := exists (
    select
    from logloom_private.blocks c
    where c.tenant_id = p_tenant_id and c.last_write_seq >= p_first and c.first_write_seq <= p_last
  );
  v_rows := case when v_is_sealed then
        'from (select l.* ' || v_rows
        || ' union all select l.* from logloom_private.sealed_write_seqs('
        || format(
          '%s, %L, %L, %L, %L, %L, %L, %L',
          logloom_private.scanned_tenant_sql(quote_literal(p_tenant_id)), p_first, p_id, p_last,
          v_kept_from, p_query.tree,
          case when p_query.masked_tree is null then p_limit end,
          case when p_query.hidden_fields is null then p_bytes else 9223372036854775807 end
        )
        || ') l) l where true'
      else
        v_rows
      end;
  if p_query.masked_tree is null then
    v_rows := v_rows || v_order;
  end if;
  if p_query.hidden_fields is not null then
    v_rows := logloom_private.masked_sql(p_query, v_rows) || v_order;
  end if;
  return v_rows;
end;
$$;

-- These as records, with write_seq and id. Large ones are null, or with p_fits those after p_bytes.
create function logloom_private.log_tail_sql(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_limit integer,
  p_first bigint,
  p_id uuid,
  p_last bigint,
  p_bytes bigint,
  p_fits boolean
)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return logloom_private.page_sql(
    p_query,
    logloom_private.log_tail_rows_sql(
      p_tenant_id, p_query, p_limit, p_first, p_id, p_last, p_bytes
    ),
    'l.write_seq, l.id', p_limit, p_bytes, p_fits, ', l.write_seq, l.id'
  );
end;
$$;

-- search/page_sql.sql
-- SQL of a page, with p_others: the records of p_rows, SQL from "from" on with the alias l, as the
-- query stages and shows them, in p_order; p_limit at most, which together have less than p_bytes.
-- Those that do not fit are null, and unless p_is_exact each that is larger than its share: most
-- pages have no such one, and to add up sizes costs. What is extracted is always measured, and so
-- is what is left of records without their hidden fields.
create function logloom_private.page_sql(
  p_query logloom_private.compiled_query,
  p_rows text,
  p_order text,
  p_limit integer,
  p_bytes bigint,
  p_is_exact boolean default true,
  p_others text default ''
)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  -- Without fields it is a constant to the planner.
  v_record constant text := 'row(' || case
    when p_query.plan ? 'fields' then logloom_private.shown_columns_sql(p_query.plan -> 'fields')
    else logloom_private.shown_columns_sql()
  end || ')::public.logloom_log_record';
  v_window constant text := 'window before as (order by ' || p_order
    || ' rows between unbounded preceding and 1 preceding)';
  v_size text := 'coalesce(l.record_bytes, octet_length(to_json(l)::text))';
  v_attrs text := 'l.attrs';
begin
  if jsonb_array_length(p_query.plan -> 'rows') > 0 or p_query.hidden_fields is not null then
    -- What is extracted comes on top of what a record has, and what is hidden is none of it.
    v_size := 'octet_length(to_json(' || v_record || ')::text)';
    v_attrs := '(' || v_record || ').attrs';
  end if;
  if jsonb_array_length(p_query.plan -> 'rows') > 0 then
    p_rows := 'from (select l.* '
      || logloom_private.staged_sql(p_query, 'from (select l.* ' || p_rows || ') l')
      || format(' order by %s limit %s) l', p_order, p_limit);
  elsif not p_is_exact and p_query.hidden_fields is null then
    return format(
      'select case when l.record_bytes <= %s then %s end as record%s %s',
      least(p_bytes / greatest(p_limit, 1), 65536), v_record, p_others, p_rows
    );
  end if;
  -- First by the size that is known. Of what that leaves the attributes are opened: numbers take
  -- up to four times as much there as their text, and reading them more than that.
  return 'select case when not l.fits then null when l.size > '
    || (select s.max_page_bytes from logloom_private.settings s)
    || ' then logloom_private.cut_record(' || v_record || ', l.size) else ' || v_record
    || ' end as record' || p_others || ' '
    || 'from (select l.*, coalesce(sum(case when l.may_fit then '
    || 'greatest(l.size, 2 * pg_column_size(' || v_attrs || ' #> ''{}'') - l.size) '
    || 'else l.size end) '
    || 'over before, 0) < '
    || p_bytes || ' as fits from (select l.*, coalesce(sum(l.size) over before, 0) < ' || p_bytes
    || ' as may_fit from (select l.*, ' || v_size || ' as size from (select l.* ' || p_rows
    || ') l) l ' || v_window || ') l ' || v_window || ') l order by ' || p_order;
end;
$$;

-- search/percentiles_sql.sql
-- A percentile as percentile_cont has it, of numbers of which those in [p_low, p_high] are known:
-- how many are p_low, which are between, how many are p_high. p_place: its place among them, from
-- 0. Null where it is not there.
create function logloom_private.percentile_within(
  p_place double precision,
  p_low double precision,
  p_at_low bigint,
  p_between double precision[],
  p_high double precision,
  p_at_high bigint
)
returns double precision
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_between constant double precision[] := array(
    select n from unnest(p_between) n order by n
  );
  v_known constant bigint := p_at_low + coalesce(cardinality(v_between), 0);
begin
  if floor(p_place) < 0 or ceil(p_place) >= v_known + p_at_high then
    return null;
  end if;
  return (
    select percentile_cont(p_place - floor(p_place)) within group (
      order by case
        when n < p_at_low then p_low
        when n < v_known then v_between[n - p_at_low + 1]
        else p_high
      end
    )
    from generate_series(floor(p_place)::bigint, ceil(p_place)::bigint) n
  );
end;
$$;

-- A list of SQL with a member for each percentile: its name for @, its fraction for #.
create function logloom_private.percentiles_list(p_percentiles jsonb, p_member text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select string_agg(replace(replace(p_member, '@', p.key), '#', p.value), ', ' order by p.key)
    from jsonb_each_text(p_percentiles) p
  );
end;
$$;

-- SQL of the table expressions bounds and limits: in arrays, by the ids of groups, between which
-- numbers each percentile of numbers almost certainly is, as some that are drawn at random tell.
create function logloom_private.percentile_limits_sql(p_percentiles jsonb)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return format(
    $query$
      bounds as materialized (
        -- So many that drawing them and sorting what they leave cost least together. The margin is
        -- four standard deviations of a median's place among them, and more of another's.
        select s.id, s.margin, %1$s
        from (
          select
            d.id, 2 / sqrt(d.size * d.share) as margin,
            d.doubles[1 + floor(random() * cardinality(d.doubles))::integer] as number
          from (
            select
              n.*,
              generate_series(1, floor(cardinality(n.doubles) * n.share + random())::integer)
            from (
              select
                n.id, n.size, least(cbrt(4 / greatest(n.size, 1)), 1) as share,
                -- Without nulls a number is read where it stands.
                case when array_position(n.doubles, null) is null then n.doubles
                  else array_remove(n.doubles, null) end as doubles
              from numbers n
              offset 0
            ) n
          ) d
        ) s
        group by s.id, s.margin
      ), limits as materialized (
        -- In the order of ids, so that the arrays of numbers are neither sorted nor hashed.
        select %2$s
        from groups g
        left join bounds b using (id)
      )
    $query$,
    logloom_private.percentiles_list(
      p_percentiles,
      'percentile_disc(array[greatest(# - s.margin, 0), least(# + s.margin, 1)]) '
        || 'within group (order by s.number) as @'
    ),
    logloom_private.percentiles_list(
      p_percentiles,
      'array_agg(case when # > b.margin then b.@[1] else ''-Infinity'' end order by g.id) '
        || 'as low_@, array_agg(case when # + b.margin < 1 then b.@[2] else ''Infinity'' end '
        || 'order by g.id) as high_@'
    )
  );
end;
$$;

-- SQL: the rows of p_rows, whose columns are p_keys, texts, and p_others, among them doubles, an
-- array; then for each combination of keys a row with percentiles of all its doubles: names and
-- fractions in p_percentiles. To sort all takes longer than the rest, and more memory than a search
-- has. So some that are drawn at random tell between which two numbers a percentile almost
-- certainly is, and only those are sorted; all, where it is not. No join hashes rows with equal
-- keys: PostgreSQL keeps these in memory, however many there are.
create function logloom_private.percentiles_sql(
  p_rows text,
  p_keys text[],
  p_others text[],
  p_percentiles jsonb
)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_limits constant text :=
    logloom_private.percentiles_list(p_percentiles, 'l.low_@, l.high_@');
begin
  return format(
    $query$
      with found as materialized (
        select array[%2$s]::text[] as keys, r.* from (%1$s) r
      ), groups as materialized (
        select
          f.keys, (row_number() over ())::integer as id,
          sum(cardinality(array_remove(f.doubles, null)))::double precision as size
        from found f
        where f.doubles is not null
        group by f.keys
      ), numbers as not materialized (
        select g.id, g.size, f.doubles
        from found f
        join groups g using (keys)
        where f.doubles is not null
      ), %3$s, parts as (
        select l.id, l.size, %4$s, p.*
        from (
          select l.*, least(%6$s) as low
          from (
            select n.*, %9$s
            from numbers n
            cross join limits c
          ) l
          offset 0
        ) l
        cross join lateral (
          select %5$s
          from (select unnest(l.doubles) as number) u
          where u.number >= l.low
        ) p
      ), percentiles as (
        select l.id, %7$s
        from (select l.id, l.size, %4$s, %8$s from parts l) l
        group by l.id, l.size, %4$s
      )
      select f.*, %10$s from found f
      union all
      select g.keys, %11$s, %12$s
      from percentiles p
      join groups g using (id)
    $query$,
    p_rows, array_to_string(array(select 'r.' || k from unnest(p_keys) k), ', '),
    logloom_private.percentile_limits_sql(p_percentiles),
    v_limits,
    logloom_private.percentiles_list(
      p_percentiles,
      'count(*) filter (where u.number >= l.low_@) as above_@, '
        || 'count(*) filter (where u.number = l.low_@) as at_low_@, '
        || 'array_agg(u.number) filter (where u.number > l.low_@ and u.number < l.high_@) '
        || 'as between_@, '
        || 'count(*) filter (where u.number = l.high_@) as at_high_@'
    ),
    logloom_private.percentiles_list(p_percentiles, 'l.low_@'),
    logloom_private.percentiles_list(
      p_percentiles,
      'coalesce(logloom_private.percentile_within('
        || '# * (l.size - 1) - (l.size - sum(l.above_@)::double precision), '
        || 'l.low_@, sum(l.at_low_@)::bigint, '
        || 'array_agg(l.between_@) filter (where l.between_@ is not null), '
        || 'l.high_@, sum(l.at_high_@)::bigint), '
        || '(select percentile_cont(#) within group (order by u.number) from ('
        || 'select unnest(n.doubles) as number from numbers n where n.id = l.id) u)) as @'
    ),
    logloom_private.percentiles_list(
      p_percentiles,
      'unnest(array[l.above_@]) as above_@, unnest(array[l.at_low_@]) as at_low_@, '
        || 'unnest(l.between_@) as between_@, unnest(array[l.at_high_@]) as at_high_@'
    ),
    logloom_private.percentiles_list(
      p_percentiles, 'c.low_@[n.id] as low_@, c.high_@[n.id] as high_@'
    ),
    logloom_private.percentiles_list(p_percentiles, 'null::double precision as @'),
    array_to_string(
      array(select format('g.keys[%s]', n) from generate_subscripts(p_keys, 1) n)
        || array(select 'null as ' || o from unnest(p_others) o),
      ', '
    ),
    logloom_private.percentiles_list(p_percentiles, 'p.@')
  );
end;
$$;

-- search/read_apart.sql
-- The records that SQL selects. A subtransaction that is rolled back gives its locks back.
create function logloom_private.read_apart(p_sql text)
returns public.logloom_log_record[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_logs public.logloom_log_record[];
begin
  begin
    execute 'select array(' || p_sql || ')' into v_logs;
    raise sqlstate 'LL002';
  exception when sqlstate 'LL002' then
    null;
  end;
  return v_logs;
end;
$$;

-- search/read_log.sql
-- The tenant's record with an id that a query finds, where its ts is in the window; of rows, of
-- sealed ones, or both. Nulls where it is not there.
create function logloom_private.log_within(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_window tstzrange,
  p_id uuid,
  p_rows boolean,
  p_sealed boolean
)
returns public.logloom_log_record
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_from constant timestamptz := logloom_private.kept_from(p_tenant_id, lower(p_window));
  v_select constant text := 'select row(' || logloom_private.shown_columns_sql()
    || ')::public.logloom_log_record ';
  v_logs public.logloom_log_record[] := '{}';
begin
  if p_rows then
    v_logs := logloom_private.read_apart(
      v_select || logloom_private.masked_sql(
        p_query,
        logloom_private.tenant_rows_sql(
          p_tenant_id, v_from, upper(p_window),
          format('l.id = %L::uuid and %s limit 1', p_id, p_query.filter)
        )
      )
    );
  end if;
  if p_sealed and v_logs = '{}' then
    v_logs := logloom_private.read_apart(
      v_select || logloom_private.masked_sql(
        p_query,
        format(
          'from logloom_private.sealed_log(%L, %L, %L, %L) l where %s limit 1',
          p_tenant_id, v_from, upper(p_window), p_id, p_query.filter
        )
      )
    );
  end if;
  if logloom_private.answered_bytes(v_logs)
    > (select s.max_page_bytes from logloom_private.settings s)
  then
    return logloom_private.cut_record(v_logs[1], logloom_private.answered_bytes(v_logs));
  end if;
  return v_logs[1];
end;
$$;

create function logloom_private.read_log(
  p_scope logloom_private.reading_scope,
  p_id uuid,
  p_ts timestamptz
)
returns public.logloom_log_record
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
set jit = off
as $$
-- definer because nobody but this file makes SQL over records
declare
  v_scope constant logloom_private.reading_scope :=
    logloom_private.checked_scope(p_scope, 'get_log');
  v_tenant_id constant text := v_scope.tenant_id;
  v_query constant logloom_private.compiled_query := logloom_private.query_of_scope(v_scope);
  v_received_at timestamptz;
  v_window tstzrange;
  v_windows tstzrange[] := '{}';
  v_log public.logloom_log_record;
begin
  perform logloom_private.take_search_slot(v_tenant_id);
  perform logloom_private.require_parameter('p_id', p_id is null);
  -- Around it: a client's clock may hold less than microseconds.
  if p_ts between '1970-01-03T00:00:00Z' and '9999-12-29T00:00:00Z' then
    v_windows := v_windows || tstzrange(p_ts - interval '1 second', p_ts + interval '1 second');
  end if;
  -- The id says when the event was received, and most events are received when they happen.
  v_received_at := to_timestamp(
    ('x' || left(replace(p_id::text, '-', ''), 12))::bit(48)::bigint / 1000.0
  );
  if v_received_at between '1970-01-03T00:00:00Z' and '9999-12-29T00:00:00Z' then
    v_windows := v_windows || array[
      tstzrange(v_received_at - interval '5 minutes', v_received_at + interval '5 minutes'),
      tstzrange(v_received_at - interval '1 day', v_received_at + interval '1 day')
    ];
  end if;
  foreach v_window in array v_windows loop
    v_log := logloom_private.log_within(v_tenant_id, v_query, v_window, p_id, true, true);
    if v_log.id is not null then
      return v_log;
    end if;
  end loop;
  -- Then all that is sealed, of which the blocks know the ids, and the days of rows, newest first.
  v_window := tstzrange(logloom_private.kept_from(v_tenant_id), 'infinity');
  v_log := logloom_private.log_within(v_tenant_id, v_query, v_window, p_id, false, true);
  if v_log.id is not null then
    return v_log;
  end if;
  foreach v_window in array logloom_private.search_parts(
    v_tenant_id, lower(v_window), upper(v_window), 'desc'
  )
  loop
    v_log := logloom_private.log_within(v_tenant_id, v_query, v_window, p_id, true, false);
    if v_log.id is not null then
      return v_log;
    end if;
  end loop;
  perform logloom_private.refuse('search.log_not_found');
  return null;
exception when query_canceled or lock_not_available or connection_exception or admin_shutdown
  or internal_error
then
  if not logloom_private.reads_again(sqlstate, sqlerrm) then
    raise;
  end if;
  return logloom_private.read_log(p_scope, p_id, p_ts);
end;
$$;

-- search/read_log_page.sql
-- Compiling a filter to machine code takes far longer than it saves here: jit is off.
create function logloom_private.read_log_page(
  p_scope logloom_private.reading_scope,
  p_query_dsl text,
  p_ts_from text,
  p_ts_to text,
  p_limit integer,
  p_cursor text,
  p_order text
)
returns public.logloom_log_page
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
set jit = off
as $$
-- definer because a filter drives an index only where row-level security does not stand between
declare
  v_scope logloom_private.reading_scope :=
    logloom_private.checked_scope(p_scope, 'search_logs');
  v_tenant_id constant text := v_scope.tenant_id;
  v_limit integer := logloom_private.list_limit(
    p_limit, 'search.page_limit_is_out_of_range'
  );
  v_order text;
  v_now timestamptz := now();
  v_first tstzrange;
  v_range tstzrange;
  v_query logloom_private.compiled_query;
  v_received jsonb;
  v_left integer;
  v_after text[];
  v_times timestamptz[];
  v_page record;
  v_cursor text;
begin
  perform logloom_private.take_search_slot(v_tenant_id);
  if p_cursor is not null then
    v_after := logloom_private.decode_cursor(
      p_cursor,
      '^page (desc|asc) (\d{1,18}) (\d{1,18}) (\d{1,18}) (\d{1,18})'
        || ' ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?: (\d{1,6}))?(?: w(\d{1,18}))?$'
    );
    v_times := array(
      select 'epoch'::timestamptz + (m || ' microseconds')::interval from unnest(v_after[2:5]) m
    );
    -- What the first page meant by now and by its range, so that no page moves away from it.
    v_first := tstzrange(v_times[2], v_times[3]);
    v_now := v_times[4];
  end if;
  if v_after[8] is not null then
    -- Of an export: what was received before it began.
    v_received := logloom_private.query_leaf(
      logloom_private.query_field('received_at', 1),
      jsonb_build_object('test', 'within', 'bounds', jsonb_build_object(
        'to', 'epoch'::timestamptz + (v_after[8] || ' microseconds')::interval
      ))
    );
    v_scope.filter := case when v_scope.filter is null then v_received
      else jsonb_build_object(
        'type', 'and', 'items', jsonb_build_array(v_scope.filter, v_received)
      ) end;
  end if;
  v_range := logloom_private.search_range(p_ts_from, p_ts_to, v_first);
  v_query := logloom_private.search_query(v_scope, p_query_dsl, v_now, 'records');
  -- That of the query's sort, or p_order.
  v_order := case (v_query.plan -> 'sort' -> 0 -> 'descending')::boolean
    when true then 'desc' when false then 'asc' end;
  if p_order not in ('desc', 'asc') then
    perform logloom_private.refuse('search.order_is_unknown');
  elsif v_order <> p_order then
    perform logloom_private.refuse('search.order_is_another', v_order);
  end if;
  v_order := coalesce(v_order, p_order, 'desc');
  if v_after[1] <> v_order then
    perform logloom_private.refuse('search.cursor_has_another_order');
  end if;
  -- What limit leaves to this page and those after it.
  v_left := coalesce(v_after[7]::integer, (v_query.plan -> 'limit')::integer);
  if p_limit is null and v_left is not null then
    v_limit := (select s.list_limit_max from logloom_private.settings s);
  end if;
  if p_limit is null and v_after[8] is not null then
    v_limit := (select s.export_page_records from logloom_private.settings s);
  end if;
  v_limit := least(v_limit, v_left);

  v_page := logloom_private.found_page(
    v_tenant_id, v_query, v_range, v_limit, v_order, v_times[1], v_after[6]::uuid
  );
  v_left := v_left - cardinality(v_page.logs);
  if v_page.last_id is not null and v_left is distinct from 0 then
    v_cursor := logloom_private.encode_cursor(
      array['page', v_order]
        || array(
          select (extract(epoch from t) * 1000000)::bigint::text
          from unnest(array[v_page.last_ts, lower(v_range), upper(v_range), v_now]) t
        )
        || array[v_page.last_id::text, v_left::text, 'w' || v_after[8]]
    );
  end if;
  return row(
    v_page.logs, v_cursor, lower(v_range), upper(v_range),
    array(
      select w
      from jsonb_populate_recordset(null::public.logloom_query_warning, v_query.warnings) w
    )
  )::public.logloom_log_page;
exception when query_canceled or lock_not_available or connection_exception or admin_shutdown
  or internal_error
then
  if not logloom_private.reads_again(sqlstate, sqlerrm) then
    raise;
  end if;
  return logloom_private.read_log_page(
    p_scope, p_query_dsl, p_ts_from, p_ts_to, p_limit, p_cursor, p_order
  );
end;
$$;

-- search/read_log_stats.sql
-- A query's aggregates for a tenant, from the counts where they can answer. For jobs, too.
create function logloom_private.log_stats_of(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_range tstzrange,
  p_limit integer
)
returns setof public.logloom_log_stat
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
begin
  if p_query.plan ? 'patterns' then
    return query
    select p.*
    from logloom_private.log_patterns_of(p_tenant_id, p_query, p_range, p_limit) p;
  else
    return query execute 'select s.*, $1 from ('
      || logloom_private.log_stats_sql(p_tenant_id, p_query, p_range, p_limit) || ') s'
    using array(
      select w
      from jsonb_populate_recordset(null::public.logloom_query_warning, p_query.warnings) w
    );
  end if;
end;
$$;

create function logloom_private.read_log_stats(
  p_scope logloom_private.reading_scope,
  p_query_dsl text,
  p_ts_from text,
  p_ts_to text,
  p_limit integer
)
returns setof public.logloom_log_stat
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
set jit = off
as $$
-- definer because a filter drives an index only where row-level security does not stand between
declare
  v_scope constant logloom_private.reading_scope :=
    logloom_private.checked_scope(p_scope, 'log_stats');
  v_tenant_id constant text := v_scope.tenant_id;
  v_limit constant integer := logloom_private.list_limit(
    p_limit, 'search.page_limit_is_out_of_range'
  );
  v_range constant tstzrange := logloom_private.search_range(p_ts_from, p_ts_to);
  v_query logloom_private.compiled_query;
begin
  perform logloom_private.take_search_slot(v_tenant_id);
  v_query := logloom_private.search_query(v_scope, p_query_dsl, now(), 'rows');
  -- Values of groups may be long: rows end with max_page_bytes.
  return query
  select (r.row).*
  from (
    select
      s as row,
      sum(octet_length(to_json(s)::text)) over (
        rows between unbounded preceding and 1 preceding
      ) as before
    from logloom_private.log_stats_of(v_tenant_id, v_query, v_range, v_limit) s
  ) r
  where coalesce(r.before, 0) < (select t.max_page_bytes from logloom_private.settings t);
exception when query_canceled or lock_not_available or connection_exception or admin_shutdown
  or internal_error
then
  if not logloom_private.reads_again(sqlstate, sqlerrm) then
    raise;
  end if;
  return query
  select r.*
  from logloom_private.read_log_stats(p_scope, p_query_dsl, p_ts_from, p_ts_to, p_limit) r;
end;
$$;

-- search/read_page.sql
-- Seam: the records that SQL selects, of which those without an id may be null.
create function logloom_private.read_page(p_sql text)
returns public.logloom_log_record[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_logs public.logloom_log_record[];
begin
  execute 'select array(' || p_sql || ')' into v_logs;
  return v_logs;
end;
$$;

-- search/reads_sealed.sql
-- Seam: whether the tenant has sealed records of the range in this snapshot. Exact within a stable
-- function: it and the statement that it decides for share a snapshot, and in a snapshot a record
-- is a row or in a block.
create function logloom_private.reads_sealed(
  p_tenant_id text,
  p_from timestamptz,
  p_to timestamptz
)
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  perform
  from logloom_private.blocks c
  where c.tenant_id = p_tenant_id and c.last_ts >= p_from and c.first_ts < p_to
  limit 1;
  return found;
end;
$$;

-- search/records_sql.sql
-- SQL from "from" on: the tenant's records, as alias l, of a range that a query finds, rows and
-- sealed ones. Of what is not read where it lies nothing but what p_reads names is there, all where
-- it is null.
create function logloom_private.records_sql(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_from timestamptz,
  p_to timestamptz,
  p_reads text[]
)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_rows text;
begin
  if p_query.masked_tree is not null and p_reads is not null then
    p_reads := p_reads || logloom_private.query_reads(p_query.masked_tree);
  end if;
  v_rows := logloom_private.rows_sql(p_tenant_id, p_from, p_to, p_query.filter, p_reads);
  if not logloom_private.reads_sealed(p_tenant_id, p_from, p_to) then
    return logloom_private.masked_sql(p_query, v_rows);
  end if;
  return logloom_private.masked_sql(p_query, 'from (select l.* ' || v_rows
    || ' union all select l.* from logloom_private.sealed_rows('
    || format(
      '%s, %L, %L, %L, %L',
      logloom_private.scanned_tenant_sql(quote_literal(p_tenant_id)),
      p_from, p_to, p_query.tree, p_reads
    )
    || ') l) l where true');
end;
$$;

-- search/refuse_stage_bound.sql
-- PT400: a stage would need more records or groups than it may.
create function logloom_private.refuse_stage_bound(p_stage text, p_bound integer, p_what text)
returns boolean
language plpgsql
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  perform logloom_private.refuse('search.stage_met_its_bound', p_stage, p_bound::text, p_what);
  return null;
end;
$$;

-- search/rows_by_day.sql
-- The columns of logloom.logs, of the alias l, of which p_reads (null: all) are read. Each is a
-- value by itself: what points into a table must not outlive the lock on it. With p_are_sized of
-- those that do not fit nothing but their place and size.
create function logloom_private.copied_columns_sql(p_reads text[], p_are_sized boolean)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_fields constant text[] := case
    when p_reads is not null then array(select split_part(r, '.', 1) from unnest(p_reads) r)
  end;
begin
  return (
    select string_agg(
      case
        when p_are_sized and c.name = 'record_bytes' then 'l.size'
        when c.name <> all(v_fields) and c.name not in ('ts', 'tenant_id') then 'null::' || c.type
        when c.type in ('text', 'jsonb') then format(
          case when p_are_sized then 'case when l.fits then %s end' else '%s' end,
          format(case c.type when 'text' then 'l.%I || ''''' else 'l.%I #> ''{}''' end, c.name)
        )
        else format('l.%I', c.name)
      end,
      ', ' order by c.ordinality
    )
    from unnest(logloom_private.record_fields()) with ordinality c
  );
end;
$$;

-- The tenant's rows of some search_parts that pass a filter, part after part; the first p_limit of
-- them in p_order where it is given. Of each what p_reads names is there, all where it is null.
-- p_bytes: of those that have so many before them only the size is there, besides what names them.
create function logloom_private.rows_by_day(
  p_tenant_id text,
  p_parts tstzrange[],
  p_filter text,
  p_reads text[],
  p_order text default 'desc',
  p_limit integer default null,
  p_bytes bigint default null
)
returns setof logloom.logs
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set jit = off
rows 1000
as $$
declare
  v_columns constant text := logloom_private.copied_columns_sql(p_reads, p_bytes is not null);
  v_rows text;
  v_part tstzrange;
  v_found bigint;
  v_left bigint := p_limit;
begin
  foreach v_part in array p_parts loop
    begin
      v_rows := logloom_private.tenant_rows_sql(
        p_tenant_id, lower(v_part), upper(v_part), p_filter
      ) || case when p_limit is not null then format(
        ' order by l.ts %1$s, l.id %1$s limit %2$s', p_order, v_left
      ) else '' end;
      if p_bytes is not null then
        v_rows := logloom_private.sized_rows_sql(
          v_rows, format('l.ts %1$s, l.id %1$s', p_order), p_bytes
        );
      end if;
      return query execute 'select ' || v_columns || ' ' || v_rows;
      get diagnostics v_found = row_count;
      raise sqlstate 'LL002';
    exception when sqlstate 'LL002' then
      null;
    end;
    v_left := v_left - v_found;
    exit when v_left <= 0;
  end loop;
end;
$$;

-- search/rows_sql.sql
-- SQL from "from" on: the tenant's rows, as alias l, of a range that pass a filter, where they lie
-- or, of many days, day by day. Parameters as those of rows_by_day.
create function logloom_private.rows_sql(
  p_tenant_id text,
  p_from timestamptz,
  p_to timestamptz,
  p_filter text,
  p_reads text[],
  p_order text default 'desc',
  p_limit integer default null,
  p_bytes bigint default null
)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_parts constant tstzrange[] := logloom_private.search_parts(
    p_tenant_id, p_from, p_to, p_order, false
  );
begin
  if cardinality(v_parts) <= 1 then
    return logloom_private.tenant_rows_sql(p_tenant_id, p_from, p_to, p_filter);
  end if;
  return format(
    'from logloom_private.rows_by_day(%L, %L, %L, %L, %L, %L, %L) l where true',
    p_tenant_id, v_parts, p_filter, p_reads, p_order, p_limit, p_bytes
  );
end;
$$;

-- search/scanned_tenant_sql.sql
-- Seam. SQL: the tenant's id, which p_tenant is SQL of, for a function that reads sealed records
-- and takes the scan slot meanwhile, wherever it runs.
create function logloom_private.scanned_tenant_sql(p_tenant text)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return p_tenant;
end;
$$;

-- search/scoped_query.sql
-- A query in a scope: joined as a tree with what the scope lets read, without its hidden fields.
-- PT400 where it names one of them.
create function logloom_private.scoped_query(
  p_scope logloom_private.reading_scope,
  p_query logloom_private.compiled_query,
  p_query_dsl text
)
returns logloom_private.compiled_query
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tree jsonb;
begin
  if p_scope.filter is null and p_scope.hidden_fields is null then
    return p_query;
  end if;
  perform logloom_private.refuse_hidden_fields(p_query, p_query_dsl, p_scope.hidden_fields);
  p_query.hidden_fields := p_scope.hidden_fields;
  if p_query.hidden_fields is not null then
    v_tree := logloom_private.tree_without_any(p_query.tree);
    p_query.masked_tree := nullif(p_query.tree, v_tree);
    p_query.tree := v_tree;
  end if;
  -- The items of both side by side: what an index answers is looked for among them.
  select case when count(*) = 1 then (array_agg(i.item))[1]
    else jsonb_build_object('type', 'and', 'items', jsonb_agg(i.item order by t.n, i.n)) end
  into p_query.tree
  from unnest(array[p_query.tree, coalesce(p_scope.filter, '{"type": "all"}')])
    with ordinality t (tree, n)
  cross join lateral jsonb_array_elements(
    case t.tree ->> 'type' when 'and' then t.tree -> 'items' when 'all' then '[]'
      else jsonb_build_array(t.tree) end
  ) with ordinality i (item, n);
  if p_query.tree = '{"type": "and", "items": null}' then
    p_query.tree := '{"type": "all"}';
  end if;
  p_query.filter := logloom_private.query_sql(p_query.tree, 'l');
  return p_query;
end;
$$;

-- All records of a scope.
create function logloom_private.query_of_scope(p_scope logloom_private.reading_scope)
returns logloom_private.compiled_query
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_query logloom_private.compiled_query;
begin
  v_query.tree := '{"type": "all"}';
  v_query.filter := 'true';
  v_query.plan := '{}';
  return logloom_private.scoped_query(p_scope, v_query, '');
end;
$$;

-- search/sealed_counts_sql.sql
-- SQL: level, service and events of the tenant's sealed records of a range that a query finds,
-- level and service as far as it groups by them.
create function logloom_private.sealed_counts_sql(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_from timestamptz,
  p_to timestamptz
)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return 'select l.level, l.service, l.events from logloom_private.sealed_counts(' || format(
    '%s, %L, %L, %L, %L',
    logloom_private.scanned_tenant_sql(quote_literal(p_tenant_id)),
    p_from, p_to, p_query.tree, p_query.by_fields
  ) || ') l';
end;
$$;

-- search/search_logs.sql
create function public.search_logs(
  p_query_dsl text default null,
  p_ts_from text default null,
  p_ts_to text default null,
  p_limit integer default null,
  p_cursor text default null,
  p_order text default null
)
returns public.logloom_log_page
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
set statement_timeout = '15s'
as $$
begin
  return logloom_private.read_log_page(
    null, p_query_dsl, p_ts_from, p_ts_to, p_limit, p_cursor, p_order
  );
end;
$$;

comment on function public.search_logs(text, text, text, integer, text, text) is
  'A page of records that match p_query_dsl in [p_ts_from, p_ts_to), by default the last hour. '
  'p_order: desc (newest first, the default) or asc. p_limit 1 to 1000 (default 100). p_cursor: '
  'next_cursor of the page before; it keeps the range of the first page. A page of a long range '
  'or of large records (some 8 MB) may end early, with fewer records and a next_cursor: only null '
  'says that there is no more. '
  'Errors: PT400, PT401, PT408 (took longer than 15 s).';

-- search/search_parts.sql
-- A range in p_order (asc or desc), in parts that hold search_days_at_once days of the tenant's
-- rows and, with p_counts_blocks, search_blocks_at_once blocks at most: what a statement opens
-- stays locked until its transaction ends, so that one over a year would hold thousands of locks.
create function logloom_private.search_parts(
  p_tenant_id text,
  p_from timestamptz,
  p_to timestamptz,
  p_order text,
  p_counts_blocks boolean default true
)
returns tstzrange[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_is_descending constant boolean := p_order = 'desc';
  v_max_days integer;
  v_max_blocks integer;
  v_from timestamptz := p_from;
  v_to timestamptz := p_to;
  v_last constant timestamptz := p_to - interval '1 microsecond';
  v_day record;
  v_last_day date;
  v_bound timestamptz;
  v_days integer := 0;
  v_blocks integer := 0;
  v_parts tstzrange[] := '{}';
begin
  if v_from >= v_to then
    return '{}';
  elsif v_to - v_from <= interval '1 day' then
    return array[tstzrange(v_from, v_to)];
  end if;
  select s.search_days_at_once, s.search_blocks_at_once into v_max_days, v_max_blocks
  from logloom_private.settings s;
  for v_day in
    select u.day, sum(u.days) as days, sum(u.blocks) as blocks
    from (
      select d.day, 1 as days, 0 as blocks
      from logloom_private.log_days d
      where d.tenant_id = p_tenant_id
        and d.day between (v_from at time zone 'UTC')::date
          and (v_last at time zone 'UTC')::date
      union all
      select
        (least(c.last_ts, v_last) at time zone 'UTC')::date, 0, count(*)
      from logloom_private.blocks c
      where p_counts_blocks
        and c.tenant_id = p_tenant_id and c.last_ts >= v_from and c.first_ts < v_to
      group by 1
    ) u
    group by u.day
    order by case when v_is_descending then u.day end desc, u.day
  loop
    if v_days + v_day.days > v_max_days
      or (v_blocks > 0 and v_blocks + v_day.blocks > v_max_blocks)
    then
      v_bound := case when v_is_descending then v_last_day else v_day.day end::timestamp
        at time zone 'UTC';
      if v_is_descending then
        v_parts := v_parts || tstzrange(v_bound, v_to);
        v_to := v_bound;
      else
        v_parts := v_parts || tstzrange(v_from, v_bound);
        v_from := v_bound;
      end if;
      v_days := 0;
      v_blocks := 0;
    end if;
    v_days := v_days + v_day.days;
    v_blocks := v_blocks + v_day.blocks;
    v_last_day := v_day.day;
  end loop;
  return v_parts || tstzrange(v_from, v_to);
end;
$$;

-- search/search_query.sql
-- Compiles the query in a scope (null: that of all) for who takes a filter alone, records (with
-- stages), rows of aggregates, series, or any. PT400 where the query holds what is not taken. In a
-- scope it also warns of damaged blocks.
create function logloom_private.search_query(
  p_scope logloom_private.reading_scope,
  p_query_dsl text,
  p_now timestamptz,
  p_takes text
)
returns logloom_private.compiled_query
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_query logloom_private.compiled_query;
  v_makes_rows boolean;
  v_stage text;
begin
  v_query := logloom_private.scoped_query(
    p_scope, logloom_private.compile_query(p_query_dsl, p_now), p_query_dsl
  );
  v_makes_rows := v_query.plan ?| array['aggregates', 'patterns'];
  if v_makes_rows and p_takes in ('filter', 'records') then
    perform logloom_private.refuse(
      'search.query_gives_no_records', coalesce(v_query.aggregate || '()', 'patterns')
    );
  end if;
  v_stage := case p_takes
    when 'filter' then v_query.plan -> 'first' ->> 'stage'
    when 'rows' then case when v_makes_rows then null
      when v_query.plan ? 'fields' then 'fields'
      when v_query.plan ? 'limit' then 'limit'
      when v_query.plan ? 'sort' then 'sort' end
    when 'series' then case
      when v_query.plan ? 'patterns' then 'patterns'
      when v_query.plan ? 'fields' then 'fields'
      when v_query.plan ? 'limit' then 'limit'
      when v_query.plan ? 'sort' then 'sort'
      when v_query.plan ? 'having' then 'where' end
  end;
  if v_stage is not null then
    perform logloom_private.refuse(
      'search.takes_no_stage',
      case p_takes when 'filter' then 'what acts on all records that are found'
        when 'rows' then 'counting records' else 'a series' end,
      v_stage
    );
  end if;
  -- A page of all records reads no more than it shows: it takes no scan slot.
  if p_takes <> 'records' or v_query.tree <> '{"type": "all"}' or v_query.plan ? 'rows' then
    v_query.filter := logloom_private.filter_by_scan_slot(v_query.tree, v_query.filter);
  end if;
  if p_scope.tenant_id is not null then
    v_query.warnings := v_query.warnings || logloom_private.damage_warnings(p_scope.tenant_id);
  end if;
  return v_query;
end;
$$;

-- search/search_range.sql
-- The range that is asked for, [from, to), by default search_default_range to now. p_first, that of
-- a first page, stands for the bounds that are not given or move with now. PT400.
create function logloom_private.search_range(
  p_ts_from text,
  p_ts_to text,
  p_first tstzrange default null
)
returns tstzrange
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_from timestamptz := logloom_private.time_parameter('p_ts_from', p_ts_from);
  v_to timestamptz := logloom_private.time_parameter('p_ts_to', p_ts_to);
begin
  if p_first is not null then
    v_from := case when p_ts_from ~ '^\s*[^n\s]' then v_from else lower(p_first) end;
    v_to := case when p_ts_to ~ '^\s*[^n\s]' then v_to else upper(p_first) end;
  end if;
  v_to := coalesce(v_to, now());
  if v_from is null then
    v_from := v_to - (select s.search_default_range from logloom_private.settings s);
  end if;
  if not (v_from >= '1970-01-01T00:00:00Z' and v_to <= '9999-12-31T00:00:00Z') then
    perform logloom_private.refuse('search.range_leaves_the_years');
  elsif v_from >= v_to then
    perform logloom_private.refuse('search.range_is_empty');
  end if;
  return tstzrange(v_from, v_to);
end;
$$;

-- search/search_slot_key.sql
-- The advisory lock that is a slot: of a tenant, 'of ', 'scans of ' or 'validations of ' before its
-- id, or of 'all'.
create function logloom_private.search_slot_key(p_owner text, p_slot integer)
returns bigint
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return hashtextextended('logloom:search_slot ' || p_slot || ' ' || p_owner, 0);
end;
$$;

-- search/shown_columns_sql.sql
-- The attributes that p_fields name, nested as they were; null where none is there.
create function logloom_private.pick_attrs(p_attrs jsonb, p_fields jsonb)
returns jsonb
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_field jsonb;
  v_path text[];
  v_key text;
  v_value jsonb;
  v_picked jsonb := '{}';
begin
  for v_field in select f from jsonb_array_elements(p_fields) f loop
    v_value := p_attrs;
    v_path := array(select jsonb_array_elements_text(v_field -> 'path'));
    foreach v_key in array v_path loop
      v_value := v_value -> v_key;
    end loop;
    if coalesce(v_value, 'null') <> 'null' then
      for v_depth in 1..cardinality(v_path) - 1 loop
        if jsonb_typeof(v_picked #> v_path[1:v_depth]) is distinct from 'object' then
          v_picked := jsonb_set(v_picked, v_path[1:v_depth], '{}');
        end if;
      end loop;
      v_picked := jsonb_set(v_picked, v_path, v_value);
    elsif p_attrs ? (v_field ->> 'joined') then
      v_picked := v_picked || jsonb_build_object(
        v_field ->> 'joined', p_attrs -> (v_field ->> 'joined')
      );
    end if;
  end loop;
  return nullif(v_picked, '{}');
end;
$$;

-- A record of the alias l, column after column, of which fields (null: all) are shown. id,
-- tenant_id and ts always are: they name the record.
create function logloom_private.shown_columns_sql(p_fields jsonb default null)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_attrs constant jsonb := jsonb_path_query_array(p_fields, '$[*] ? (@.field == "attrs")');
begin
  return (
    select string_agg(
      case
        when f.name = 'attrs' and jsonb_array_length(v_attrs) > 0
          then 'logloom_private.pick_attrs(l.attrs, ' || quote_literal(v_attrs) || ')'
        when p_fields is null or f.name in ('id', 'tenant_id', 'ts')
          or f.name <> 'attrs'
          and p_fields @> jsonb_build_array(jsonb_build_object('field', f.name))
          then 'l.' || f.name
        else 'null::' || f.type
      end,
      ', ' order by f.shown
    )
    from unnest(logloom_private.record_fields()) f
    where f.shown is not null
  );
end;
$$;

-- search/sized_rows_sql.sql
-- SQL from "from" on: p_rows, SQL of the same kind with the alias l, with size and with fits,
-- whether those before it in p_order have fewer than p_bytes: records are chosen before anything of
-- them is opened. p_size: an expression of their size; that of what is stored where it is null.
create function logloom_private.sized_rows_sql(
  p_rows text,
  p_order text,
  p_bytes bigint,
  p_size text default null
)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return format(
    'from (select l.*, coalesce(sum(l.size) over (order by %2$s rows between unbounded preceding '
      || 'and 1 preceding), 0) < %3$s as fits from (select l.*, '
      || '%4$s as size from (select l.* %1$s) l) l) l',
    p_rows, p_order, p_bytes,
    coalesce(p_size, 'coalesce(l.record_bytes, octet_length(to_json(l)::text))')
  );
end;
$$;

-- search/staged_sql.sql
-- SQL from "from" on, alias l: the records that p_rows, SQL of the same kind, yields, with the
-- attributes that the stages json and logfmt extract, as far as where lets them through. Raises
-- PT400 where it would read more than search_stage_records.
create function logloom_private.staged_sql(p_query logloom_private.compiled_query, p_rows text)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_bound constant integer := (
    select s.search_stage_records from logloom_private.settings s
  );
  v_columns constant text := (
    select string_agg('l.' || f.name, ', ')
    from unnest(logloom_private.record_fields()) f
    where f.shown is not null and f.name <> 'attrs'
  );
  v_sql text;
  v_stage jsonb;
begin
  if coalesce(jsonb_array_length(p_query.plan -> 'rows'), 0) = 0 then
    return p_rows;
  end if;
  v_sql := format(
    'select l.* from (select l.*, row_number() over () as read_as from (select l.* %s',
    p_rows
  ) || format(
    ' limit %1$s) l) l where l.read_as <= %2$s '
      || 'or logloom_private.refuse_stage_bound(%3$L, %2$s, %4$L)',
    v_bound + 1, v_bound, p_query.plan -> 'rows' -> 0 ->> 'stage', 'records'
  );
  for v_stage in select s from jsonb_array_elements(p_query.plan -> 'rows') s loop
    if v_stage ->> 'stage' = 'where' then
      v_sql := 'select l.* from (' || v_sql || ') l where '
        || logloom_private.query_sql(v_stage -> 'tree', 'l');
    else
      -- "offset 0" has the members extracted once a record. A member that was there already stays.
      v_sql := format(
        'select %s, coalesce(nullif(logloom_private.extract_%s(%s), ''{}'') '
          || '|| coalesce(l.attrs, ''{}''), l.attrs) as attrs, l.read_as from (%s) l offset 0',
        v_columns, v_stage ->> 'stage',
        logloom_private.query_group_sql(v_stage -> 'field', 'l'), v_sql
      );
    end if;
  end loop;
  return 'from (' || v_sql || ') l';
end;
$$;

-- search/stats_aggregates.sql
-- The aggregates of a query, count() where it has none.
create function logloom_private.stats_aggregates(p_query logloom_private.compiled_query)
returns jsonb
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return coalesce(
    p_query.plan -> 'aggregates', '[{"kind": "count", "name": "count", "field": null}]'
  );
end;
$$;

-- search/stats_source.sql
-- The attribute that a query reads numbers of, where its aggregates read nothing else; null
-- otherwise.
create function logloom_private.only_number(p_query logloom_private.compiled_query)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_fields constant jsonb := (
    select jsonb_agg(distinct a -> 'field')
    from jsonb_array_elements(logloom_private.stats_aggregates(p_query)) a
    where a ->> 'kind' not in ('count', 'rate')
  );
begin
  if jsonb_array_length(v_fields) = 1 and v_fields -> 0 ->> 'field' = 'attrs'
    and jsonb_array_length(v_fields -> 0 -> 'path') = 1
    and coalesce(jsonb_array_length(p_query.plan -> 'rows'), 0) = 0
    and not p_query.plan -> 'aggregates' @> '[{"kind": "count_distinct"}]'
  then
    return v_fields -> 0 -> 'path' ->> 0;
  end if;
  return null;
end;
$$;

-- What the aggregates of a bound query read: the counts where they can answer, sealed records
-- without reading them where only their number is asked for, otherwise the records.
create function logloom_private.stats_source(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_only_counts boolean,
  p_bucket bigint
)
returns logloom_private.counted_source
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_from constant timestamptz := p_query.ts_from;
  v_to constant timestamptz := p_query.ts_to;
  v_is_sealed constant boolean := p_bucket is null
    and logloom_private.reads_sealed(p_tenant_id, p_query.ts_from, p_query.ts_to);
  v_rows_from timestamptz;
  v_counted_from timestamptz := p_query.ts_from;
  v_counts_sealed boolean;
  v_rows text;
  v_key constant text := logloom_private.only_number(p_query);
  v_groups logloom_private.counted_source;
begin
  if v_is_sealed then
    v_rows_from := greatest(v_from, coalesce(
      (
        select min(d.day)::timestamp at time zone 'UTC'
        from logloom_private.log_days d
        where d.tenant_id = p_tenant_id
          and d.day between (v_from at time zone 'UTC')::date
            and ((v_to - interval '1 microsecond') at time zone 'UTC')::date
      ),
      v_to
    ));
  end if;
  -- Counts are of what is stored: of fields that are not hidden.
  if p_only_counts and coalesce(jsonb_array_length(p_query.plan -> 'rows'), 0) = 0
    and p_query.masked_tree is null
    and (p_query.by_fields && p_query.hidden_fields) is not true
  then
    p_query.aggregate := 'count';
    v_counts_sealed := v_is_sealed and p_query.by_fields <@ array['level', 'service'];
    -- Over days without rows blocks count quicker than minutes do.
    if v_counts_sealed and v_to - v_from >= interval '1 day' then
      v_counted_from := v_rows_from;
    end if;
    if p_bucket is null or p_bucket % 60 = 0 then
      v_rows := logloom_private.counted_rows_sql(p_tenant_id, p_query, v_counted_from, v_to);
    end if;
    if v_rows is not null and v_from < v_counted_from then
      v_rows := 'from (select l.level, l.service, l.events ' || v_rows || ' union all '
        || logloom_private.sealed_counts_sql(p_tenant_id, p_query, v_from, v_counted_from)
        || ') l';
    elsif v_rows is null and v_counts_sealed then
      v_rows := 'from (select l.level, l.service, 1::bigint as events '
        || logloom_private.rows_sql(
          p_tenant_id, v_from, v_to, p_query.filter, array['level', 'service']
        )
        || ' union all '
        || logloom_private.sealed_counts_sql(p_tenant_id, p_query, v_from, v_to) || ') l';
    end if;
    if v_rows is not null then
      return (v_rows, 'coalesce(sum(l.events), 0)::double precision', null, false)
        ::logloom_private.counted_source;
    end if;
  end if;
  if v_is_sealed and p_query.hidden_fields is null and (
    p_only_counts and coalesce(jsonb_array_length(p_query.plan -> 'rows'), 0) = 0
    or v_key is not null
  )
  then
    v_groups := logloom_private.groups_source(p_tenant_id, p_query, v_rows_from, v_key);
    if v_groups.rows_sql is not null then
      return v_groups;
    end if;
  end if;
  -- Counting a column: what is sorted to be grouped has more than the one that it is grouped by,
  -- and of one alone PostgreSQL 17 does not count the memory.
  return (
    logloom_private.staged_sql(p_query, logloom_private.records_sql(
      p_tenant_id, p_query, v_from, v_to,
      case when not p_query.plan ? 'rows' then
        logloom_private.query_reads(p_query.plan)
          || case when p_bucket is null then '{}' else array['ts'] end
      end
    )),
    'count(l.tenant_id)::double precision', null, false
  )::logloom_private.counted_source;
end;
$$;

-- search/stats_values_sql.sql
-- An aggregate over a source that has numbers, as query_aggregate_sql has it over records; p_n: its
-- place among those of the query, which its percentile is called by.
create function logloom_private.numbers_aggregate_sql(p_aggregate jsonb, p_n bigint)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return 'logloom_private.finite_double(' || case p_aggregate ->> 'kind'
    when 'sum' then 'coalesce(sum(l.total), 0)'
    when 'avg' then 'sum(l.total) / nullif(sum(l.numbers), 0)'
    when 'min' then 'min(l.minimum)'
    when 'max' then 'max(l.maximum)'
    else 'max(l.q' || p_n || ')'
  end || ')';
end;
$$;

-- The expressions of the aggregates over a source; p_minutes: what rate() divides by.
create function logloom_private.stats_values_sql(
  p_aggregates jsonb,
  p_source logloom_private.counted_source,
  p_minutes numeric
)
returns text[]
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return array(
    select case
      when a.item ->> 'kind' = 'count' then p_source.count_sql
      when a.item ->> 'kind' = 'rate'
        then p_source.count_sql || format(' / %L::double precision', p_minutes)
      when p_source.has_numbers then logloom_private.numbers_aggregate_sql(a.item, a.n)
      else logloom_private.query_aggregate_sql(a.item, 'l')
    end
    from jsonb_array_elements(p_aggregates) with ordinality a (item, n)
    order by a.n
  );
end;
$$;

-- search/tail_logs.sql
create type public.logloom_log_tail as (
  logs public.logloom_log_record[],
  next_cursor text,
  more boolean
);

comment on type public.logloom_log_tail is
  'Records in the order in which they became visible; more: whether others wait already.';

-- Without statistics of a new day the planner takes the index for useless: no sequential scans.
create function logloom_private.read_log_tail(
  p_scope logloom_private.reading_scope,
  p_query_dsl text,
  p_cursor text,
  p_limit integer,
  p_backlog integer
)
returns public.logloom_log_tail
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
set jit = off
set enable_seqscan = off
as $$
-- definer because a filter drives an index only where row-level security does not stand between
declare
  v_scope constant logloom_private.reading_scope :=
    logloom_private.checked_scope(p_scope, 'tail_logs');
  v_tenant_id constant text := v_scope.tenant_id;
  v_limit constant integer := logloom_private.list_limit(
    p_limit, 'search.page_limit_is_out_of_range'
  );
  v_query logloom_private.compiled_query;
  v_last bigint;
  v_after text[];
  v_tail logloom_private.log_tail;
begin
  perform logloom_private.take_search_slot(v_tenant_id);
  if p_backlog not between 0 and (select s.list_limit_max from logloom_private.settings s) then
    perform logloom_private.refuse(
      'search.backlog_is_out_of_range',
      (select s.list_limit_max from logloom_private.settings s)::text
    );
  end if;
  v_query := logloom_private.search_query(v_scope, p_query_dsl, now(), 'filter');
  select coalesce(max(a.write_seq), 0) into v_last from logloom_private.log_writes a;
  if p_cursor is null then
    v_tail.first := v_last + 1;
    -- Write sequences and records are of one snapshot: what is not here yet comes after this
    -- cursor.
    if p_backlog > 0 then
      v_tail.logs := array(
        select l
        from unnest((
          logloom_private.found_page(
            v_tenant_id, v_query,
            -- An event lies 24 hours ahead at most.
            tstzrange(
              now() - (select s.tail_backlog_span from logloom_private.settings s),
              now() + interval '25 hours'
            ),
            p_backlog, 'desc', null, null
          )
        ).logs) l
        order by l.ts, l.id
      );
    end if;
  else
    v_after := logloom_private.decode_cursor(
      p_cursor, '^tail (\d{1,18})(?: ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}))?$'
    );
    v_tail.first := v_after[1];
    v_tail.id := v_after[2];
    if v_tail.first > 1 + (select q.last_value from logloom_private.write_seq q) then
      perform logloom_private.refuse('search.cursor_lies_ahead');
    end if;
  end if;
  v_tail.logs := coalesce(v_tail.logs, '{}');
  v_tail.more := false;
  v_tail := logloom_private.advance_log_tail(v_tenant_id, v_query, v_limit, v_last, v_tail);
  if not v_tail.more then
    -- All of the last write sequence was seen. The days of later ones may be gone.
    v_tail.first := greatest(v_last + 1, v_tail.first);
    v_tail.id := null;
  end if;
  return row(
    v_tail.logs,
    logloom_private.encode_cursor(array['tail', v_tail.first::text, v_tail.id::text]), v_tail.more
  )::public.logloom_log_tail;
exception when query_canceled or lock_not_available or connection_exception or admin_shutdown
  or internal_error
then
  if not logloom_private.reads_again(sqlstate, sqlerrm) then
    raise;
  end if;
  return logloom_private.read_log_tail(p_scope, p_query_dsl, p_cursor, p_limit, p_backlog);
end;
$$;

create function public.tail_logs(
  p_query_dsl text default null,
  p_cursor text default null,
  p_limit integer default null,
  p_backlog integer default null
)
returns public.logloom_log_tail
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
set statement_timeout = '15s'
as $$
begin
  return logloom_private.read_log_tail(null, p_query_dsl, p_cursor, p_limit, p_backlog);
end;
$$;

comment on function public.tail_logs(text, text, integer, integer) is
  'Records that match p_query_dsl as they become visible, late ones included. Without p_cursor: '
  'the newest p_backlog (0 to 1000, default 0) records of the last 24 hours, oldest first, of '
  'large ones as many as make 8 MB, and the cursor of now. p_limit 1 to 1000 (default 100). '
  'Errors: PT400, PT401, PT408.';

-- search/take_search_slot.sql
-- What every operation that reads records calls first, once: takes a slot of the tenant and one of
-- the pool until the transaction's end. PT429 with Retry-After where none is free: to wait would
-- hold a connection. Locks, not rows: a transaction that is cancelled, killed or cut off gives them
-- back.
create function logloom_private.take_search_slot(p_tenant_id text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_plan constant logloom.plans := logloom_private.plan_of(p_tenant_id);
  v_own integer;
  v_slots integer;
  v_free_time interval;
begin
  -- The first that is free: with "limit" no further one is asked for.
  select n into v_own
  from generate_series(1, v_plan.concurrent_searches) n
  where pg_try_advisory_xact_lock(logloom_private.search_slot_key('of ' || p_tenant_id, n))
  limit 1;
  if v_own is null then
    perform logloom_private.refuse_for_now(1, 'search.too_many_of_this_tenant');
  end if;
  select greatest(1, floor(s.api_pool_size * s.search_pool_share)), s.search_free_time
  into v_slots, v_free_time
  from logloom_private.settings s;
  -- Parallel workers are processors as well: those of the plan's scans, for the first search alone.
  perform set_config(
    'max_parallel_workers_per_gather',
    least(
      current_setting('max_parallel_workers_per_gather')::integer,
      case when v_own = 1 then v_plan.concurrent_scans - 1 else 0 end
    )::text,
    true
  );
  -- The last quarter is for tenants that have nothing running.
  if v_own > 1 then
    v_slots := v_slots - v_slots / 4;
  end if;
  perform
  from generate_series(1, v_slots) n
  where pg_try_advisory_xact_lock(logloom_private.search_slot_key('all', n))
  limit 1;
  if not found then
    perform logloom_private.refuse_for_now(1, 'search.too_many_are_running');
  end if;
  perform set_config(
    'logloom.scan',
    extract(epoch from clock_timestamp() + v_free_time) || ' ' || logloom_private.search_slot_key(
      'scans of ' || p_tenant_id, v_own % v_plan.concurrent_scans
    ),
    true
  );
end;
$$;

-- search/take_validation_slot.sql
-- A slot of the tenant for the time that a query is compiled; PT429 with Retry-After where none is
-- free. Not one of searches: a page that searches has its query checked meanwhile.
create function logloom_private.take_validation_slot(p_tenant_id text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform
  from generate_series(
    1, (select s.concurrent_validations from logloom_private.settings s)
  ) n
  where pg_try_advisory_xact_lock(
    logloom_private.search_slot_key('validations of ' || p_tenant_id, n)
  )
  limit 1;
  if not found then
    perform logloom_private.refuse_for_now(1, 'search.too_many_validations');
  end if;
end;
$$;

-- search/tenant_rows_sql.sql
-- SQL from "from" on: the tenant's rows, as alias l, of a range that pass a filter. The only place
-- that says whose rows are read; whose blocks, candidate_blocks and sealed_page say.
-- Constants, not parameters: with them the planner leaves out the partitions of other days.
create function logloom_private.tenant_rows_sql(
  p_tenant_id text,
  p_from timestamptz,
  p_to timestamptz,
  p_filter text,
  p_table text default 'logloom.logs',
  p_time text default 'ts'
)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_days date[];
  v_spans text := '';
begin
  -- The days on which the tenant has rows, those in a row as one span: no other partition is
  -- opened. Of a range that touches two days at most, both are: to ask which have rows costs more.
  if p_table = 'logloom.logs' and (p_to <= p_from + interval '1 day') is not true then
    -- By itself: where records are sharded that costs a third of a statement with more in it.
    select array_agg(u.day)
    into v_days
    from logloom_private.log_days u
    where u.tenant_id = p_tenant_id
      and u.day between (p_from at time zone 'UTC')::date and (p_to at time zone 'UTC')::date;
    select
      coalesce('(' || string_agg(s.sql, ' or ' order by s.first_day) || ')', 'false') || ' and '
    into v_spans
    from (
      select
        min(d.day) as first_day,
        format(
          'l.ts >= %L::timestamptz and l.ts < %L::timestamptz',
          min(d.day)::timestamp at time zone 'UTC', (max(d.day) + 1)::timestamp at time zone 'UTC'
        ) as sql
      from (
        select u.day, u.day - (row_number() over (order by u.day))::integer as row_begin
        from unnest(v_days) u (day)
      ) d
      group by d.row_begin
    ) s;
  end if;
  return format(
    'from %1$s l where l.tenant_id = %2$L'
      || ' and l.%3$I >= %4$L::timestamptz and l.%3$I < %5$L::timestamptz and ',
    p_table, p_tenant_id, p_time, p_from, p_to
  ) || v_spans || p_filter;
end;
$$;

-- search/validate_query.sql
-- What public.validate_query answers, in a slot of the tenant.
create function logloom_private.read_query_validity(
  p_scope logloom_private.reading_scope,
  p_query_dsl text
)
returns public.logloom_query_validity
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role calls the compiler's parts
begin
  p_scope := logloom_private.checked_scope(p_scope, 'validate_query');
  perform logloom_private.take_validation_slot(p_scope.tenant_id);
  return jsonb_populate_record(
    null::public.logloom_query_validity,
    logloom_private.query_verdict(p_query_dsl, p_scope.hidden_fields)
  );
exception when query_canceled or lock_not_available then
  perform logloom_private.refuse('search.took_too_long');
  return null;
end;
$$;

create function public.validate_query(p_query_dsl text default null)
returns public.logloom_query_validity
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
set statement_timeout = '15s'
as $$
begin
  perform logloom_private.require_parameter('p_query_dsl', p_query_dsl is null);
  return logloom_private.read_query_validity(null, p_query_dsl);
end;
$$;

comment on function public.validate_query(text) is
  'Whether p_query_dsl compiles: {valid, error, position, hint, warnings: [{position, message, '
  'suggestion}]}. Errors: PT400, PT401, PT408, PT429.';

select logloom_private.finish_migration();
