-- The next records of a pass that go into a file; null where there are none.
create function logloom_private.archive_records(p_pass logloom_private.archive_passes)
returns logloom.logs[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set work_mem = '48MB'
as $$
declare
  v_found constant record := logloom_private.archive_places(p_pass);
  v_last constant integer := cardinality(v_found.ts);
  v_sql text;
  v_records logloom.logs[];
begin
  if v_last is null then
    return null;
  end if;
  select string_agg(p.sql, ' union all ' order by p.block) into v_sql
  from (
    select
      f.block,
      case
        when f.block is null then format(
          'select r.* from logloom.logs r where r.tenant_id = %L and %s '
            || 'and (r.ts, r.id) <= (%L::timestamptz, %L::uuid)',
          p_pass.tenant_id, logloom_private.archive_filter_sql(p_pass, 'r'),
          v_found.ts[v_last], v_found.ids[v_last]
        )
        else format(
          'select r.* from logloom_private.block_records(%L, %s, %L::integer[], null) r',
          p_pass.tenant_id, f.block, array_agg(f.place order by f.place)
        )
      end as sql
    from unnest(v_found.blocks, v_found.places) f (block, place)
    group by f.block
  ) p;
  execute format('select array_agg(s) from (%s) s', v_sql) into v_records;
  if cardinality(v_records) <> v_last then
    raise sqlstate 'LL001' using message = 'Records to archive are not those that were found';
  end if;
  return v_records;
end;
$$;
