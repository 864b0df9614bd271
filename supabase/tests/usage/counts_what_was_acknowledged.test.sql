begin;
\ir ../actors.psql
\ir ../ingest.psql
select plan(11);

create function pg_temp.usage_now(p_tenant_id text)
returns text
language sql
as $$
  select format('%s events, %s bytes', coalesce(sum(u.events), 0), coalesce(sum(u.bytes), 0))
  from logloom_private.usage_of(
    p_tenant_id, date_trunc('month', now() at time zone 'UTC')::date
  ) u
$$;
create function pg_temp.folded(p_tenant_id text)
returns bigint
language sql
as $$ select (select sum(u.events) from logloom.usage_days u where u.tenant_id = p_tenant_id) $$;

select pg_temp.ingest('acme', 3, 30);
select pg_temp.ingest('globex', 5, 50);
select is(pg_temp.usage_now('acme'), '3 events, 30 bytes', 'queued events count');
select is(pg_temp.folded('acme'), null, 'before they are folded');

select logloom_private.flip_queue();
select pg_temp.ingest('acme', 4, 40);
select is(pg_temp.usage_now('acme'), '7 events, 70 bytes', 'in the closed and the open slot');

update logloom_private.settings set writer_step_events = 1;
select logloom_private.write_step();
select is(
  pg_temp.folded('acme'), 3::bigint, 'the writer''s first step folds the whole closed slot'
);
select is(pg_temp.usage_now('acme'), '7 events, 70 bytes', 'which does not change the sum');
select logloom_private.write_step();
select logloom_private.write_step();
select is(pg_temp.folded('acme'), 3::bigint, 'later steps fold nothing again');

-- Moved slots that were not emptied are filled again.
do $$
begin
  for i in 1..6 loop
    perform pg_temp.ingest('acme', 1, 1);
    perform logloom_private.flip_queue();
    while logloom_private.write_step() > 0 loop
    end loop;
  end loop;
end;
$$;
select is(pg_temp.folded('acme'), 13::bigint, 'nor is a slot folded twice that is filled again');
select is(pg_temp.usage_now('acme'), '13 events, 76 bytes', 'the sum is what was acknowledged');
select is(
  (select count(*) from logloom.logs where tenant_id = 'acme'), 13::bigint, 'and what was written'
);
select is(pg_temp.usage_now('globex'), '5 events, 50 bytes', 'another tenant has its own');

select pg_temp.ingest('umbrella', 5, 50);
select logloom_private.flip_queue();
delete from logloom.tenants where tenant_id = 'umbrella';
select is(logloom_private.write_step(), 5, 'a deleted tenant does not stop the writer');

select * from finish();
rollback;
