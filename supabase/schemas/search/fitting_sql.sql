-- SQL of the records, with p_others, of p_rows, SQL from "from" on with the alias l, in p_order: at
-- most p_limit of them, which together have less than p_bytes. Those that do not fit are null, and
-- unless p_is_exact each that is larger than its share: most pages have no such one, and to add up
-- sizes costs. p_size: what says how large one is.
create function logloom_private.fitting_sql(
  p_columns text,
  p_others text,
  p_rows text,
  p_order text,
  p_limit integer,
  p_bytes bigint,
  p_is_exact boolean,
  p_size text default 'coalesce(l.record_bytes, octet_length(to_json(l)::text))'
)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_record constant text := 'row(' || p_columns || ')::public.logloom_log_record';
  v_window constant text := 'window before as (order by ' || p_order
    || ' rows between unbounded preceding and 1 preceding)';
begin
  if not p_is_exact then
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
    || 'greatest(l.size, 2 * pg_column_size(l.attrs #> ''{}'') - l.size) else l.size end) '
    || 'over before, 0) < '
    || p_bytes || ' as fits from (select l.*, coalesce(sum(l.size) over before, 0) < ' || p_bytes
    || ' as may_fit from (select l.*, ' || p_size || ' as size from (select l.* ' || p_rows
    || ') l) l ' || v_window || ') l ' || v_window || ') l order by ' || p_order;
end;
$$;
