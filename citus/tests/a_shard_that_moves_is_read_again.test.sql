begin;
\ir ../../supabase/tests/actors.psql
\ir ../../supabase/tests/ingest.psql
\ir ../install.psql
select plan(40);

select logloom_citus.replace_functions();

insert into logloom.tenants (tenant_id, plan_id) values ('acme', 'pro');
select pg_temp.send_request(
  p_tenant_id => 'acme', p_ts => array[now() - interval '1 minute'], p_msg => array['here']
) \g /dev/null
select logloom_private.flip_queue() \g /dev/null
select logloom_private.write_step() \g /dev/null
create temp table known as select l.id from logloom.logs l;
create temp table made (search_id uuid, rule_id uuid);
grant all on known, made to public;

-- Fails as Citus does when a shard moved after planning. A sequence counts the tries, because
-- sequences are not rolled back.
create sequence pg_temp.tries;
create table logloom_private.failures (remaining integer, message text, state text);
create function logloom_private.fail_as_told()
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_failure logloom_private.failures;
begin
  select f.* into v_failure from logloom_private.failures f;
  if nextval('pg_temp.tries') <= v_failure.remaining then
    raise exception using errcode = v_failure.state, message = v_failure.message;
  end if;
end;
$$;
create or replace function logloom_private.take_search_slot(p_scope logloom_private.reading_scope)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform logloom_private.fail_as_told();
end;
$$;
create or replace function logloom_private.hot_bytes(p_tenant_id text)
returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform logloom_private.fail_as_told();
  return 0;
end;
$$;

create function pg_temp.fails(
  p_times integer,
  p_message text default 'could not find valid entry for shard 102008',
  p_state text default 'XX000'
)
returns void
language plpgsql
as $$
begin
  perform pg_temp.act_as_postgres();
  -- Simulates the beginning of a request's transaction.
  perform set_config('logloom.reads_again', '', true);
  perform setval('pg_temp.tries', 1, false);
  delete from logloom_private.failures;
  insert into logloom_private.failures values (p_times, p_message, p_state);
  perform pg_temp.act_as_user('acme', 'alice');
end;
$$;

select pg_temp.act_as_user('acme', 'alice');
insert into made
select
  public.create_saved_search(p_name => 's', p_query_dsl => 'here'),
  (
    public.create_alert_rule(
      p_name => 'r', p_query_dsl => 'here', p_threshold => 1, p_comparison => 'gt',
      p_window_minutes => 5, p_cooldown_minutes => 5, p_enabled => true
    )
  ).rule_id;

create temp table readings (name text, call text);
grant all on readings to public;
insert into readings values
  (
    'search_logs',
    $$select to_jsonb(public.search_logs(p_query_dsl => 'here')) #>> '{logs,0,msg}'$$
  ),
  (
    'log_stats',
    $$select v.value from public.log_stats('here | count()') s, jsonb_each_text(s."values") v$$
  ),
  ('log_series', $$select to_jsonb(public.log_series('here | count()')) -> 'warnings'$$),
  ('log_histogram', $$select (public.log_histogram('here')).total$$),
  (
    'list_log_fields',
    $$select count(*) from public.list_log_fields('here') f where f.field = 'msg'$$
  ),
  ('get_log', $$select (public.get_log((select id from known))).msg$$),
  ('get_log_context', $$select r.msg from public.get_log_context((select id from known)) r$$),
  ('tail_logs', $$select (public.tail_logs('here', p_backlog => 1)).logs[1].msg$$),
  (
    'run_saved_search',
    $$select (public.run_saved_search((select search_id from made))).logs[1].msg$$
  ),
  (
    'preview_alert_rule',
    $$select (public.preview_alert_rule(p_rule_id => (select rule_id from made))).total_alerts$$
  ),
  ('delete_logs', $$select (public.delete_logs('here', 'now-1h', 'now', true)).records$$),
  ('get_tenant_usage', $$select count(*) from public.get_tenant_usage()$$);

create function pg_temp.answer(p_call text)
returns text
language plpgsql
as $$
declare
  v_answer text;
begin
  execute p_call into strict v_answer;
  return v_answer;
exception
when sqlstate 'PGRST' then
  return (sqlerrm::jsonb ->> 'code') || ' ' || (sqlerrm::jsonb ->> 'message');
when others then
  return sqlstate || ' ' || sqlerrm;
end;
$$;
grant execute on function pg_temp.answer(text) to public;

create temp table answers (name text, quiet text, once text, twice text, away text);
grant all on answers to public;
do $$
declare
  v_reading record;
  v_quiet text;
  v_once text;
  v_twice text;
  v_away text;
begin
  for v_reading in select * from readings loop
    perform pg_temp.fails(0);
    v_quiet := pg_temp.answer(v_reading.call);
    perform pg_temp.fails(1);
    v_once := pg_temp.answer(v_reading.call);
    perform pg_temp.fails(9);
    v_twice := pg_temp.answer(v_reading.call);
    perform pg_temp.fails(1, 'connection to the remote node 10.0.0.2:5432 failed', '08006');
    v_away := pg_temp.answer(v_reading.call);
    insert into answers values (v_reading.name, v_quiet, v_once, v_twice, v_away);
  end loop;
end;
$$;

select is(a.once, a.quiet, a.name || ' answers normally after one failure') from answers a;
select is(
  a.twice, 'PT504 The server that has these records does not answer',
  a.name || ' says that the records are not available after a second failure'
)
from answers a;
select is(
  a.away, 'PT504 The server that has these records does not answer',
  a.name || ' says the same, without the node''s address, if the node does not answer'
)
from answers a;
select is(
  (select array_agg(a.quiet order by a.name) from answers a),
  '{1,here,here,1,1,1,[],1,0,here,here,here}', 'the answers are right'
);

-- Any other internal error is our fault, and the reading is not repeated.
select pg_temp.fails(1, 'cache lookup failed for relation 1');
select is(
  pg_temp.answer('select public.search_logs(p_query_dsl => ''here'')'),
  'XX000 cache lookup failed for relation 1', 'another internal error is raised'
);
select pg_temp.act_as_postgres();
select is(currval('pg_temp.tries'), 1::bigint, 'after one try');
select is((select count(*) from logloom_private.failures), 1::bigint, 'and nothing else changed');

select * from finish();
rollback;
