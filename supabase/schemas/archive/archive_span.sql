-- The days that a small tenant's day is archived with, in one file: those of its month or, where
-- the tenant's retention would have ended too long before that, of its week in the month, or the
-- day alone. Within a month, since files lie by month.
create function logloom_private.archive_span(
  p_day date,
  p_retention_days integer,
  out first_day date,
  out last_day date
)
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_month constant date := date_trunc('month', p_day::timestamp);
  v_month_end constant date := v_month + interval '1 month' - interval '1 day';
  v_week constant integer := least((p_day - v_month) / 7, 3);
begin
  if p_retention_days >= 28 then
    first_day := v_month;
    last_day := v_month_end;
  elsif p_retention_days >= 7 then
    first_day := v_month + 7 * v_week;
    last_day := case when v_week = 3 then v_month_end else first_day + 6 end;
  else
    first_day := p_day;
    last_day := p_day;
  end if;
end;
$$;
