-- A page of sealed records equals a page of rows, whatever time a block spans. Pages are found by
-- the upper parts of times, and a filter that reads texts starts with the first records.
begin;
\ir ../actors.psql
\ir ../search/records.psql
select plan(42);

create temp table spans (name text, step interval, day date);
insert into spans
select s.name, s.step, logloom_private.utc_day(now()) - 9
from (
  values
  ('minutes', interval '0.05 seconds'),
  ('an hour', interval '5 seconds'),
  ('hours', interval '11 seconds'),
  ('a day', interval '70 seconds'),
  ('a day of microseconds', interval '70.000003 seconds')
) s (name, step);
grant select on spans to public;

-- Every fifth record has the same ts as the next one, and the first records of the day are close
-- together.
insert into logloom.tenants (tenant_id, plan_id)
select s.name, 'pro' from spans s;
select pg_temp.add_records(
  (
    select jsonb_agg(jsonb_build_object(
      'tenant', s.name,
      'ts', (s.day::timestamp at time zone 'UTC')
        + (case when i < 100 then 0 when i % 5 = 0 then i + 1 else i end) * s.step
        + i % 2 * interval '1 millisecond',
      'msg', 'event ' || i % 7, 'service', (array['api', 'web', null])[1 + i % 3],
      'attrs', jsonb_build_object('note', i || ' of ' || i % 97, 'took', i || 'ms')
        || case when i % 90 = 0 then '{"rare": "very rare"}' else '{}' end::jsonb
    ))
    from generate_series(1, 1200) i
  )
)
from spans s;

create function pg_temp.pages(p_tenant text, p_order text, p_query text)
returns uuid[]
language plpgsql
as $$
declare
  v_page record;
  v_cursor text;
  v_ids uuid[] := '{}';
begin
  perform pg_temp.act_as_user(p_tenant, 'alice');
  loop
    select * into v_page
    from public.search_logs(
      p_query, p_ts_from => 'now-20d', p_ts_to => 'now', p_limit => 113, p_order => p_order,
      p_cursor => v_cursor
    );
    v_ids := v_ids || array(select l.id from unnest(v_page.logs) l);
    v_cursor := v_page.next_cursor;
    exit when v_cursor is null;
  end loop;
  reset role;
  return v_ids;
end;
$$;

create temp table queries (query text, records integer, is_of_all boolean);
insert into queries values
('', 1200, true),
('attrs.note:*of*', 1200, false),
('attrs.note:*7', 111, false),
('NOT attrs.note:1*', 888, false),
('service:api attrs.note:*2*', 160, false),
('service:web OR attrs.note:*9 OR any:"8 of"', 548, false),
('attrs.took:>300ms', 900, false),
('attrs.rare:*rare', 13, false),
('attrs.note:*nothing*', 0, false);

create temp table given as
select s.name, o.p_order, q.query, q.records, pg_temp.pages(s.name, o.p_order, q.query) as ids
from spans s
join queries q on q.is_of_all or s.name in ('an hour', 'a day')
cross join (values ('desc'), ('asc')) o (p_order);

do $$
declare
  v_span record;
begin
  for v_span in select * from spans loop
    while logloom_private.seal_block(v_span.name, array[v_span.day, v_span.day + 1]) > 0 loop
      null;
    end loop;
  end loop;
end;
$$;

select is(
  (g.name, cardinality(g.ids), pg_temp.pages(g.name, g.p_order, g.query)),
  (g.name, g.records, g.ids),
  'pages of ' || g.name || ', ' || g.p_order || ': ' || g.query
)
from given g;

select * from finish();
rollback;
