-- SQL over a tenant's records

create function logloom_private.tenant_days_sql(
  p_tenant_id text,
  p_from timestamptz,
  p_to timestamptz
)
returns text
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_days date[];
  v_spans text[];
begin
  -- By itself: such a statement costs a coordinator of nodes a third of one with more in it.
  select array_agg(u.day)
  into v_days
  from logloom_private.log_days u
  where u.tenant_id = p_tenant_id
    and u.day between logloom_private.utc_day(p_from) and logloom_private.utc_day(p_to);
  select array_agg(
    format(
      'l.ts >= %L::timestamptz and l.ts < %L::timestamptz',
      logloom_private.day_start(i.first_day), logloom_private.day_start(i.last_day + 1)
    )
    order by i.first_day
  )
  into v_spans
  from (
    -- Days in a row, as one span.
    select min(d.day) as first_day, max(d.day) as last_day
    from (
      select u.day, u.day - (row_number() over (order by u.day))::integer as row_begin
      from unnest(v_days) u (day)
    ) d
    group by d.row_begin
  ) i;
  return case coalesce(cardinality(v_spans), 0)
    when 0 then 'false'
    when 1 then v_spans[1]
    else '(' || array_to_string(v_spans, ' or ') || ')'
  end;
end;
$$;

revoke all on function logloom_private.tenant_days_sql(text, timestamptz, timestamptz)
from public;

comment on function logloom_private.tenant_days_sql(text, timestamptz, timestamptz) is
  'A condition on l.ts that names only the days of the range in which the tenant has rows, so that '
  'a statement opens no other partition.';

-- Constants, not parameters: with them the planner leaves out the partitions of other days.
create function logloom_private.tenant_rows_sql(
  p_tenant_id text,
  p_from timestamptz,
  p_to timestamptz,
  p_filter text,
  p_table text default 'logloom.logs',
  p_time text default 'ts',
  p_expired boolean default false
)
returns text
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_from timestamptz := p_from;
  v_days text := '';
begin
  if not p_expired then
    -- What is older than the tenant keeps is gone, or about to go.
    v_from := logloom_private.kept_since(p_tenant_id, v_from);
  end if;
  -- Of a range that touches two days at most, both are opened: to ask which have rows costs more.
  if p_table = 'logloom.logs' and (p_to <= v_from + interval '1 day') is not true then
    v_days := logloom_private.tenant_days_sql(p_tenant_id, v_from, p_to) || ' and ';
  end if;
  return format(
    'from %1$s l where l.tenant_id = %2$L'
      || ' and l.%3$I >= %4$L::timestamptz and l.%3$I < %5$L::timestamptz and ',
    p_table, p_tenant_id, p_time, v_from, p_to
  ) || v_days || p_filter;
end;
$$;

revoke all on function logloom_private.tenant_rows_sql(
  text, timestamptz, timestamptz, text, text, text, boolean
) from public;

comment on function logloom_private.tenant_rows_sql(
  text, timestamptz, timestamptz, text, text, text, boolean
) is
  'SQL from "from" on: the tenant''s rows, as alias l, of a range that pass a filter; with '
  'p_expired those too that the tenant no longer keeps. '
  'The only place that says whose rows are read.';

-- Exact within a stable function: it and the statement that it decides for share a snapshot, and in
-- a snapshot a record is a row or in a chunk.
create function logloom_private.reads_sealed(
  p_tenant_id text,
  p_from timestamptz,
  p_to timestamptz
)
returns boolean
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
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
$$;

revoke all on function logloom_private.reads_sealed(text, timestamptz, timestamptz) from public;

comment on function logloom_private.reads_sealed(text, timestamptz, timestamptz) is
  'Whether the tenant has sealed records of the range in this snapshot.';

create function logloom_private.first_rows(
  p_tenant_id text,
  p_from timestamptz,
  p_to timestamptz
)
returns timestamptz
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return greatest(p_from, coalesce(
    (
      select logloom_private.day_start(min(d.day))
      from logloom_private.log_days d
      where d.tenant_id = p_tenant_id
        and d.day between logloom_private.utc_day(p_from)
          and logloom_private.utc_day(p_to - interval '1 microsecond')
    ),
    p_to
  ));
end;
$$;

revoke all on function logloom_private.first_rows(text, timestamptz, timestamptz) from public;

comment on function logloom_private.first_rows(text, timestamptz, timestamptz) is
  'From when on the tenant has rows in a range; its end where it has none.';

-- For who makes a statement now and runs it in a later snapshot.
create function logloom_private.may_read_sealed(
  p_tenant_id text,
  p_from timestamptz,
  p_to timestamptz
)
returns boolean
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return logloom_private.reads_sealed(p_tenant_id, p_from, p_to)
    or p_from < clock_timestamp() - (select s.seal_after from logloom_private.settings s);
end;
$$;

revoke all on function logloom_private.may_read_sealed(text, timestamptz, timestamptz) from public;

comment on function logloom_private.may_read_sealed(text, timestamptz, timestamptz) is
  'Whether the tenant has sealed records of the range, or may have by the time that a statement '
  'runs.';

-- Rows and sealed records as one.
create function logloom_private.records_sql(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_from timestamptz,
  p_to timestamptz,
  p_reads text
)
returns text
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_rows constant text := logloom_private.rows_sql(
    p_tenant_id, p_from, p_to, p_query.filter, p_reads
  );
begin
  if not logloom_private.reads_sealed(p_tenant_id, p_from, p_to) then
    return v_rows;
  end if;
  return 'from (select l.* ' || v_rows
    || ' union all select l.* from logloom_private.sealed_rows('
    || format(
      '%s, %L, %L, %L, %L, %L',
      logloom_private.scanned_tenant_sql(quote_literal(p_tenant_id)),
      logloom_private.kept_since(p_tenant_id, p_from), p_to, p_query.tree, p_query.filter, p_reads
    )
    || ') l) l where true';
end;
$$;

revoke all on function logloom_private.records_sql(
  text, logloom_private.compiled_query, timestamptz, timestamptz, text
) from public;

comment on function logloom_private.records_sql(
  text, logloom_private.compiled_query, timestamptz, timestamptz, text
) is
  'SQL from "from" on: the tenant''s records, as alias l, of a range that a query finds, rows and '
  'sealed ones. p_reads: what reads them, SQL over l; of what is not read where it lies nothing '
  'else is there, all where p_reads is null.';

-- The first records in an order: that many of rows and of sealed records, and of these the first.
create function logloom_private.first_records_sql(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_from timestamptz,
  p_to timestamptz,
  p_filter text,
  p_limit integer,
  p_order text,
  p_ts timestamptz,
  p_id uuid,
  p_reads text default null,
  p_is_part boolean default false,
  p_bytes bigint default null
)
returns text
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_order constant text := format(
    ' order by l.ts %1$s, l.id %1$s limit %2$s', p_order, p_limit
  );
  v_rows constant text := case
    when p_is_part then logloom_private.tenant_rows_sql(
      p_tenant_id, p_from, p_to, p_filter, p_expired => true
    )
    else logloom_private.rows_sql(
      p_tenant_id, p_from, p_to, p_filter, p_reads || ' l.ts l.id', p_order, p_limit,
      p_bytes => p_bytes
    )
  end || v_order;
begin
  if not logloom_private.reads_sealed(p_tenant_id, p_from, p_to) then
    return v_rows;
  end if;
  return 'from ((select l.* ' || v_rows || ') union all select '
    || case when p_bytes is null then 'l.*' else logloom_private.sized_columns_sql() end
    || ' from logloom_private.sealed_page('
    || format(
      '%s, %L, %L, %L, %L, %L, %L, %L, %L, %L, %L',
      logloom_private.scanned_tenant_sql(quote_literal(p_tenant_id)),
      case when p_is_part then p_from
        else logloom_private.kept_since(p_tenant_id, p_from) end,
      p_to, p_query.tree, p_query.filter, p_limit, p_order, p_ts, p_id, p_reads, p_bytes
    )
    || ') l) l' || v_order;
end;
$$;

revoke all on function logloom_private.first_records_sql(
  text, logloom_private.compiled_query, timestamptz, timestamptz, text, integer, text, timestamptz,
  uuid, text, boolean, bigint
) from public;

comment on function logloom_private.first_records_sql(
  text, logloom_private.compiled_query, timestamptz, timestamptz, text, integer, text, timestamptz,
  uuid, text, boolean, bigint
) is
  'SQL from "from" to "limit": the first p_limit records, as alias l, in p_order (asc or desc). '
  'p_filter is the query''s and, where p_ts and p_id are given, that a record is after them. '
  'p_reads: what reads them besides ts and id, SQL over l; all may be read where it is null. '
  'p_is_part: the range is one of search_parts, which begin with what the tenant keeps. p_bytes: '
  'of sealed records after so many bytes nothing but the place and the size is there.';

-- A record of the alias l, column after column.
create function logloom_private.log_columns_sql()
returns text
language plpgsql
immutable
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return 'l.id, l.tenant_id, l.ts, l.received_at, l.level, l.msg, l.service, l.env, l.req_id, '
    || 'l.user_id, l.route, l.host, l.attrs';
end;
$$;

revoke all on function logloom_private.log_columns_sql() from public;

-- All of a record of the alias l, which has the type logloom.logs, with its size.
create function logloom_private.sized_columns_sql()
returns text
language plpgsql
immutable
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return 'l.ts, l.received_at, l.arrival, l.id, l.tenant_id, l.level, l.msg, l.service, l.env, '
    || 'l.req_id, l.user_id, l.route, l.host, l.attrs, '
    || 'coalesce(l.record_bytes, logloom_private.bytes_of_record(l))';
end;
$$;

revoke all on function logloom_private.sized_columns_sql() from public;

-- A record of the alias l as a composite.
create function logloom_private.log_record_sql()
returns text
language plpgsql
immutable
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return 'row(' || logloom_private.log_columns_sql() || ')::public.logloom_log_record';
end;
$$;

revoke all on function logloom_private.log_record_sql() from public;

-- The size of a record of the alias l.
create function logloom_private.record_size_sql()
returns text
language plpgsql
immutable
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return 'coalesce(l.record_bytes, logloom_private.bytes_of_record(row(l.ts, l.received_at, '
    || 'l.arrival, l.id, l.tenant_id, l.level, l.msg, l.service, l.env, l.req_id, l.user_id, '
    || 'l.route, l.host, l.attrs, null)::logloom.logs))';
end;
$$;

revoke all on function logloom_private.record_size_sql() from public;

-- Records are chosen by their sizes, before anything of them is opened.
create function logloom_private.sized_rows_sql(
  p_rows text,
  p_order text,
  p_bytes bigint,
  p_size text default logloom_private.record_size_sql()
)
returns text
language plpgsql
immutable
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return 'from (select l.*, coalesce(sum(l.size) over (order by ' || p_order
    || ' rows between unbounded preceding and 1 preceding), 0) < ' || p_bytes
    || ' as fits from (select l.*, ' || p_size || ' as size from (select l.* ' || p_rows
    || ') l) l) l';
end;
$$;

revoke all on function logloom_private.sized_rows_sql(text, text, bigint, text) from public;

comment on function logloom_private.sized_rows_sql(text, text, bigint, text) is
  'SQL from "from" on: p_rows, SQL of the same kind with the alias l, with size and with fits, '
  'whether those before it in p_order have fewer than p_bytes. p_size: SQL of the size.';

-- Most pages have no large record: their sizes need not be added up. Where one is null, it has to
-- be read again by fitting_sql. A row of before sizes were kept is null too: to name a function
-- that measures it costs each page of the others a twentieth.
create function logloom_private.small_sql(
  p_columns text,
  p_others text,
  p_rows text,
  p_limit integer,
  p_bytes bigint
)
returns text
language plpgsql
immutable
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return format(
    'select case when l.record_bytes <= %s then row(%s)::public.logloom_log_record end as record'
      || '%s %s',
    least(p_bytes / greatest(p_limit, 1), 65536), p_columns, p_others, p_rows
  );
end;
$$;

revoke all on function logloom_private.small_sql(text, text, text, integer, bigint) from public;

comment on function logloom_private.small_sql(text, text, text, integer, bigint) is
  'SQL of the records, with p_others, of p_rows, SQL from "from" on with the alias l: of p_limit '
  'records that together have less than p_bytes, however many of them are read. Others are null.';

create function logloom_private.fitting_sql(
  p_columns text,
  p_others text,
  p_rows text,
  p_order text,
  p_bytes bigint,
  p_size text default logloom_private.record_size_sql()
)
returns text
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_record constant text := 'row(' || p_columns || ')::public.logloom_log_record';
  v_window constant text := 'window before as (order by ' || p_order
    || ' rows between unbounded preceding and 1 preceding)';
begin
  -- First by the size that is known. Of what that leaves the attributes are opened: numbers take
  -- up to four times as much there as their text, and reading them more than that.
  return 'select case when not l.fits then null when l.size > '
    || (select s.max_page_bytes from logloom_private.settings s)
    || ' then logloom_private.cut_record(' || v_record || ', l.size) else ' || v_record
    || ' end as record' || p_others || ' '
    || 'from (select l.*, coalesce(sum(case when l.may_fit then '
    || 'greatest(l.size, 2 * pg_column_size(l.attrs #> ''{}'') - l.size) else l.size end) '
    || 'over before, 0) < '
    || p_bytes || ' as fits from (select l.*, coalesce(sum(l.size) over before, 0) < ' || p_bytes
    || ' as may_fit from (select l.*, ' || p_size || ' as size from (select l.* ' || p_rows
    || ') l) l ' || v_window || ') l ' || v_window || ') l order by ' || p_order;
end;
$$;

revoke all on function logloom_private.fitting_sql(text, text, text, text, bigint, text)
from public;

comment on function logloom_private.fitting_sql(text, text, text, text, bigint, text) is
  'SQL of the records, with p_others, of p_rows, SQL from "from" on with the alias l, in p_order. '
  'Those after p_bytes are null. p_size: what says how large one is.';

-- Such a record came before there was a bound.
create function logloom_private.cut_record(p_log public.logloom_log_record, p_size bigint)
returns public.logloom_log_record
language plpgsql
immutable
parallel safe
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  p_log.msg := left(p_log.msg, 100000);
  p_log.service := left(p_log.service, 10000);
  p_log.env := left(p_log.env, 10000);
  p_log.req_id := left(p_log.req_id, 10000);
  p_log.user_id := left(p_log.user_id, 10000);
  p_log.route := left(p_log.route, 10000);
  p_log.host := left(p_log.host, 10000);
  p_log.attrs := jsonb_build_object('logloom_cut', jsonb_build_object('attrs', p_size));
  return p_log;
end;
$$;

revoke all on function logloom_private.cut_record(public.logloom_log_record, bigint) from public;

comment on function logloom_private.cut_record(public.logloom_log_record, bigint) is
  'What an answer has of a record that is larger than a page: the beginnings of its texts, and in '
  'attrs.logloom_cut how many bytes it has.';

create function logloom_private.those_that_fit(p_logs public.logloom_log_record[])
returns public.logloom_log_record[]
language plpgsql
immutable
parallel safe
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_last integer := coalesce(cardinality(p_logs), 0);
begin
  while v_last > 0 and (p_logs[v_last]).id is null loop
    v_last := v_last - 1;
  end loop;
  return case when v_last = cardinality(p_logs) then p_logs else p_logs[:v_last] end;
end;
$$;

revoke all on function logloom_private.those_that_fit(public.logloom_log_record[]) from public;

comment on function logloom_private.those_that_fit(public.logloom_log_record[]) is
  'Records without those at their end that are null.';

create function logloom_private.answered_bytes(p_logs public.logloom_log_record[])
returns bigint
language plpgsql
stable
parallel safe
security invoker
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

revoke all on function logloom_private.answered_bytes(public.logloom_log_record[]) from public;

comment on function logloom_private.answered_bytes(public.logloom_log_record[]) is
  'How many bytes records have in an answer.';
