create function logloom_private.answered_bytes(p_logs public.logloom_log_record[])
returns bigint
language plpgsql
stable
parallel safe
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

-- Adds the columns size and fits to p_rows. size: the value of p_size, by default the stored size.
-- fits: true if the rows before it have fewer than p_bytes in total. So records are chosen before
-- large values are decompressed.
create function logloom_private.sized_rows_sql(
  p_rows logloom_private.sql_source,
  p_bytes bigint,
  p_size text default null
)
returns logloom_private.sql_source
language sql
stable
return logloom_private.rows_from(format(
  '(select l.*, coalesce(sum(l.size) over (order by %2$s rows between unbounded preceding '
    || 'and 1 preceding), 0) < %3$s as fits from (select l.*, '
    || '%4$s as size from (select l.* %1$s) l) l) l',
  logloom_private.source_sql(p_rows), p_rows.order_sql, p_bytes,
  coalesce(p_size, 'coalesce(l.record_bytes, octet_length(to_json(l)::text))')
));

-- Picks the attributes of p_fields and keeps their nesting; null if there are none.
create function logloom_private.pick_attrs(p_attrs jsonb, p_fields jsonb)
returns jsonb
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_field jsonb;
  v_path text[];
  v_key text;
  v_value jsonb;
  v_picked jsonb := '{}';
begin
  for v_field in select f from jsonb_array_elements(p_fields) f loop
    v_value := p_attrs;
    v_path := array(select jsonb_array_elements_text(v_field -> 'path'));
    foreach v_key in array v_path loop
      v_value := v_value -> v_key;
    end loop;
    if coalesce(v_value, 'null') <> 'null' then
      for v_depth in 1..cardinality(v_path) - 1 loop
        if jsonb_typeof(v_picked #> v_path[1:v_depth]) is distinct from 'object' then
          v_picked := jsonb_set(v_picked, v_path[1:v_depth], '{}');
        end if;
      end loop;
      v_picked := jsonb_set(v_picked, v_path, v_value);
    elsif p_attrs ? (v_field ->> 'joined') then
      v_picked := v_picked || jsonb_build_object(
        v_field ->> 'joined', p_attrs -> (v_field ->> 'joined')
      );
    end if;
  end loop;
  return nullif(v_picked, '{}');
end;
$$;

-- Builds the columns of a record (alias l): id, tenant_id, ts and the fields in p_fields (null:
-- all).
create function logloom_private.shown_columns_sql(p_fields jsonb default null)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_attrs constant jsonb := jsonb_path_query_array(p_fields, '$[*] ? (@.field == "attrs")');
begin
  return (
    select string_agg(
      case
        when f.name = 'attrs' and jsonb_array_length(v_attrs) > 0
          then 'logloom_private.pick_attrs(l.attrs, ' || quote_literal(v_attrs) || ')'
        when p_fields is null or f.name in ('id', 'tenant_id', 'ts')
          or f.name <> 'attrs'
          and p_fields @> jsonb_build_array(jsonb_build_object('field', f.name))
          then 'l.' || f.name
        else 'null::' || f.type
      end,
      ', ' order by f.shown
    )
    from unnest(logloom_private.record_fields()) f
    where f.shown is not null
  );
end;
$$;

-- Shortens a record larger than a page: keeps the beginnings of its texts, and puts its size into
-- attrs.logloom_cut.
create function logloom_private.cut_record(p_log public.logloom_log_record, p_size bigint)
returns public.logloom_log_record
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  p_log.msg := left(p_log.msg, 100000);
  -- fields text but level, msg: p_log.{name} := left(p_log.{name}, 10000);
  p_log.service := left(p_log.service, 10000);
  p_log.env := left(p_log.env, 10000);
  p_log.req_id := left(p_log.req_id, 10000);
  p_log.user_id := left(p_log.user_id, 10000);
  p_log.route := left(p_log.route, 10000);
  p_log.host := left(p_log.host, 10000);
  -- fields end
  p_log.attrs := jsonb_build_object('logloom_cut', jsonb_build_object('attrs', p_size));
  return p_log;
end;
$$;

-- Builds SQL for a page: the records of p_rows after the query's stages, in order, and the columns
-- p_others. Records beyond p_bytes are null. Adding up sizes is slow: without p_is_exact, if
-- plan.rows is empty, records larger than p_bytes / p_limit are null instead.
create function logloom_private.page_sql(
  p_query logloom_private.compiled_query,
  p_rows logloom_private.sql_source,
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
  -- Without arguments, shown_columns_sql() is a constant for the planner.
  v_record constant text := 'row(' || case
    when p_query.plan ? 'fields' then logloom_private.shown_columns_sql(p_query.plan -> 'fields')
    else logloom_private.shown_columns_sql()
  end || ')::public.logloom_log_record';
  v_order constant text := p_rows.order_sql;
  v_measured constant text := 'octet_length(to_json(' || v_record || ')::text)';
  v_size text := 'coalesce(l.record_bytes, ' || v_measured || ')';
  v_attrs text :=
    'case when l.record_bytes is null then (' || v_record || ').attrs else l.attrs end';
begin
  if jsonb_array_length(p_query.plan -> 'rows') > 0 then
    -- Extracted attributes are not in the stored size.
    v_size := v_measured;
    v_attrs := '(' || v_record || ').attrs';
    p_rows := logloom_private.staged_sql(p_query, p_rows);
    p_rows.order_sql := v_order;
    p_rows.max_rows := p_limit;
  elsif not p_is_exact then
    return format(
      'select case when %s <= %s then %s end as record%s %s',
      v_size, least(p_bytes / greatest(p_limit, 1), 65536), v_record, p_others,
      logloom_private.source_sql(p_rows)
    );
  end if;
  -- First chooses records by the known size, then by the size of the decompressed attributes. In
  -- memory, numbers take up to four times as much as their text.
  return 'select case when not l.fits_opened then null when l.size > '
    || (select s.max_page_bytes from logloom_private.settings s)
    || ' then logloom_private.cut_record(' || v_record || ', l.size) else ' || v_record
    || ' end as record' || p_others || ' '
    || 'from (select l.*, coalesce(sum(case when l.fits then '
    || 'greatest(l.size, 2 * pg_column_size((' || v_attrs || ') #> ''{}'') - l.size) '
    || 'else l.size end) '
    || 'over (order by ' || v_order || ' rows between unbounded preceding and 1 preceding), 0) < '
    || p_bytes || ' as fits_opened '
    || logloom_private.source_sql(logloom_private.sized_rows_sql(p_rows, p_bytes, v_size))
    || ') l order by ' || v_order;
end;
$$;
