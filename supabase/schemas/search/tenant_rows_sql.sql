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
