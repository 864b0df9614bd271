-- A stream whose address or headers are wrong loses nothing, and admins learn why.
begin;
select plan(14);

insert into logloom.tenants (tenant_id, plan_id) values ('acme', 'pro');
create temp table batch as select gen_random_uuid() as id;
insert into logloom.log_streams (tenant_id, name, kind, config, position_seq)
values ('acme', 'out', 'webhook', '{"url": "https://example.com/x"}', 7);

-- Claims the stream with a batch of p_records records, then settles the batch. The stream's
-- position is 7.
create function pg_temp.settle(
  p_records integer,
  p_outcome text,
  p_status integer,
  p_refused jsonb default '[]',
  p_retry_after integer default null,
  p_answer text default null
)
returns void
language plpgsql
as $$
begin
  update logloom.log_streams s
  set batch_id = b.id, batch_made_at = now(), batch_end_seq = 9, batch_records = p_records,
    batch_skipped = 0, batch_size = 100, claim_id = b.id, claimed_at = now(),
    claimed_until = now() + interval '1 minute', paused_at = null, pause_reason = null
  from batch b;
  perform logloom_private.settle_stream_batch(
    s.stream_id, s.claim_id, s.batch_id, p_outcome, p_status, 'HTTP ' || p_status, p_retry_after,
    p_refused, 0, null, false, p_answer
  )
  from logloom.log_streams s;
end;
$$;
create function pg_temp.state()
returns text
language sql
as $$
  select row(
    s.position_seq, s.refused_records, s.pause_reason, s.last_answer, s.batch_limit,
    (select count(*) from logloom.log_stream_failures)
  )::text
  from logloom.log_streams s
$$;

select pg_temp.settle(1000, 'refused', 400, p_answer => 'no such index');
select is(pg_temp.state(), '(7,0,,"no such index",500,0)', 'a refused batch is halved first');
select pg_temp.settle(1, 'refused', 400, '[{"id": "00000000-0000-4000-8000-000000000001"}]', null,
  repeat('x', 600));
select is(
  pg_temp.state(), format('(7,0,refused,%s,500,0)', repeat('x', 500)),
  'if nothing was ever accepted, the stream pauses at once and keeps the records'
);
select pg_temp.settle(2, 'delivered', 200,
  '[{"id": "00000000-0000-4000-8000-000000000001"},
    {"id": "00000000-0000-4000-8000-000000000002"}]', null, 'items');
select is(pg_temp.state(), '(7,0,refused,items,500,0)', 'also if each record is refused alone');

-- A successful test proves that address and headers are right.
update logloom.log_streams s
set test_id = b.id, batch_id = null, batch_made_at = null, batch_end_seq = null,
  batch_records = null, batch_skipped = null, claim_id = b.id, paused_at = null,
  pause_reason = null, attempts = 9, next_attempt_at = now() + interval '10 minutes'
from batch b;
select logloom_private.settle_stream_batch(
  s.stream_id, s.claim_id, s.test_id, 'retry', 404, 'HTTP 404', null, '[]', 0, null, false, 'where?'
) from logloom.log_streams s;
select is(
  (select row(s.test_error, s.test_answer, s.is_proven, s.next_attempt_at > now())::text
    from logloom.log_streams s),
  '("HTTP 404",where?,f,t)', 'a test shows the receiver''s answer'
);
update logloom.log_streams s set test_id = b.id from batch b;
select logloom_private.settle_stream_batch(
  s.stream_id, s.claim_id, s.test_id, 'delivered', 200, null, null, '[]', 0, null, false, null
) from logloom.log_streams s;
select is(
  (select row(s.test_error, s.test_answer, s.is_proven, s.attempts, s.next_attempt_at = now())::text
    from logloom.log_streams s),
  '(,,t,0,t)', 'after a successful test the stream is tried at once'
);
select pg_temp.settle(1, 'refused', 400, '[{"id": "00000000-0000-4000-8000-000000000001"}]');
select is(pg_temp.state(), '(10,1,,,1,1)', 'from then on a refused record is left out');

-- How long a stream waits between two attempts.
create function pg_temp.wait_after(p_retry_after integer)
returns interval
language plpgsql
as $$
begin
  update logloom.log_streams s set attempts = 0;
  perform pg_temp.settle(1, 'retry', 429, '[]', p_retry_after);
  return (select s.next_attempt_at - now() from logloom.log_streams s);
end;
$$;
select cmp_ok(
  pg_temp.wait_after(1), '<', interval '13 seconds', 'the back-off applies if it is longer'
);
select is(pg_temp.wait_after(3600), interval '1 hour', 'else the wait that the receiver asks for');
select is(pg_temp.wait_after(86400), interval '1 day', 'even a day');
select is(
  pg_temp.wait_after(2147483647), interval '72 hours', 'but no longer than a stream is tried'
);

-- Owners get one mail, after an hour of failures.
create function pg_temp.mails()
returns text
language sql
as $$
  select string_agg(n.body::jsonb ->> 'type' || ' ' || (n.body::jsonb #>> '{data,answer}'), ',')
  from logloom_private.notifications n
$$;
create schema if not exists auth;
create table auth.users (id uuid primary key, email text, email_confirmed_at timestamptz);
insert into auth.users (id, email, email_confirmed_at)
values ('00000000-0000-4000-8000-00000000000a', 'ann@example.com', now());
insert into logloom.tenant_members (tenant_id, user_id, role)
values ('acme', '00000000-0000-4000-8000-00000000000a', 'owner');
update logloom.log_streams set failing_since = now() - interval '59 minutes';
select pg_temp.settle(1, 'retry', 503, p_answer => 'down');
select is(pg_temp.mails(), null, 'not before an hour');
update logloom.log_streams set failing_since = now() - interval '61 minutes';
select pg_temp.settle(1, 'retry', 503, p_answer => 'down');
select pg_temp.settle(1, 'retry', 503, p_answer => 'down');
select is(pg_temp.mails(), 'stream.failing down', 'one mail after an hour of failing');
select pg_temp.settle(1, 'delivered', 200);
update logloom.log_streams set failing_since = now() - interval '61 minutes';
select pg_temp.settle(1, 'retry', 503, p_answer => 'again');
select is(
  pg_temp.mails(), 'stream.failing down,stream.failing again', 'and one for the next failure'
);
update logloom.log_streams set failing_since = now() - interval '73 hours';
select pg_temp.settle(1, 'retry', 503, p_answer => 'gone');
select is(
  pg_temp.mails(), 'stream.failing down,stream.failing again,stream.paused gone',
  'and one when it is paused'
);

select * from finish();
rollback;
