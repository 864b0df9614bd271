begin;
\ir ../ingest.psql
update logloom_private.settings set provision_by_secret_key = true;
select plan(8);

create function pg_temp.write_all()
returns integer
language plpgsql
as $$
declare
  v_steps integer := 0;
begin
  while logloom_private.write_logs() is not null loop
    v_steps := v_steps + 1;
  end loop;
  return v_steps;
end;
$$;

create function pg_temp.fill_and_move(p_events integer)
returns void
language plpgsql
as $$
begin
  perform pg_temp.send_request(
    p_tenant_id => 'acme', p_ts => array_fill(null::timestamptz, array[least(p_events - n, 10000)])
  )
  from generate_series(0, p_events - 1, 10000) n;
  perform logloom_private.flip_queue();
  while logloom_private.write_step() > 0 loop
  end loop;
end;
$$;

update logloom_private.queue_slots set truncated_at = now();
select pg_temp.fill_and_move(4);
select logloom_private.empty_moved_slots();
select is(
  (select count(*)::integer from logloom_private.queue), 1, 'a small slot is not emptied at once'
);

update logloom_private.queue_slots set truncated_at = now() - interval '61 seconds';
select logloom_private.empty_moved_slots();
select is((select count(*)::integer from logloom_private.queue), 0, 'after a minute it is emptied');

select pg_temp.fill_and_move(20000);
select logloom_private.empty_moved_slots();
select is(
  (select count(*)::integer from logloom_private.queue), 0, 'a large slot is emptied at once'
);

select pg_temp.fill_and_move(2) from generate_series(1, 4);
select is(
  (select count(*)::integer from logloom_private.queue), 4,
  'slots that were not emptied take more batches'
);
select is((select count(*)::integer from logloom.logs), 20012, 'and nothing moves twice');
select is((logloom_private.queue_state()).depth, 0::bigint, 'nor counts as queued');

update logloom_private.queue_slots set truncated_at = now() - interval '61 seconds';
select pg_temp.write_all();
select is(pg_temp.write_all(), 0, 'an empty queue needs no step');
-- A failed enqueue has used up a number of the sequence.
select nextval('logloom_private.queue_batch_id');
select pg_temp.send_request(p_tenant_id => 'acme', p_ts => array[null::timestamptz]);
select pg_temp.write_all();
select is((select count(*)::integer from logloom.logs), 20013, 'the next event is moved');

select * from finish();
rollback;
