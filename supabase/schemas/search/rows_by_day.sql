-- The columns of logloom.logs, of the alias l, of which p_reads (null: all) are read. Each is a
-- value by itself: what points into a table must not outlive the lock on it. With p_are_sized of
-- those that do not fit nothing but their place and size.
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

-- The tenant's rows of some search_parts that pass a filter, part after part; the first p_limit of
-- them in p_order where it is given. Of each what p_reads names is there, all where it is null.
-- p_bytes: of those that have so many before them only the size is there, besides what names them.
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
  v_rows text;
  v_part tstzrange;
  v_found bigint;
  v_left bigint := p_limit;
begin
  foreach v_part in array p_parts loop
    begin
      v_rows := logloom_private.tenant_rows_sql(
        p_tenant_id, lower(v_part), upper(v_part), p_filter
      ) || case when p_limit is not null then format(
        ' order by l.ts %1$s, l.id %1$s limit %2$s', p_order, v_left
      ) else '' end;
      if p_bytes is not null then
        v_rows := logloom_private.sized_rows_sql(
          v_rows, format('l.ts %1$s, l.id %1$s', p_order), p_bytes
        );
      end if;
      return query execute 'select ' || v_columns || ' ' || v_rows;
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
