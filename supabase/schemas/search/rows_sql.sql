-- SQL over a tenant's records

-- A condition on l.ts that names only the days of the range in which the tenant has rows, so that a
-- statement opens no other partition.
create function logloom_private.tenant_days_sql(
  p_tenant_id text,
  p_from timestamptz,
  p_to timestamptz
)
returns text
language plpgsql
stable
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

-- Constants, not parameters: with them the planner leaves out the partitions of other days.
-- SQL from "from" on: the tenant's rows, as alias l, of a range that pass a filter; with p_expired
-- those too that the tenant no longer keeps. The only place that says whose rows are read.
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

-- Exact within a stable function: it and the statement that it decides for share a snapshot, and in
-- a snapshot a record is a row or in a block.
-- Whether the tenant has sealed records of the range in this snapshot.
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
  -- To ask a node costs a small search a sixth, and only days that are over are sealed.
  if p_from >= logloom_private.day_start(logloom_private.utc_day(clock_timestamp()))
    and logloom_private.is_spread()
  then
    return false;
  end if;
  perform
  from logloom_private.blocks c
  where c.tenant_id = p_tenant_id and c.last_ts >= p_from and c.first_ts < p_to
  limit 1;
  return found;
end;
$$;

-- From when on the tenant has rows in a range; its end where it has none.
create function logloom_private.first_rows(
  p_tenant_id text,
  p_from timestamptz,
  p_to timestamptz
)
returns timestamptz
language plpgsql
stable
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

-- For who makes a statement now and runs it in a later snapshot.
-- Whether the tenant has sealed records of the range, or may have by the time that a statement
-- runs.
create function logloom_private.may_read_sealed(
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
  return logloom_private.reads_sealed(p_tenant_id, p_from, p_to)
    or p_from < clock_timestamp() - (select s.seal_after from logloom_private.settings s);
end;
$$;

-- Rows and sealed records as one.
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
      '%s, %L, %L, %L, %L',
      logloom_private.scanned_tenant_sql(quote_literal(p_tenant_id)),
      logloom_private.kept_since(p_tenant_id, p_from), p_to, p_query.tree, p_reads
    )
    || ') l) l where true';
end;
$$;

-- The first records in an order: that many of rows and of sealed records, and of these the first.
-- SQL from "from" to "limit": the first p_limit records, as alias l, in p_order (asc or desc).
-- p_filter is the query's and, where p_ts and p_id are given, that a record is after them. p_reads:
-- what is read besides ts and id; all may be where it is null. p_is_part: the
-- range is one of search_parts, which begin with what the tenant keeps. p_bytes: of sealed records
-- after so many bytes nothing but the place and the size is there.
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
  p_reads text[] default null,
  p_is_part boolean default false,
  p_bytes bigint default null
)
returns text
language plpgsql
stable
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
      p_tenant_id, p_from, p_to, p_filter,
      case when p_reads is not null then p_reads || array['ts', 'id'] end, p_order, p_limit,
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
      '%s, %L, %L, %L, %L, %L, %L, %L, %L, %L',
      logloom_private.scanned_tenant_sql(quote_literal(p_tenant_id)),
      case when p_is_part then p_from
        else logloom_private.kept_since(p_tenant_id, p_from) end,
      p_to, p_query.tree, p_limit, p_order, p_ts, p_id, p_reads, p_bytes
    )
    || ') l) l' || v_order;
end;
$$;

-- A record of the alias l, column after column.
create function logloom_private.log_columns_sql()
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select string_agg('l.' || f.name, ', ' order by f.shown)
    from unnest(logloom_private.record_fields()) f
    where f.shown is not null
  );
end;
$$;

-- A record of the alias l as a composite.
create function logloom_private.log_record_sql()
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return 'row(' || logloom_private.log_columns_sql() || ')::public.logloom_log_record';
end;
$$;
