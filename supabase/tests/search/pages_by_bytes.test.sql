begin;
\ir ../actors.psql
\ir records.psql
select plan(18);

insert into logloom.tenants (tenant_id, plan_id) values ('acme', 'pro');
update logloom_private.settings set max_page_bytes = 20000 where singleton;

-- Adds records of some hundred bytes up to more than a page. Three records share each time, and the
-- write sequences are in another order than the times.
select
  set_config(
    'logloom_test.wanted', coalesce(current_setting('logloom_test.sealed', true), ''), true
  ),
  set_config('logloom_test.sealed', '', true) \g /dev/null
select pg_temp.add_records(
  jsonb_agg(jsonb_build_object(
    'id', md5('record ' || i),
    'ts', '2026-11-02T10:00:00Z'::timestamptz + i / 3 * interval '1 second',
    'host', 'h', 'service', 's',
    'msg', repeat(i || ' ', case when i % 7 = 0 then 1200 else i % 5 end),
    'attrs', jsonb_build_object(
      'n', i, 'doc', '{"m": "' || repeat('y', case when i % 8 = 0 then 9000 else 2 end) || '"}',
      'text', repeat('x', case when i % 11 = 0 then 25000 when i % 3 = 0 then 4000 else 1 end)
    )
  )),
  1 + write_seq
)
from (select i, (i * 7) % 4 as write_seq from generate_series(1, 120) i) r
group by write_seq \g /dev/null
-- Some records have no stored size, like records of early versions.
update logloom.logs l
set record_bytes = logloom_private.bytes_of_record(l)
where l.tenant_id = 'acme' and (l.attrs -> 'n')::integer % 13 <> 0;
insert into logloom_private.log_writes (write_seq, day)
select a, '2026-11-02' from generate_series(1, 4) a
on conflict do nothing;
select setval('logloom_private.write_seq', 4) \g /dev/null
create temp table expected as
select
  (l.attrs -> 'n')::integer as n, l.id, l.ts, l.write_seq,
  logloom_private.bytes_of_record(l) as bytes
from logloom.logs l where l.tenant_id = 'acme';
grant select on expected to public;
select set_config('logloom_test.sealed', current_setting('logloom_test.wanted'), true) \g /dev/null
select pg_temp.seal_as_set('acme') \g /dev/null

create temp table walks (name text, page integer, n integer, id uuid, bytes integer);
grant all on walks to public;
create function pg_temp.walk(p_name text, p_query text, p_order text, p_limit integer)
returns void
language plpgsql
as $$
declare
  v_logs public.logloom_log_record[];
  v_cursor text := case p_order when 'tail' then pg_temp.cursor_of('tail', '1') end;
  v_ends boolean;
begin
  for v_at in 1..500 loop
    if p_order = 'tail' then
      select t.logs, t.next_cursor, not t.more
      into v_logs, v_cursor, v_ends
      from public.tail_logs(p_query, v_cursor, p_limit) t;
    else
      select p.logs, p.next_cursor, p.next_cursor is null
      into v_logs, v_cursor, v_ends
      from public.search_logs(
        p_query, '2026-11-02T00:00:00Z', '2026-11-03T00:00:00Z', p_limit, v_cursor, p_order
      ) p;
    end if;
    insert into walks
    select p_name, v_at, l.n, (l.l).id, octet_length(to_json(l.l)::text)
    from (select l, row_number() over () as n from unnest(v_logs) l) l;
    exit when v_ends;
  end loop;
end;
$$;
create function pg_temp.walked(p_name text)
returns integer[]
language sql
as $$
  select array_agg(e.n order by w.page, w.n)
  from walks w join expected e on e.id = w.id where w.name = p_name
$$;
grant execute on all functions in schema pg_temp to public;

select pg_temp.act_as_user('acme', 'alice');
select pg_temp.walk(o || ' ' || l, '', o, l)
from unnest(array['desc', 'asc', 'tail']) o, unnest(array[1, 7, 1000]) l \g /dev/null
select pg_temp.walk('filter', 'any:x', 'desc', 1000) \g /dev/null
select pg_temp.walk('stages', '| json attrs.doc', 'desc', 1000) \g /dev/null

select is(
  pg_temp.walked(c.name), (select array_agg(e.n order by e.ts desc, e.id desc) from expected e),
  'newest first, each once, ' || c.pages
)
from (
  values
    ('desc 1', 'pages of 1'), ('desc 7', 'pages of 7'), ('desc 1000', 'pages of 1000'),
    ('filter', 'with a filter'), ('stages', 'with a stage that adds attributes')
) c (name, pages);
select is(
  pg_temp.walked('asc ' || l), (select array_agg(e.n order by e.ts, e.id) from expected e),
  'oldest first, each once, pages of ' || l
) from unnest(array[1, 7, 1000]) l;
select is(
  pg_temp.walked('tail ' || l), (select array_agg(e.n order by e.write_seq, e.id) from expected e),
  'in the order of write_seq, each once, pages of ' || l
) from unnest(array[1, 7, 1000]) l;
select is(
  (
    select count(*)
    from (
      select
        sum(w.bytes) over (partition by w.name, w.page order by w.n) - w.bytes as before
      from walks w
    ) w
    where w.before >= 20000
  ),
  0::bigint, 'a page has no record after its bytes are full'
);
select ok(
  (
    select bool_and(p.bytes >= 20000 or p.page = p.last)
    from (
      select
        w.name, w.page, sum(e.bytes) as bytes, max(w.page) over (partition by w.name) as last
      from walks w join expected e on e.id = w.id
      where w.name in ('desc 1000', 'asc 1000')
      group by w.name, w.page
    ) p
  ),
  'and ends no sooner'
);

-- Reads the context of a record.
create temp table context as
select e.id as middle, r.id, r.n
from expected e
cross join lateral (
  select c.id, row_number() over () as n
  from public.get_log_context(e.id, e.ts, 30, 30) c
) r;
select is_empty(
  $$
    select c.middle
    from (select c.middle, array_agg(c.id order by c.n) as ids from context c group by c.middle) c
    cross join lateral (select array_agg(e.id order by e.ts, e.id) as ids from expected e) a
    where not exists (
      select
      from generate_series(1, 120) i
      where a.ids[i:i + cardinality(c.ids) - 1] = c.ids and c.middle = any(c.ids)
    )
  $$,
  'the context of a record has no gap'
);
select is_empty(
  $$
    select c.middle, sum(e.bytes)
    from context c join expected e on e.id = c.id
    group by c.middle
    having sum(e.bytes) > 20000 + 2 * 30000
  $$,
  'and is limited'
);

-- Groups have long values.
create temp table stats as
select s.*, octet_length(to_json(s)::text) as bytes, row_number() over () as n
from public.log_stats(
  'ts:* | count() by msg', '2026-11-02T00:00:00Z', '2026-11-03T00:00:00Z', 1000
) s;
select is(
  (select array_agg(distinct s.total_groups) from stats s), array[100::bigint],
  'total_groups counts all groups'
);
select ok(
  (
    select
      count(*) < 100
      and sum(s.bytes) >= 20000
      and sum(s.bytes) filter (where s.n < (select count(*) from stats)) < 20000
    from stats s
  ),
  'but the rows end with the bytes'
);

-- One record is larger than a page.
select is(
  (
    select octet_length(to_json(g)::text) < 110000 and g.attrs ? 'logloom_cut'
    from expected e, public.get_log(e.id, e.ts) g
    where e.bytes > 25000
    limit 1
  ),
  true, 'a record larger than a page is cut'
);

select * from finish();
rollback;
