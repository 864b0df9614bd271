begin;
\ir ../actors.psql
\ir records.psql
select plan(10);

\ir cancelled_tails.psql
update logloom_private.settings set search_page_time = '0' where singleton;

-- One write sequence has more records than a call examines.
select pg_temp.add_records(jsonb_agg(jsonb_build_object('msg', 'number ' || i)))
from generate_series(1, 40) i \g /dev/null
insert into logloom.tenants (tenant_id, plan_id) values ('acme', 'pro');
create temp table pages (n integer generated always as identity, page public.logloom_log_tail);

select pg_temp.act_as_user('acme', 'alice');
do $$
declare
  v_page public.logloom_log_tail;
  v_pages public.logloom_log_tail[] := '{}';
  v_cursor text := pg_temp.cursor_of('tail', '1');
begin
  for n in 1..50 loop
    v_page := public.tail_logs('msg:*7', v_cursor);
    v_pages := v_pages || v_page;
    v_cursor := v_page.next_cursor;
    exit when not v_page.more;
  end loop;
  perform set_config('role', 'none', true);
  insert into pages (page) select p from unnest(v_pages) p;
end;
$$;

select is(
  (select count(*)::integer from pages), 11,
  'four records for each call, and a last call without any'
);
select ok(
  (select bool_and((p.page).more = (p.n < 11)) from pages p),
  'each but the last says that there is more'
);
select is(
  (select count(distinct pg_temp.parts_of((p.page).next_cursor)) from pages p), 11::bigint,
  'each moves on'
);
select results_eq(
  $$select distinct r.msg from pages p, unnest((p.page).logs) r order by 1$$,
  array['number 17', 'number 27', 'number 37', 'number 7'], 'matching records are returned'
);
select is((select sum(cardinality((p.page).logs)) from pages p), 4::bigint, 'each once');

-- Examines one record at a time, with enough time for all.
select pg_temp.act_as_postgres();
update logloom_private.settings set search_page_time = '1 hour' where singleton;
select pg_temp.act_as_user('acme', 'alice');
create temp table long_way as
select t.* from public.tail_logs('msg:*nowhere*', pg_temp.cursor_of('tail', '1'), 1) t;
select is((select l.more from long_way l), false, 'piece by piece a call reaches the end');
select is((select l.logs::text from long_way l), '{}', 'and finds nothing');

-- A cursor may be from before the database was restored.
select pg_temp.act_as_postgres();
select setval('logloom_private.write_seq', 1000) \g /dev/null
create function pg_temp.tail_from(p_write_seq integer) returns text language plpgsql as $$
begin
  return pg_temp.attempt(format(
    'select public.tail_logs('''', %L)',
    pg_temp.cursor_of('tail', p_write_seq::text)
  ));
end;
$$;
grant execute on function pg_temp.tail_from(integer) to public;
select pg_temp.act_as_user('acme', 'alice');
select is(pg_temp.tail_from(1000), 'accepted', 'a cursor at the last write sequence');
select is(pg_temp.tail_from(1001), 'accepted', 'a cursor at the next one');
select is(
  pg_temp.tail_from(1002), 'PT400 Invalid p_cursor: it is newer than the database',
  'a cursor beyond is refused'
);

select * from finish();
rollback;
