begin;
\ir ../ingest.psql
update logloom_private.settings set provision_by_secret_key = true;
select plan(4);

select pg_temp.send_request(p_tenant_id => 'acme', p_ts => array[now()], p_msg => array['a']);
select logloom_private.flip_queue();

create function pg_temp.refuse() returns trigger language plpgsql as $$
begin
  raise sqlstate '53100' using message = 'disk full';
end;
$$;
create trigger refuse before insert on logloom.logs for each row execute function pg_temp.refuse();

select throws_ok(
  'select logloom_private.write_step()', '53100', 'disk full',
  'an error of the database fails the step'
);
select is_empty('select from logloom_private.dead_letters', 'without dead letters');
drop trigger refuse on logloom.logs;
select is(logloom_private.write_step(), 1, 'the next step moves it');
select is((select count(*)::integer from logloom.logs), 1, 'exactly once');

select * from finish();
rollback;
