-- With sharded records the writer counts from the queue instead of the inserted rows.
begin;
\ir ../../supabase/tests/ingest.psql
\ir ../install.psql
select plan(5);

update logloom_private.settings set provision_by_secret_key = true;
select pg_temp.send_request(
  p_tenant_id => t.tenant_id,
  p_ts => array[
    now(), now(), now() - interval '1 minute', now() - interval '1 day', null, now(), now()
  ],
  p_level => array['info', 'info', 'error', null, 'info', 'warn', 'info'],
  p_service => array['api', 'api', 'api', null, 'web', repeat('long', 51), 'worker']
)
from unnest(array['acme', 'globex']) t (tenant_id);
select logloom_private.flip_queue();

create function pg_temp.known()
returns table (what text)
language sql
as $$
  select row(c.tenant_id, c.minute, c.service, c.level, c.is_other, c.is_delta, c.events)::text
  from logloom_private.log_counts c
  union all
  select row(d.tenant_id, d.day)::text from logloom_private.log_days d
  union all
  select row(a.write_seq, a.day)::text from logloom_private.log_writes a
$$;

create function pg_temp.over_batches(p_call text)
returns void
language plpgsql
as $$
begin
  execute 'select ' || p_call
    || '(q.slot::smallint, min(q.batch_id), max(q.batch_id), 1, 6, 7) '
    || 'from logloom_private.queue q group by q.slot';
end;
$$;

select logloom_private.create_partition(logloom_private.utc_day(now() - interval '1 day'));
select pg_temp.over_batches('logloom_private.insert_records');
create temp table from_the_insert as select k.what from pg_temp.known() k;
delete from logloom_private.log_counts c where true;
delete from logloom_private.log_days d where d.tenant_id = 'acme';
delete from logloom_private.log_writes a where true;

select pg_temp.over_batches('logloom_citus.note_records');
select isnt_empty('select from from_the_insert', 'there are counts, days and write sequences');
select bag_eq(
  'select k.what from pg_temp.known() k', 'select f.what from from_the_insert f',
  'both ways add the same rows'
);
select is(
  (select sum(c.events)::integer from logloom_private.log_counts c), 12,
  'the requested events of each batch are counted'
);
select is(
  (select count(*)::integer from logloom_private.log_counts c where c.is_other), 2,
  'services with long names are counted together'
);

update logloom_private.queue q set ts = '{}', level = '{}', service = '{}' where true;
select pg_temp.over_batches('logloom_citus.note_records');
select is(
  (select sum(c.events)::integer from logloom_private.log_counts c), 12,
  'empty batches add nothing'
);

select * from finish();
rollback;
