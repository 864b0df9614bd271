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
