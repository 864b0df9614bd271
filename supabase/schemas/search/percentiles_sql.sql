-- Computes a percentile as percentile_cont does, but knows only the numbers in [p_low, p_high].
-- p_place: the percentile's position among these numbers when sorted, from 0. p_at_low, p_at_high:
-- how often p_low and p_high occur. p_between: the numbers between. Null if p_place lies outside.
create function logloom_private.percentile_within(
  p_place double precision,
  p_low double precision,
  p_at_low bigint,
  p_between double precision[],
  p_high double precision,
  p_at_high bigint
)
returns double precision
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_between constant double precision[] := array(
    select n from unnest(p_between) n order by n
  );
  v_known constant bigint := p_at_low + coalesce(cardinality(v_between), 0);
begin
  if floor(p_place) < 0 or ceil(p_place) >= v_known + p_at_high then
    return null;
  end if;
  return (
    select percentile_cont(p_place - floor(p_place)) within group (
      order by case
        when n < p_at_low then p_low
        when n < v_known then v_between[n - p_at_low + 1]
        else p_high
      end
    )
    from generate_series(floor(p_place)::bigint, ceil(p_place)::bigint) n
  );
end;
$$;

-- Builds a list of SQL expressions, one for each percentile. In p_member, @ stands for the name of
-- the percentile, # for its fraction.
create function logloom_private.percentiles_list(p_percentiles jsonb, p_member text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select string_agg(replace(replace(p_member, '@', p.key), '#', p.value), ', ' order by p.key)
    from jsonb_each_text(p_percentiles) p
  );
end;
$$;

-- Builds SQL for the table expressions bounds and limits. They estimate two numbers for each
-- percentile from a random sample. The percentile almost certainly lies between them. limits has
-- the numbers in arrays, by the ids of groups.
create function logloom_private.percentile_limits_sql(p_percentiles jsonb)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return format(
    $query$
      bounds as materialized (
        -- This size of the sample makes drawing and sorting together fastest. margin: four standard
        -- deviations of a median's position in the sample.
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
                -- An array without nulls is read in place.
                case when array_position(n.doubles, null) is null then n.doubles
                  else array_remove(n.doubles, null) end as doubles
              from numbers n
              offset 0
            ) n
          ) d
        ) s
        group by s.id, s.margin
      ), limits as materialized (
        -- Joined by id, so that no arrays of numbers are sorted or hashed.
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

-- Builds SQL that selects the rows of p_rows and, for each combination of p_keys (texts), one more
-- row with percentiles. These are computed from the arrays in doubles, one of the columns p_others.
-- p_percentiles: names and fractions. Sorting all numbers would take too much time and memory. So a
-- random sample gives two numbers around each percentile, and only the numbers between them are
-- sorted. If a percentile lies outside, which is rare, all numbers are sorted. No join hashes rows
-- with equal keys: PostgreSQL keeps all of them in memory.
create function logloom_private.percentiles_sql(
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
      p_percentiles,
      -- Subqueries are evaluated once. A join would copy the arrays for each group.
      '(select c.low_@ from limits c)[n.id] as low_@, '
        || '(select c.high_@ from limits c)[n.id] as high_@'
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

-- Adds rows with the percentiles of p_aggregates to p_rows, as percentiles_sql does. The column qn
-- has the percentile of the n-th aggregate. Percentiles with the same condition (c1, c2 …) are
-- computed together.
create function logloom_private.conditional_percentiles_sql(
  p_rows text,
  p_aggregates jsonb,
  p_keys text[],
  p_others text[]
)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_first bigint;
  v_has_condition boolean;
  v_percentiles jsonb;
begin
  for v_first, v_has_condition, v_percentiles in
    select
      min(a.n), bool_or(a.item ? 'condition'), jsonb_object_agg('q' || a.n, a.item -> 'fraction')
    from jsonb_array_elements(p_aggregates) with ordinality a (item, n)
    where a.item ->> 'fraction' is not null
    group by a.item -> 'condition'
    order by 1
  loop
    p_rows := logloom_private.percentiles_sql(
      format(
        'select %s, %s as doubles, l.doubles as numbers_of_all from (%s) l',
        array_to_string(array(select 'l.' || c from unnest(p_keys || p_others) c), ', '),
        case when v_has_condition then format('case when l.c%s then l.doubles end', v_first)
          else 'l.doubles' end,
        p_rows
      ),
      p_keys, p_others || '{doubles,numbers_of_all}', v_percentiles
    );
    p_others := p_others || array(select jsonb_object_keys(v_percentiles));
    p_rows := format(
      'select %s, l.numbers_of_all as doubles from (%s) l',
      array_to_string(array(select 'l.' || c from unnest(p_keys || p_others) c), ', '), p_rows
    );
  end loop;
  return p_rows;
end;
$$;
