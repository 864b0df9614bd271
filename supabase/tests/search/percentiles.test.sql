begin;
select plan(4);

-- Lists numbers for which a sample may mislead: several kinds (one is null), in arrays of 1 to 900
-- numbers.
create temporary table given as
select
  k.kind as k1, case when n.n < 2000 then n.n else 2000 + n.n / 900 end as part,
  k.number::double precision
from generate_series(0, 59999) n
cross join lateral (
  values
    ('spread', n.n * 7919 % 60000.0),
    ('ascending', n.n),
    ('the same', 7),
    ('of three values', n.n % 3),
    ('one is large', case when n.n = 59999 then 1e9 else 0 end),
    ('mostly null', case when n.n % 1000 = 0 then n.n / 3.0 end),
    ('null', null),
    (case when n.n < 100 then 'a few, ' || n.n % 40 end, n.n)
) k (kind, number);
insert into given
select 'far from each other', n, case when n % 20 = 0 then 1.7e308 else -1.7e308 end
from generate_series(1, 1000) n;

create temporary table arrays as
select g.k1, 1::bigint as events, array_agg(g.number) as doubles
from given g
group by g.k1, g.part;

create function pg_temp.differences(p_sql text)
returns setof text
language plpgsql
as $$
begin
  return query execute format(
    $query$
      select concat_ws(' ', s.k1, s, t)
      from (
        select
          f.k1, array[max(f.p1), max(f.p50), max(f.p95), max(f.p99)] as percentiles,
          sum(f.events) as events
        from (%s) f
        group by f.k1
      ) s
      full join (
        select
          g.k1, percentile_cont(array[0.01, 0.5, 0.95, 0.99]) within group (order by g.number)
            as percentiles, count(distinct g.part) as events
        from given g
        group by g.k1
      ) t on coalesce(t.k1, '-') = coalesce(s.k1, '-')
      where coalesce(s.percentiles, array_fill(null::double precision, array[4]))
          is distinct from coalesce(t.percentiles, array_fill(null::double precision, array[4]))
        or s.events is distinct from t.events
    $query$,
    p_sql
  );
end;
$$;
create function pg_temp.sampled()
returns text
language sql
return logloom_private.percentiles_sql(
  'select * from arrays', array['k1'], array['events', 'doubles'],
  '{"p1": 0.01, "p50": 0.50, "p95": 0.95, "p99": 0.99}'
);
-- Returns the same SQL with another sample.
create function pg_temp.replaced(p_drawn text, p_by text)
returns text
language plpgsql
as $$
begin
  assert position(p_drawn in pg_temp.sampled()) > 0, 'the SQL draws its sample differently';
  return replace(pg_temp.sampled(), p_drawn, p_by);
end;
$$;

select is_empty(
  'select * from pg_temp.differences(pg_temp.sampled())',
  'percentiles of each group equal those of all its numbers sorted'
);
select is_empty(
  $$select * from pg_temp.differences(
    pg_temp.replaced('d.doubles[1 + floor(random() * cardinality(d.doubles))::integer]', '5000.0')
  )$$,
  '… also if the sample misleads'
);
select is_empty(
  $$select * from pg_temp.differences(
    pg_temp.replaced('cardinality(n.doubles) * n.share + random()', '0')
  )$$,
  '… also if it is empty'
);
select results_eq(
  $$select logloom_private.percentile_within(p, 2, 2, '{5,3}', 8, 1)
    from unnest('{-0.5, 0, 1, 1.5, 2.5, 4, 4.5}'::double precision[]) p$$,
  'values (null::double precision), (2), (2), (2.5), (4), (8), (null)',
  'a percentile among known numbers, null beyond them'
);

select * from finish();
rollback;
