-- Reading the queue's state reads only a few batches, however long the queue is.
begin;
\ir ../ingest.psql
update logloom_private.settings set provision_by_secret_key = true;
select plan(12);

create or replace function logloom_private.max_unmetered_batches()
returns integer
language sql
immutable
return 3;
-- Rolled-back tests may have used up numbers of the sequence.
update logloom_private.queue_pointer
set metered_through = (
  select b.last_value - (not b.is_called)::integer from logloom_private.queue_batch_id b
);

create function pg_temp.send(p_tenant_id text, p_events integer)
returns void
language sql
as $$
  select pg_temp.send_request(
    p_tenant_id => p_tenant_id, p_bytes => 100,
    p_ts => array_fill(null::timestamptz, array[p_events])
  )
$$;
create function pg_temp.unmetered()
returns bigint
language sql
return (
  select count(*) from logloom_private.queue q, logloom_private.queue_pointer p
  where q.batch_id > p.metered_through
);

select pg_temp.send('acme', 2) from generate_series(1, 3);
select logloom_private.meter_queue();
select is(pg_temp.unmetered(), 3::bigint, 'a few batches are left for later');
select is((logloom_private.queue_state()).depth, 6::bigint, 'the depth includes them');
select pg_temp.send('umbrella', 5) from generate_series(1, 2);
select logloom_private.meter_queue();
select is(pg_temp.unmetered(), 0::bigint, 'more batches are metered, in the open slot too');
select is((logloom_private.queue_state()).depth, 16::bigint, 'the depth is the same as before');
select is(
  (logloom_private.queue_state()).oldest_received_at,
  (select min(received_at) from logloom_private.queue), 'and so is the oldest'
);
select results_eq(
  'select tenant_id, events, bytes from logloom.usage_days order by 1',
  $$values ('acme', 6::bigint, 300::bigint), ('umbrella', 10, 200)$$,
  'usage counts events before they are written'
);

select logloom_private.flip_queue();
select pg_temp.send('acme', 7);
update logloom_private.settings set writer_step_events = 4;
select is(logloom_private.write_step(), 4, 'metered batches are moved');
select is((logloom_private.queue_state()).depth, 19::bigint, 'and leaves the depth');
select logloom_private.write_step() from generate_series(1, 4);
select is((logloom_private.queue_state()).depth, 7::bigint, 'the open slot''s events remain');
select is(
  (logloom_private.queue_state()).oldest_received_at,
  (select max(received_at) from logloom_private.queue), 'and are the oldest now'
);
select logloom_private.flip_queue();
select logloom_private.write_step() from generate_series(1, 2);
select is(
  logloom_private.queue_state(), row(0, null)::logloom_private.queue_state,
  'nothing waits at the end'
);
select results_eq(
  'select tenant_id, events, bytes from logloom.usage_days order by 1',
  $$values ('acme', 13::bigint, 400::bigint), ('umbrella', 10, 200)$$,
  'each batch was counted once'
);

select * from finish();
rollback;
