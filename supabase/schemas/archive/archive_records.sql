-- Builds SQL that tells whether a pass must still archive the record p_alias of logloom.logs. Each
-- day is archived up to a write sequence of its own.
create function logloom_private.archive_filter_sql(
  p_pass logloom_private.archive_passes,
  p_alias text
)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_from constant timestamptz :=
    coalesce(p_pass.position_ts, logloom_private.day_start(p_pass.first_day));
  v_done constant bigint[] := array(
    select coalesce(a.write_seq, -1)
    from generate_series(0, p_pass.last_day - p_pass.first_day) d (n)
    left join logloom_private.archived_days a
      on a.tenant_id = p_pass.tenant_id and a.day = p_pass.first_day + d.n
    order by d.n
  );
begin
  return format(
    '%1$s.ts >= %2$L::timestamptz and %1$s.ts < %3$L::timestamptz and %1$s.write_seq <= %4$s '
      || 'and %1$s.write_seq > '
      || '(%5$L::bigint[])[(%1$s.ts at time zone ''UTC'')::date - %6$L::date + 1]',
    p_alias, v_from, logloom_private.day_start(p_pass.last_day + 1), p_pass.write_seq, v_done,
    p_pass.first_day
  ) || case when p_pass.position_ts is null then ''
    else format(
      ' and (%1$s.ts, %1$s.id) > (%2$L::timestamptz, %3$L::uuid)',
      p_alias, p_pass.position_ts, p_pass.position_id
    )
  end;
end;
$$;

-- Finds the next records of a pass in the order of ts and id: as many as fit in one file, but at
-- least one. A hosted function has one second of processor time. So a file has half as many records
-- as a block, and fewer after each failure. blocks: the block of each record, null for a row.
-- places: the record's position in the block.
create function logloom_private.archive_places(
  p_pass logloom_private.archive_passes,
  out ts timestamptz[],
  out ids uuid[],
  out blocks bigint[],
  out places integer[]
)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set jit = off
as $$
declare
  v_settings logloom_private.settings;
  v_halvings constant integer := 1 + least(p_pass.failures, 4);
  v_filter constant text := logloom_private.archive_filter_sql(p_pass, 'r');
  v_end timestamptz := 'infinity';
  v_block logloom_private.blocks;
  v_ts timestamptz[];
  v_ids uuid[];
  v_places integer[];
  v_records integer;
  v_row_sizes bigint[];
  v_sizes bigint[] := '{}';
begin
  select s.* into v_settings from logloom_private.settings s;
  v_settings.seal_block_records := greatest(v_settings.seal_block_records >> v_halvings, 1);
  v_settings.seal_block_bytes := v_settings.seal_block_bytes >> v_halvings;
  ts := '{}';
  ids := '{}';
  blocks := '{}';
  places := '{}';
  for v_block in
    select c.*
    from logloom_private.blocks c
    where c.tenant_id = p_pass.tenant_id
      and c.last_ts >= coalesce(p_pass.position_ts, logloom_private.day_start(p_pass.first_day))
      and c.first_ts < logloom_private.day_start(p_pass.last_day + 1)
    order by c.first_ts, c.block_id
  loop
    -- A file usually has one block. Blocks that overlap in time are read together.
    if (select count(*) from unnest(ts) t where t < v_block.first_ts)
      >= greatest(v_settings.seal_block_records / 2, 1)
    then
      v_end := v_block.first_ts;
      exit;
    end if;
    perform logloom_private.can_read(v_block.format);
    execute format(
      'select array_agg(r.ts) as ts, array_agg(r.id) as ids, array_agg(r.place) as places, '
        || 'count(*)::integer as records from ('
        || 'select s.ts, s.id, s.write_seq, row_number() over ()::integer as place from '
        || 'logloom_private.sealed_records($1, null, array[''ts'', ''id'', ''write_seq'']) s'
        || ') r where %s',
      v_filter
    )
    into v_ts, v_ids, v_places, v_records
    using v_block;
    continue when v_records = 0;
    ts := ts || v_ts;
    ids := ids || v_ids;
    places := places || v_places;
    blocks := blocks || array_fill(v_block.block_id, array[v_records]);
    v_sizes := v_sizes || array_fill(v_block.weight / v_block.records, array[v_records]);
  end loop;
  execute format(
    $query$
      select array_agg(l.ts) as ts, array_agg(l.id) as ids, array_agg(l.size) as sizes
      from (
        select r.ts, r.id, b.bytes + 7 * greatest(b.bytes - 2000, 0) as size
        from logloom.logs r
        cross join lateral (
          select coalesce(r.record_bytes, octet_length(to_json(r)::text))::bigint as bytes
        ) b
        where r.tenant_id = %L and %s
        order by r.ts, r.id
        limit %s
      ) l
    $query$,
    p_pass.tenant_id, v_filter, v_settings.seal_block_records
  )
  into v_ts, v_ids, v_row_sizes;
  select array_agg(k.ts), array_agg(k.id), array_agg(k.block), array_agg(k.place)
  into ts, ids, blocks, places
  from (
    select
      u.*, row_number() over w as n, sum(u.size) over w as size_through
    from (
      select b.ts, b.id, b.block, b.place, b.size
      from unnest(ts, ids, blocks, places, v_sizes) b (ts, id, block, place, size)
      union all
      select l.ts, l.id, null, null, l.size
      from unnest(v_ts, v_ids, v_row_sizes) l (ts, id, size)
    ) u
    where u.ts < v_end
    window w as (order by u.ts, u.id)
  ) k
  where k.n = 1
    or k.n <= v_settings.seal_block_records and k.size_through <= v_settings.seal_block_bytes;
end;
$$;

-- Returns the next records of a pass, for one file; null if there are none.
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
    raise sqlstate 'LL001' using message =
      format('Read %s records to archive, expected %s', cardinality(v_records), v_last);
  end if;
  return v_records;
end;
$$;
