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
  v_size text;
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
  return 'select case when not l.fits_opened then null when l.size > '
    || (select s.max_page_bytes from logloom_private.settings s)
    || ' then logloom_private.cut_record(' || v_record || ', l.size) else ' || v_record
    || ' end as record' || p_others || ' '
    || 'from (select l.*, coalesce(sum(case when l.fits then '
    || 'greatest(l.size, 2 * pg_column_size(' || v_attrs || ' #> ''{}'') - l.size) '
    || 'else l.size end) '
    || 'over (order by ' || p_order || ' rows between unbounded preceding and 1 preceding), 0) < '
    || p_bytes || ' as fits_opened '
    || logloom_private.sized_rows_sql(p_rows, p_order, p_bytes, v_size)
    || ') l order by ' || p_order;
end;
$$;
