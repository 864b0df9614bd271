-- The days of a range on which a tenant has rows, in order. Asked for in a statement of its own:
-- where records are sharded that costs a third of a statement with more in it.
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

-- SQL over the alias l: whether ts is on one of p_days. Days in a row are one span.
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
  v_days text := '';
begin
  -- No partition without rows of the tenant is opened. Of a range that touches two days at most,
  -- both are: to ask which have rows costs more.
  if p_table = 'logloom.logs' and (p_to <= p_from + interval '1 day') is not true then
    v_days := logloom_private.days_sql(
      logloom_private.days_with_rows(p_tenant_id, p_from, p_to)
    ) || ' and ';
  end if;
  return format(
    'from %1$s l where l.tenant_id = %2$L'
      || ' and l.%3$I >= %4$L::timestamptz and l.%3$I < %5$L::timestamptz and ',
    p_table, p_tenant_id, p_time, p_from, p_to
  ) || v_days || p_filter;
end;
$$;
