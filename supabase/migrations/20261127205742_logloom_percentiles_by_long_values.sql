-- A percentile by a long value, and the neighbours of a record with one, need no more memory than
-- other searches.

set local check_function_bodies = off;

do $$
begin
  -- Jobs and requests read the settings first: those under way end, and no other begins.
  perform set_config('lock_timeout', '30s', true);
  lock table logloom_private.settings, logloom.plans in access exclusive mode;
  perform set_config('lock_timeout', '0', true);
end;
$$;

drop function logloom_private.percentiles_sql(text, text[], jsonb);

-- SQL of the table expressions bounds and limits: in arrays, by the ids of groups, between which
-- numbers each percentile of numbers almost certainly is, as some that are drawn at random tell.
create or replace function logloom_private.percentile_limits_sql(p_percentiles jsonb)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return format(
    $query$
      bounds as materialized (
        -- So many that drawing them and sorting what they leave cost least together. The margin is
        -- four standard deviations of a median's place among them, and more of another's.
        select s.id, s.margin, %1$s
        from (
          select
            d.id, 2 / sqrt(d.size * d.share) as margin,
            d.doubles[1 + floor(random() * cardinality(d.doubles))::integer] as number
          from (
            select
              n.*,
              generate_series(1, floor(cardinality(n.doubles) * n.share + random())::integer)
            from (
              select
                n.id, n.size, least(cbrt(4 / greatest(n.size, 1)), 1) as share,
                -- Without nulls a number is read where it stands.
                case when array_position(n.doubles, null) is null then n.doubles
                  else array_remove(n.doubles, null) end as doubles
              from numbers n
              offset 0
            ) n
          ) d
        ) s
        group by s.id, s.margin
      ), limits as materialized (
        -- In the order of ids, so that the arrays of numbers are neither sorted nor hashed.
        select %2$s
        from groups g
        left join bounds b using (id)
      )
    $query$,
    logloom_private.percentiles_list(
      p_percentiles,
      'percentile_disc(array[greatest(# - s.margin, 0), least(# + s.margin, 1)]) '
        || 'within group (order by s.number) as @'
    ),
    logloom_private.percentiles_list(
      p_percentiles,
      'array_agg(case when # > b.margin then b.@[1] else ''-Infinity'' end order by g.id) '
        || 'as low_@, array_agg(case when # + b.margin < 1 then b.@[2] else ''Infinity'' end '
        || 'order by g.id) as high_@'
    )
  );
end;
$$;

-- SQL: the rows of p_rows, whose columns are p_keys, texts, and p_others, among them doubles, an
-- array; then for each combination of keys a row with percentiles of all its doubles: names and
-- fractions in p_percentiles. To sort all takes longer than the rest, and more memory than a search
-- has. So some that are drawn at random tell between which two numbers a percentile almost
-- certainly is, and only those are sorted; all, where it is not. No join hashes rows with equal
-- keys: PostgreSQL keeps these in memory, however many there are.
create or replace function logloom_private.percentiles_sql(
  p_rows text,
  p_keys text[],
  p_others text[],
  p_percentiles jsonb
)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_limits constant text :=
    logloom_private.percentiles_list(p_percentiles, 'l.low_@, l.high_@');
begin
  return format(
    $query$
      with found as materialized (
        select array[%2$s]::text[] as keys, r.* from (%1$s) r
      ), groups as materialized (
        select
          f.keys, (row_number() over ())::integer as id,
          sum(cardinality(array_remove(f.doubles, null)))::double precision as size
        from found f
        where f.doubles is not null
        group by f.keys
      ), numbers as not materialized (
        select g.id, g.size, f.doubles
        from found f
        join groups g using (keys)
        where f.doubles is not null
      ), %3$s, parts as (
        select l.id, l.size, %4$s, p.*
        from (
          select l.*, least(%6$s) as low
          from (
            select n.*, %9$s
            from numbers n
            cross join limits c
          ) l
          offset 0
        ) l
        cross join lateral (
          select %5$s
          from (select unnest(l.doubles) as number) u
          where u.number >= l.low
        ) p
      ), percentiles as (
        select l.id, %7$s
        from (select l.id, l.size, %4$s, %8$s from parts l) l
        group by l.id, l.size, %4$s
      )
      select f.*, %10$s from found f
      union all
      select g.keys, %11$s, %12$s
      from percentiles p
      join groups g using (id)
    $query$,
    p_rows, array_to_string(array(select 'r.' || k from unnest(p_keys) k), ', '),
    logloom_private.percentile_limits_sql(p_percentiles),
    v_limits,
    logloom_private.percentiles_list(
      p_percentiles,
      'count(*) filter (where u.number >= l.low_@) as above_@, '
        || 'count(*) filter (where u.number = l.low_@) as at_low_@, '
        || 'array_agg(u.number) filter (where u.number > l.low_@ and u.number < l.high_@) '
        || 'as between_@, '
        || 'count(*) filter (where u.number = l.high_@) as at_high_@'
    ),
    logloom_private.percentiles_list(p_percentiles, 'l.low_@'),
    logloom_private.percentiles_list(
      p_percentiles,
      'coalesce(logloom_private.percentile_within('
        || '# * (l.size - 1) - (l.size - sum(l.above_@)::double precision), '
        || 'l.low_@, sum(l.at_low_@)::bigint, '
        || 'array_agg(l.between_@) filter (where l.between_@ is not null), '
        || 'l.high_@, sum(l.at_high_@)::bigint), '
        || '(select percentile_cont(#) within group (order by u.number) from ('
        || 'select unnest(n.doubles) as number from numbers n where n.id = l.id) u)) as @'
    ),
    logloom_private.percentiles_list(
      p_percentiles,
      'unnest(array[l.above_@]) as above_@, unnest(array[l.at_low_@]) as at_low_@, '
        || 'unnest(l.between_@) as between_@, unnest(array[l.at_high_@]) as at_high_@'
    ),
    logloom_private.percentiles_list(
      p_percentiles, 'c.low_@[n.id] as low_@, c.high_@[n.id] as high_@'
    ),
    logloom_private.percentiles_list(p_percentiles, 'null::double precision as @'),
    array_to_string(
      array(select format('g.keys[%s]', n) from generate_subscripts(p_keys, 1) n)
        || array(select 'null as ' || o from unnest(p_others) o),
      ', '
    ),
    logloom_private.percentiles_list(p_percentiles, 'p.@')
  );
end;
$$;

-- Rows of what a bound query groups by, and events: for how many records a row stands. With p_key
-- the numbers of this attribute, and what their sums need, in rows of which not each stands for
-- records. Sealed ones come from columns of blocks. Null where a field that it groups by is none of
-- these. The tenant has rows from p_rows_from on.
create or replace function logloom_private.groups_source(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_rows_from timestamptz,
  p_key text default null
)
returns logloom_private.counted_source
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_by constant jsonb := p_query.plan -> 'by';
  v_exact constant boolean := p_key is not null and jsonb_path_exists(
    p_query.plan -> 'aggregates', '$[*] ? (@.fraction == null && @.field != null)'
  );
  v_percentiles constant jsonb := (
    select jsonb_object_agg('q' || a.n, a.item -> 'fraction')
    from jsonb_array_elements(p_query.plan -> 'aggregates') with ordinality a (item, n)
    where p_key is not null and a.item ->> 'fraction' is not null
  );
  v_doubles constant boolean := v_percentiles is not null;
  v_sums constant text[] := case when v_exact
    then array['numbers', 'total', 'minimum', 'maximum'] else '{}' end;
  v_names constant text[] := array(
    select concat_ws('.', f.field ->> 'field', f.field -> 'path' ->> 0)
    from jsonb_array_elements(v_by) with ordinality f (field, n)
    order by f.n
  );
  v_by_names constant text[] := array(select distinct n from unnest(v_names) n order by 1);
  v_group constant text := array_to_string(
    array(select format('l.k%s, ', n) from generate_subscripts(v_names, 1) n order by n), ''
  );
  v_keys text;
  v_sql text;
begin
  if jsonb_path_exists(v_by, '$[*] ? (@.path.size() > 1)')
    or exists (
      select
      from jsonb_array_elements(v_by) f
      where f ->> 'field' <> all(
        logloom_private.column_fields() || array['attrs', 'level', 'service']
      )
    )
  then
    return null;
  end if;
  v_keys := (
    select string_agg(
      format(
        case when k.name like 'attrs.%' then '(g.keys[%s]::jsonb #>> ''{}'')' else 'g.keys[%s]' end
          || ' as k%s, ',
        array_position(v_by_names, k.name), k.n
      ),
      '' order by k.n
    )
    from unnest(v_names) with ordinality k (name, n)
  );
  v_sql := format(
    'logloom_private.sealed_groups(%s, %L, %L, %L, %L, %L, %L, %L)',
    logloom_private.scanned_tenant_sql(quote_literal(p_tenant_id)),
    p_query.ts_from, p_query.ts_to, p_query.tree, v_by_names, p_key, v_exact, v_doubles
  );
  if p_key is null then
    v_sql := format('(select s.keys, sum(s.events) as events from %s s group by s.keys)', v_sql);
  end if;
  v_sql := concat(
    'select ', v_keys, 'g.events',
    array_to_string(array(select ', g.' || s from unnest(v_sums) s), ''),
    case when v_doubles then ', g.doubles' end, ' from ', v_sql, ' g'
  );
  if p_rows_from < p_query.ts_to then
    v_keys := (
      select string_agg(format('%s as k%s, ', b.sql, b.n), '' order by b.n)
      from unnest(p_query.by_sql) with ordinality b (sql, n)
    );
    v_sql := v_sql || concat(
      ' union all select ', v_group, case when p_key is null then '1' else 'count(*)' end,
      case when v_exact
        then ', count(l.number), sum(l.number), min(l.number), max(l.number)' end,
      case when v_doubles
        then ', array_agg(logloom_private.finite_double(l.number)) '
          || 'filter (where l.number is not null)' end,
      ' from (select ', v_keys,
      case when p_key is null then 'null'
        else format('logloom_private.json_number(l.attrs -> %L)', p_key) end,
      ' as number, date_bin(''10 minutes'', l.ts, ''epoch'') as part ',
      logloom_private.rows_sql(
        p_tenant_id, p_rows_from, p_query.ts_to, p_query.filter,
        array_remove('ts'::text || v_names || ('attrs.' || p_key), null)
      ),
      ' offset 0) l',
      -- In parts, so that no array becomes long.
      case when p_key is not null then ' group by ' || v_group || 'l.part' end
    );
  end if;
  if v_doubles then
    v_sql := logloom_private.percentiles_sql(
      v_sql, array(select 'k' || n from generate_subscripts(v_names, 1) n order by n),
      'events'::text || v_sums || 'doubles'::text, v_percentiles
    );
  end if;
  return (
    'from (' || v_sql || ') l', 'coalesce(sum(l.events), 0)::double precision',
    array(select 'l.k' || n from generate_subscripts(v_names, 1) n order by n), p_key is not null
  )::logloom_private.counted_source;
end;
$$;

-- The neighbours of a record in a scope, of its host and service, on one side of it: of a very long
-- host or service those that begin alike, since a query is in memory many times.
create or replace function logloom_private.log_neighbours(
  p_scope logloom_private.reading_scope,
  p_log public.logloom_log_record,
  p_count integer,
  p_order text,
  p_bytes bigint
)
returns public.logloom_log_record[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_query logloom_private.compiled_query;
begin
  if p_count = 0 then
    return '{}';
  end if;
  select case when count(*) = 0 then '{"type": "all"}' else jsonb_build_object(
    'type', 'and', 'items', jsonb_agg(case
      when v.value is not null then logloom_private.query_leaf(
        logloom_private.query_field(v.field, 1),
        case
          when length(v.value) <= 50000
            then jsonb_build_object('test', 'equal', 'values', jsonb_build_array(v.value))
          else jsonb_build_object(
            'test', 'like', 'values',
            jsonb_build_array(logloom_private.query_like_text(left(v.value, 50000)) || '%')
          )
        end
      )
      else jsonb_build_object('type', 'not', 'item', logloom_private.query_leaf(
        logloom_private.query_field(v.field, 1), '{"test": "exists"}'
      ))
    end)
  ) end
  into v_query.tree
  from (values ('host', p_log.host), ('service', p_log.service)) v (field, value)
  where logloom_private.is_hidden(v.field, p_scope.hidden_fields) is not true;
  v_query.filter := logloom_private.query_sql(v_query.tree, 'l');
  v_query := logloom_private.scoped_query(p_scope, v_query, '');
  return (
    logloom_private.found_page(
      p_log.tenant_id, v_query,
      tstzrange(p_log.ts - interval '1 day', p_log.ts + interval '1 day'),
      p_count, p_order, p_log.ts, p_log.id, p_bytes
    )
  ).logs;
end;
$$;

create or replace function logloom_private.read_log_context(
  p_scope logloom_private.reading_scope,
  p_id uuid,
  p_ts timestamptz,
  p_before integer,
  p_after integer
)
returns setof public.logloom_log_record
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
set jit = off
as $$
-- definer because nobody but the search functions makes SQL over records
declare
  v_scope constant logloom_private.reading_scope :=
    logloom_private.checked_scope(p_scope, 'get_log_context');
  v_log public.logloom_log_record;
  v_bytes bigint := (select s.max_page_bytes from logloom_private.settings s);
  v_before constant integer := coalesce(p_before, 20);
  v_after constant integer := coalesce(p_after, 20);
  v_max constant integer := (select s.list_limit_max from logloom_private.settings s) / 2 - 1;
begin
  if v_before not between 0 and v_max or v_after not between 0 and v_max then
    perform logloom_private.refuse('search.context_is_out_of_range', v_max::text);
  end if;
  v_log := logloom_private.read_log(p_scope, p_id, p_ts);
  -- Half of what is left to each side, and a record at least.
  v_bytes := greatest((v_bytes - logloom_private.answered_bytes(array[v_log])) / 2, 1);
  return query
  select b.*
  from unnest(logloom_private.log_neighbours(v_scope, v_log, v_before, 'desc', v_bytes)) b
  where b.host is not distinct from v_log.host and b.service is not distinct from v_log.service
  order by b.ts, b.id;
  return next v_log;
  return query
  select a.*
  from unnest(logloom_private.log_neighbours(v_scope, v_log, v_after, 'asc', v_bytes)) a
  where a.host is not distinct from v_log.host and a.service is not distinct from v_log.service;
exception when query_canceled or lock_not_available or connection_exception or admin_shutdown
  or internal_error
then
  if not logloom_private.reads_again(sqlstate, sqlerrm) then
    raise;
  end if;
  return query
  select r.*
  from logloom_private.read_log_context(p_scope, p_id, p_ts, p_before, p_after) r;
end;
$$;

select logloom_private.finish_migration();
