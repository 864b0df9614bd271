-- SQL from "from" to "limit": the first p_limit records, as alias l, in p_order (asc or desc): that
-- many of rows and of sealed ones, and of these the first. p_filter is the query's and, where p_ts
-- and p_id are given, that a record is after them. p_reads: what is read besides ts and id; all may
-- be where it is null. p_is_part: the range is one of search_parts, which begin with what the
-- tenant keeps. p_bytes: of sealed records after so many bytes nothing but the place and the size
-- is there.
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
  return 'from ((select l.* ' || v_rows
    || ') union all select l.* from logloom_private.sealed_page('
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
