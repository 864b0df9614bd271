-- A page ends with the record that fills it: sizes are added up before texts are opened.

-- All of a record of the alias l, which has the type logloom.logs, with its size.
create function logloom_private.sized_columns_sql()
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select string_agg(
      case f.name
        when 'record_bytes' then 'coalesce(l.record_bytes, logloom_private.bytes_of_record(l))'
        else 'l.' || f.name
      end,
      ', ' order by f.ordinality
    )
    from unnest(logloom_private.record_fields()) with ordinality f
  );
end;
$$;

-- The size of a record of the alias l.
create function logloom_private.record_size_sql()
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return 'coalesce(l.record_bytes, logloom_private.bytes_of_record(row('
    || (
      select string_agg(
        case f.name when 'record_bytes' then 'null' else 'l.' || f.name end,
        ', ' order by f.ordinality
      )
      from unnest(logloom_private.record_fields()) with ordinality f
    )
    || ')::logloom.logs))';
end;
$$;

-- Records are chosen by their sizes, before anything of them is opened.
-- SQL from "from" on: p_rows, SQL of the same kind with the alias l, with size and with fits,
-- whether those before it in p_order have fewer than p_bytes. p_size: SQL of the size.
create function logloom_private.sized_rows_sql(
  p_rows text,
  p_order text,
  p_bytes bigint,
  p_size text default logloom_private.record_size_sql()
)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return 'from (select l.*, coalesce(sum(l.size) over (order by ' || p_order
    || ' rows between unbounded preceding and 1 preceding), 0) < ' || p_bytes
    || ' as fits from (select l.*, ' || p_size || ' as size from (select l.* ' || p_rows
    || ') l) l) l';
end;
$$;

-- Most pages have no large record: their sizes need not be added up. Where one is null, it has to
-- be read again by fitting_sql. A row of before sizes were kept is null too: to name a function
-- that measures it costs each page of the others a twentieth.
-- SQL of the records, with p_others, of p_rows, SQL from "from" on with the alias l: of p_limit
-- records that together have less than p_bytes, however many of them are read. Others are null.
create function logloom_private.small_sql(
  p_columns text,
  p_others text,
  p_rows text,
  p_limit integer,
  p_bytes bigint
)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return format(
    'select case when l.record_bytes <= %s then row(%s)::public.logloom_log_record end as record'
      || '%s %s',
    least(p_bytes / greatest(p_limit, 1), 65536), p_columns, p_others, p_rows
  );
end;
$$;

-- SQL of the records, with p_others, of p_rows, SQL from "from" on with the alias l, in p_order.
-- Those after p_bytes are null. p_size: what says how large one is.
create function logloom_private.fitting_sql(
  p_columns text,
  p_others text,
  p_rows text,
  p_order text,
  p_bytes bigint,
  p_size text default logloom_private.record_size_sql()
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

-- Such a record came before there was a bound.
-- What an answer has of a record that is larger than a page: the beginnings of its texts, and in
-- attrs.logloom_cut how many bytes it has.
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

-- Records without those at their end that are null.
create function logloom_private.those_that_fit(p_logs public.logloom_log_record[])
returns public.logloom_log_record[]
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_last integer := coalesce(cardinality(p_logs), 0);
begin
  while v_last > 0 and (p_logs[v_last]).id is null loop
    v_last := v_last - 1;
  end loop;
  return case when v_last = cardinality(p_logs) then p_logs else p_logs[:v_last] end;
end;
$$;

-- How many bytes records have in an answer.
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
