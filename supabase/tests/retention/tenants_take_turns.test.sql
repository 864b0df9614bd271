-- One tenant's erasures do not delay another's, and the number of a tenant's open erasures is
-- limited.
begin;
\ir ../actors.psql
select plan(8);

insert into logloom.tenants (tenant_id, plan_id) values ('acme', 'pro'), ('umbrella', 'pro');

create function pg_temp.erase(p_number integer)
returns void
language sql
as $$
  select public.delete_logs(
    'user_id:u' || p_number, (now() - interval '48 hours')::text,
    (now() + interval '1 hour')::text, false
  )
$$;

select pg_temp.act_as_user('acme', 'alice');
select pg_temp.erase(i) from generate_series(1, 10) i;
select throws_ok(
  'select pg_temp.erase(11)', 'PGRST',
  '{"code" : "PT429", "message" : "Too many deletions are open (max 10)", "details" : '
    || '"{\"name\": \"usage.too_many_deletions\"}", "hint" : '
    || '"list_log_retention_runs shows them. One deletion with OR can replace several."}',
  'an eleventh is refused'
);
select lives_ok(
  $$select public.delete_logs('x', 'now-1h', 'now', true)$$,
  'a dry run is accepted: it leaves nothing open'
);
select pg_temp.act_as_user('umbrella', 'uma');
select lives_ok('select pg_temp.erase(1)', 'another tenant has its own');

select pg_temp.act_as_postgres();
create function pg_temp.turn()
returns text
language plpgsql
as $$
declare
  v_run_id constant uuid := logloom_private.next_deletion();
begin
  while logloom_private.deletion_step(v_run_id) loop
  end loop;
  perform logloom_private.finish_deletion(v_run_id, null);
  return (
    select r.tenant_id || ' ' || r.query_dsl from logloom.retention_runs r where r.run_id = v_run_id
  );
end;
$$;
select is(pg_temp.turn(), 'acme user_id:u1', 'the oldest comes first');
select is(pg_temp.turn(), 'umbrella user_id:u1', 'then it is the other tenant''s turn');
select is(pg_temp.turn(), 'acme user_id:u2', 'then the first one''s again');
select is(
  (select count(*) from logloom_private.deletion_turns where tenant_id = 'umbrella'), 0::bigint,
  'a tenant without open erasures has no turn'
);
update logloom.plans set max_open_deletions = 9 where plan_id = 'pro';
select pg_temp.act_as_user('acme', 'alice');
select lives_ok('select pg_temp.erase(12)', 'a finished one makes room, within the current plan');

select * from finish();
rollback;
