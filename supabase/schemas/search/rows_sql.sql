-- Seam: builds SQL for the tenant's id in a call that reads sealed records. With nodes the SQL also
-- passes on the scan slot. p_tenant: SQL for the id.
create function logloom_private.scanned_tenant_sql(p_tenant text)
returns text
language sql
stable
return p_tenant;

-- Returns the days of a range on which a tenant has rows, in order. A statement of its own: on a
-- sharded table a larger one takes three times as long.
create function logloom_private.days_with_rows(
  p_tenant_id text,
  p_from timestamptz,
  p_to timestamptz
)
returns date[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_days date[];
begin
  select array_agg(d.day order by d.day)
  into v_days
  from logloom_private.log_days d
  where d.tenant_id = p_tenant_id
    and d.day between (p_from at time zone 'UTC')::date
      and ((p_to - interval '1 microsecond') at time zone 'UTC')::date;
  return coalesce(v_days, '{}');
end;
$$;

-- Builds SQL that is true if l.ts is on one of p_days. Consecutive days become one range.
create function logloom_private.days_sql(p_days date[])
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select coalesce('(' || string_agg(s.sql, ' or ' order by s.first_day) || ')', 'false')
    from (
      select
        min(d.day) as first_day,
        format(
          'l.ts >= %L::timestamptz and l.ts < %L::timestamptz',
          logloom_private.day_start(min(d.day)), logloom_private.day_start(max(d.day) + 1)
        ) as sql
      from (
        select u.day, u.day - (row_number() over (order by u.day))::integer as row_begin
        from unnest(p_days) u (day)
      ) d
      group by d.row_begin
    ) s
  );
end;
$$;

-- Builds a source of the tenant's rows (alias l) of a range that pass a filter. Only this function
-- decides whose rows are read. For blocks, candidate_blocks and sealed_page decide. Values are
-- constants, not parameters: the planner can then skip the partitions of other days.
create function logloom_private.tenant_rows_sql(
  p_tenant_id text,
  p_from timestamptz,
  p_to timestamptz,
  p_filter text,
  p_table text default 'logloom.logs',
  p_time text default 'ts'
)
returns logloom_private.sql_source
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_days text := '';
begin
  -- Skips partitions without rows of the tenant. A range of at most 24 hours opens its one or two
  -- partitions: looking up which have rows costs more.
  if p_table = 'logloom.logs' and (p_to <= p_from + interval '1 day') is not true then
    v_days := logloom_private.days_sql(
      logloom_private.days_with_rows(p_tenant_id, p_from, p_to)
    ) || ' and ';
  end if;
  return logloom_private.rows_from(
    p_table || ' l',
    format(
      'l.tenant_id = %1$L and l.%2$I >= %3$L::timestamptz and l.%2$I < %4$L::timestamptz and ',
      p_tenant_id, p_time, p_from, p_to
    ) || v_days || p_filter
  );
end;
$$;

-- Seam: true if the tenant has sealed records in the range. In each snapshot a record is either a
-- row or in a block. A stable caller keeps its snapshot, so its next statement can rely on the
-- answer.
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

-- Adds sealed records to the source p_rows; the order stays. p_sealed: SQL that calls the function
-- for sealed records. If it is null, p_rows is returned unchanged.
create function logloom_private.with_sealed_sql(
  p_rows logloom_private.sql_source,
  p_sealed text
)
returns logloom_private.sql_source
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_sealed is not null then
    p_rows.from_sql := '((select l.* ' || logloom_private.source_sql(p_rows)
      || ') union all select l.* from ' || p_sealed || ' l) l';
    p_rows.where_sql := 'true';
  end if;
  return p_rows;
end;
$$;

-- Builds a source of the tenant's rows (alias l) of a range that pass a filter. Few days are read
-- directly. Many days are read by rows_by_day with the same parameters.
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
returns logloom_private.sql_source
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
  return logloom_private.rows_from(format(
    'logloom_private.rows_by_day(%L, %L, %L, %L, %L, %L, %L) l',
    p_tenant_id, v_parts, p_filter, p_reads, p_order, p_limit, p_bytes
  ));
end;
$$;

-- Builds the columns of logloom.logs for p_reads (null: all). l is the row's alias. Values are
-- copied: a pointer into a table is not valid after the table's lock is released. With p_are_sized,
-- rows that do not fit have only their position and size.
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

-- Returns the tenant's rows in p_parts (from search_parts) that pass a filter, part after part.
-- With p_limit, returns the first p_limit rows in p_order. Rows have only the fields of p_reads
-- (null: all). After p_bytes, rows have only their position and size.
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
  v_rows logloom_private.sql_source;
  v_part tstzrange;
  v_found bigint;
  v_left bigint := p_limit;
begin
  foreach v_part in array p_parts loop
    begin
      v_rows := logloom_private.tenant_rows_sql(
        p_tenant_id, lower(v_part), upper(v_part), p_filter
      );
      if p_limit is not null then
        v_rows.order_sql := format('l.ts %1$s, l.id %1$s', p_order);
        v_rows.max_rows := v_left;
      end if;
      if p_bytes is not null then
        v_rows := logloom_private.sized_rows_sql(v_rows, p_bytes);
      end if;
      return query execute 'select ' || v_columns || ' ' || logloom_private.source_sql(v_rows);
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
