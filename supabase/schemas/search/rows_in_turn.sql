-- Days in turn: what a statement opens stays locked until its transaction ends, so that one over a
-- year would hold thousands of locks. A subtransaction that is rolled back gives its locks back.

-- A range in p_order (asc or desc), in parts that hold search_days_at_once days of the tenant's
-- rows and search_blocks_at_once blocks at most. What it no longer keeps is in none, unless
-- p_expired.
create function logloom_private.search_parts(
  p_tenant_id text,
  p_from timestamptz,
  p_to timestamptz,
  p_order text,
  p_expired boolean default false
)
returns tstzrange[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_is_descending constant boolean := p_order = 'desc';
  v_max_days integer;
  v_max_blocks integer;
  v_from timestamptz := p_from;
  v_to timestamptz := p_to;
  v_day record;
  v_last_day date;
  v_bound timestamptz;
  v_days integer := 0;
  v_blocks integer := 0;
  v_parts tstzrange[] := '{}';
begin
  if not p_expired then
    v_from := logloom_private.kept_since(p_tenant_id, v_from);
  end if;
  if v_from >= v_to then
    return '{}';
  elsif v_to - v_from <= interval '1 day' then
    return array[tstzrange(v_from, v_to)];
  end if;
  select s.search_days_at_once, s.search_blocks_at_once into v_max_days, v_max_blocks
  from logloom_private.settings s;
  for v_day in
    select u.day, sum(u.days) as days, sum(u.blocks) as blocks
    from (
      select d.day, 1 as days, 0 as blocks
      from logloom_private.log_days d
      where d.tenant_id = p_tenant_id
        and d.day between logloom_private.utc_day(v_from)
          and logloom_private.utc_day(v_to - interval '1 microsecond')
      union all
      select
        logloom_private.utc_day(least(c.last_ts, v_to - interval '1 microsecond')), 0, count(*)
      from logloom_private.blocks c
      where c.tenant_id = p_tenant_id and c.last_ts >= v_from and c.first_ts < v_to
      group by 1
    ) u
    group by u.day
    order by case when v_is_descending then u.day end desc, u.day
  loop
    if v_days + v_day.days > v_max_days
      or (v_blocks > 0 and v_blocks + v_day.blocks > v_max_blocks)
    then
      v_bound := logloom_private.day_start(
        case when v_is_descending then v_last_day else v_day.day end
      );
      if v_is_descending then
        v_parts := v_parts || tstzrange(v_bound, v_to);
        v_to := v_bound;
      else
        v_parts := v_parts || tstzrange(v_from, v_bound);
        v_from := v_bound;
      end if;
      v_days := 0;
      v_blocks := 0;
    end if;
    v_days := v_days + v_day.days;
    v_blocks := v_blocks + v_day.blocks;
    v_last_day := v_day.day;
  end loop;
  return v_parts || tstzrange(v_from, v_to);
end;
$$;

-- Whether the tenant has rows on more than search_days_at_once days of a range.
create function logloom_private.opens_many_days(
  p_tenant_id text,
  p_from timestamptz,
  p_to timestamptz
)
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_days constant integer := (select s.search_days_at_once from logloom_private.settings s);
begin
  if p_to - p_from <= make_interval(days => v_days - 1) then
    return false;
  end if;
  return v_days < (
    select count(*)
    from (
      select
      from logloom_private.log_days d
      where d.tenant_id = p_tenant_id
        and d.day between logloom_private.utc_day(p_from) and logloom_private.utc_day(p_to)
      limit v_days + 1
    ) d
  );
end;
$$;

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
      ', ' order by c.n
    )
    from (
      select a.attname as name, format_type(a.atttypid, null) as type, a.attnum as n
      from pg_catalog.pg_attribute a
      where a.attrelid = 'logloom.logs'::regclass and a.attnum > 0 and not a.attisdropped
    ) c
  );
end;
$$;

-- The tenant's rows of a range that pass a filter, search_days_at_once days after
-- search_days_at_once days; the first p_limit of them in p_order where it is given. Of
-- each what p_reads names is there, all where it is null.
-- p_bytes: of those that have so many before them only the size is there, besides what names them.
create function logloom_private.rows_in_turn(
  p_tenant_id text,
  p_from timestamptz,
  p_to timestamptz,
  p_filter text,
  p_reads text[],
  p_order text,
  p_limit integer,
  p_expired boolean,
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
  v_columns constant text := logloom_private.copied_columns_sql(
    p_reads, p_bytes is not null
  );
  v_rows text;
  v_part tstzrange;
  v_found bigint;
  v_left bigint := p_limit;
begin
  foreach v_part in array logloom_private.search_parts(
    p_tenant_id, p_from, p_to, p_order, p_expired
  )
  loop
    begin
      v_rows := logloom_private.tenant_rows_sql(
        p_tenant_id, lower(v_part), upper(v_part), p_filter, p_expired => p_expired
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

-- SQL from "from" on: the tenant's rows, as alias l, of a range that pass a filter, where they lie
-- or, of many days, in turn. Parameters as those of rows_in_turn.
create function logloom_private.rows_sql(
  p_tenant_id text,
  p_from timestamptz,
  p_to timestamptz,
  p_filter text,
  p_reads text[],
  p_order text default 'desc',
  p_limit integer default null,
  p_expired boolean default false,
  p_bytes bigint default null
)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_from timestamptz := p_from;
begin
  if not p_expired then
    v_from := logloom_private.kept_since(p_tenant_id, v_from);
  end if;
  if logloom_private.opens_many_days(p_tenant_id, v_from, p_to) is not true then
    return logloom_private.tenant_rows_sql(
      p_tenant_id, p_from, p_to, p_filter, p_expired => p_expired
    );
  end if;
  return 'from logloom_private.rows_in_turn(' || format(
    '%L, %L, %L, %L, %L, %L, %L, %L, %L',
    p_tenant_id, p_from, p_to, p_filter, p_reads, p_order, p_limit, p_expired, p_bytes
  ) || ') l where true';
end;
$$;

-- Records that SQL selects, one composite each; its locks end with it.
-- The records that SQL selects; what it locks is free again afterwards.
create function logloom_private.read_apart(p_sql text)
returns public.logloom_log_record[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_logs public.logloom_log_record[];
begin
  begin
    execute 'select array(' || p_sql || ')' into v_logs;
    raise sqlstate 'LL002';
  exception when sqlstate 'LL002' then
    null;
  end;
  return v_logs;
end;
$$;
