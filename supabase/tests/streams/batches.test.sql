-- Streams send stable batches in order, from rows and blocks, until everything is sent.
begin;
\ir ../actors.psql
\ir ../search/records.psql
set local client_min_messages = warning;
select plan(66);

insert into logloom.tenants (tenant_id, plan_id) values ('acme', 'pro'), ('umbrella', 'pro');
insert into logloom.tenant_members (tenant_id, user_id, role)
values ('acme', 'ann', 'owner'), ('umbrella', 'ulf', 'owner');
insert into logloom.log_views (tenant_id, name, query_dsl, hidden_fields, created_by)
values ('acme', 'shop', 'service:shop', '{user_id,attrs}', 'ann');

create function pg_temp.stream(p_name text, p_query text default null, p_tenant text default 'acme')
returns uuid
language plpgsql
as $$
declare
  v_id uuid;
begin
  insert into logloom.log_streams (
    tenant_id, name, query_dsl, kind, config, maker, position_seq, kept_day
  )
  values (
    p_tenant, p_name, p_query, 'webhook', '{"url": "https://example.com/"}',
    case p_tenant when 'acme' then 'ann' else 'ulf' end, logloom_private.last_write_seq() + 1,
    logloom_private.first_kept_day(p_tenant, logloom_private.utc_day(now()))
  )
  returning stream_id into v_id;
  return v_id;
end;
$$;
-- Marks new records, claims the stream, and reads its batch.
create function pg_temp.batch(p_name text)
returns jsonb
language plpgsql
as $$
declare
  v_batch jsonb;
begin
  perform logloom_private.note_new_writes();
  update logloom.log_streams s
  set next_attempt_at = now(), claim_id = gen_random_uuid(), claimed_at = now(),
    claimed_until = now() + interval '1 minute'
  where s.name = p_name;
  select logloom_private.next_stream_batch(s.stream_id, s.claim_id)::jsonb into v_batch
  from logloom.log_streams s where s.name = p_name;
  return v_batch;
end;
$$;
create function pg_temp.msgs(p_batch jsonb)
returns text
language sql
as $$
  select string_agg(r.value ->> 'msg', ' ' order by r.ordinality)
  from jsonb_array_elements(p_batch -> 'records') with ordinality r
$$;
create function pg_temp.settle(
  p_name text,
  p_outcome text,
  p_status integer default 200,
  p_refused jsonb default '[]',
  p_retry_after integer default null
)
returns text
language sql
as $$
  select (public.settle_log_stream_batch(
    s.stream_id, s.claim_id, s.batch_id, p_outcome, p_status, 'HTTP ' || p_status, p_retry_after,
    p_refused
  )).more::text
  from logloom.log_streams s where s.name = p_name
$$;
create function pg_temp.state(p_name text, p_sql text)
returns text
language plpgsql
as $$
declare
  v_text text;
begin
  execute format('select (%s)::text from logloom.log_streams s where s.name = %L', p_sql, p_name)
  into v_text;
  return v_text;
end;
$$;
create function pg_temp.add(p_msgs text, p_write_seq bigint, p_members text default '{}')
returns void
language sql
as $$
  select pg_temp.add_records(
    (
      select jsonb_agg(jsonb_build_object('msg', m) || p_members::jsonb order by n)
      from unnest(string_to_array(p_msgs, ' ')) with ordinality u (m, n)
    ),
    p_write_seq
  )
$$;

select pg_temp.add('before', 1);
select pg_temp.stream('all'), pg_temp.stream('errors', 'level:error');
select pg_temp.stream('theirs', null, 'umbrella');
select is(pg_temp.batch('all'), null, 'a new stream does not send older records');
select is(pg_temp.state('all', 's.pending_since'), null, 'it has nothing to send');

select pg_temp.add('a b c', 2);
create temp table seen as select pg_temp.batch('all') as batch;
select is(pg_temp.msgs(batch), 'a b c', 'it sends later records') from seen;
select is(
  (batch -> 'batch') - '{stream_id,batch_id,made_at}'::text[],
  '{
    "tenant_id": "acme", "customer": null, "kind": "webhook",
    "config": {"url": "https://example.com/"}, "secrets": {}, "attempt": 0, "is_test": false,
    "hops": 1, "records": 3
  }'::jsonb, 'with the metadata of the batch'
) from seen;
select is(
  array(select jsonb_object_keys(batch -> 'records' -> 0) order by 1),
  '{id,msg,received_at,ts}', 'a record has no null members and no tenant'
) from seen;
select pg_temp.add('d e', 3);
select is(pg_temp.batch('all'), batch, 'a repeated batch is the same') from seen;
select is(pg_temp.settle('all', 'retry', 503), 'false', 'a failure ends the claim');
select is(
  pg_temp.state('all', 'row(s.attempts, s.last_status, s.last_error, s.failing_since = now(), '
    's.next_attempt_at between now() + interval ''8 s'' and now() + interval ''12 s'')'),
  '(1,503,"HTTP 503",t,t)', 'and is recorded, with a back-off'
);
select is(
  jsonb_set(pg_temp.batch('all'), '{batch,attempt}', '0'), batch, 'the batch stays the same'
) from seen;
select is(
  pg_temp.settle('all', 'retry', 429, '[]', 120), 'false', 'a receiver may ask for a longer wait'
);
select is(
  pg_temp.state('all', 's.next_attempt_at >= now() + interval ''120 s'''), 'true', 'and gets it'
);
select pg_temp.batch('all');
select is(pg_temp.settle('all', 'delivered'), 'true', 'after a success the claim goes on');
select is(
  pg_temp.state('all', 'row(s.attempts, s.failing_since, s.last_success_at = now(), '
    's.sent_batches, s.sent_records, s.batch_id)'),
  '(0,,t,1,3,)', 'and is recorded'
);
select is(pg_temp.msgs(pg_temp.batch('all')), 'd e', 'the next batch follows');
select is(pg_temp.settle('all', 'delivered'), 'false', 'after the last the claim ends');
select is(pg_temp.state('all', 's.pending_since'), null, 'and nothing waits');
select is(pg_temp.batch('errors'), null, 'without matching records nothing is sent');
select is(
  pg_temp.state('errors', 'row(s.position_seq, s.pending_since)'), '(4,)',
  'but the position moves on'
);
select is(pg_temp.state('theirs', 'row(s.position_seq, s.pending_since)'), '(2,)',
  'a stream without new records is not due');

-- A batch ends at batch_limit, even within a write sequence.
update logloom.log_streams s set batch_limit = 2 where s.name = 'all';
select pg_temp.add('1 2 3 4 5', 4);
select is(pg_temp.msgs(pg_temp.batch('all')), '1 2', 'a batch has batch_limit records');
select pg_temp.settle('all', 'delivered');
select is(pg_temp.msgs(pg_temp.batch('all')), '3 4 5', 'a success doubles the limit');

-- Halving finds a refused record.
select is(pg_temp.settle('all', 'refused', 400), 'true', 'a refused batch is tried again at once');
select is(pg_temp.msgs(pg_temp.batch('all')), '3', 'by halves');
select pg_temp.settle('all', 'delivered');
select is(pg_temp.msgs(pg_temp.batch('all')), '4 5', 'then half again');
select pg_temp.settle('all', 'refused', 400);
select is(pg_temp.msgs(pg_temp.batch('all')), '4', 'down to one');
select pg_temp.settle(
  'all', 'refused', 400,
  (
    select jsonb_build_array(jsonb_build_object('id', l.id, 'ts', l.ts))
    from logloom.logs l where l.msg = '4'
  )
);
select is(
  (
    select row(f.kind, l.msg, f.records, f.status, f.error)::text
    from logloom.log_stream_failures f join logloom.logs l on l.id = f.record_id
  ),
  '(refused,4,1,400,"HTTP 400")', 'which counts as refused'
);
select is(pg_temp.msgs(pg_temp.batch('all')), '5', 'the rest is sent');
select pg_temp.settle('all', 'refused', 413);
select is(
  pg_temp.state('all', 's.batch_bytes'), '1000000', 'one record does not reduce the batch size'
);
select is(pg_temp.state('all', 's.refused_records'), '2', 'refused records are counted');

-- Streams read blocks, skip erased records, and respect their view.
set local logloom_test.sealed = 'some';
-- With these ids s1, s5 and s6 stay rows.
select pg_temp.add_records(
  (
    select jsonb_agg(jsonb_build_object(
      'id', '018f0000-0000-7000-8000-00000000000' || n, 'msg', 's' || n, 'ago', '30 hours'
    ))
    from generate_series(1, 7) n
  ),
  5
);
set local logloom_test.sealed = '';
update logloom.log_streams s set batch_limit = 5 where s.name = 'all';
select is(
  pg_temp.msgs(pg_temp.batch('all')), 's1 s2 s3 s4 s5', 'records of rows and blocks come in order'
);
select pg_temp.remove_records('l.msg in (select x.msg from logloom.logs x where x.write_seq = 5 '
  'order by x.id limit 1)');
select is(
  (select count(*) from jsonb_array_elements(pg_temp.batch('all') -> 'records'))::integer, 4,
  'deleted records are not sent, nor others in their place'
);
select pg_temp.settle('all', 'delivered');
select is(pg_temp.msgs(pg_temp.batch('all')), 's6 s7', 'and no record is skipped');
select pg_temp.settle('all', 'delivered');

select pg_temp.stream('view');
select pg_temp.stream('closed', 'user_id:eve');
update logloom.log_streams s set view_id = (select v.view_id from logloom.log_views v)
where s.name in ('view', 'closed');
select pg_temp.add_records(
  '[
    {"msg": "x1", "service": "shop", "user_id": "eve", "attrs": {"pin": 1}},
    {"msg": "x2", "service": "pay"},
    {"msg": "x3", "service": "shop", "attrs": {"logloom_hops": 3}}
  ]', 6
);
select is(
  (
    select jsonb_agg(r - '{id,ts,received_at}'::text[])
    from jsonb_array_elements(pg_temp.batch('view') -> 'records') r
  ),
  '[{"msg": "x1", "service": "shop"}]'::jsonb, 'a stream in a view sends what the view shows'
);
select is(pg_temp.batch('view') -> 'batch' ->> 'hops', '3', 'with the highest number of hops');
select is(pg_temp.batch('closed'), null, 'a query for hidden fields sends nothing');
select is(
  pg_temp.state('closed', 's.last_error'), 'The query does not work in the view of the stream',
  'and says why'
);
delete from logloom.log_streams s where s.name = 'closed';

-- Records that were passed on three times are skipped.
select is(
  pg_temp.msgs(pg_temp.batch('all')), 'x1 x2',
  'records that were passed on three times are not sent'
);
select pg_temp.settle('all', 'delivered');
select is(pg_temp.state('all', 's.skipped_records'), '1', 'but counted');
select pg_temp.add_records(
  '[{"msg": "h0", "attrs": {"logloom_hops": "9"}}, {"msg": "h2", "attrs": {"logloom_hops": 2}}]', 7
);
select is(
  pg_temp.batch('all') -> 'batch' ->> 'hops', '3', 'a batch has the highest hops of its records'
);
select pg_temp.settle('all', 'delivered');

-- A test message is sent even if the stream is disabled.
update logloom.log_streams s set enabled = false, test_id = gen_random_uuid(),
  test_requested_at = now() where s.name = 'all';
select is(pg_temp.msgs(pg_temp.batch('all')), 'Test of the log stream all', 'a test is one record');
select is(
  (
    select (
      public.settle_log_stream_batch(s.stream_id, s.claim_id, s.test_id, 'retry', 401, 'HTTP 401')
    ).more::text
    from logloom.log_streams s where s.name = 'all'
  ),
  'true', 'its outcome is recorded'
);
select is(
  pg_temp.state('all', 'row(s.test_id, s.test_finished_at = now(), s.test_status, s.test_error, '
    's.attempts)'),
  '(,t,401,"HTTP 401",0)', 'separately from the stream''s'
);
select is(pg_temp.batch('all'), null, 'and the stream stays idle');

-- A stream that keeps failing is paused.
select pg_temp.add('late', 8);
update logloom.log_streams s set failing_since = now() - interval '73 hours'
where s.name = 'errors';
select pg_temp.add('broken', 9, '{"level": "error"}');
select is(pg_temp.msgs(pg_temp.batch('errors')), 'broken', 'a failing stream is tried');
select pg_temp.settle('errors', 'retry', 500);
select is(
  pg_temp.state('errors', 'row(s.paused_at = now(), s.pause_reason)'), '(t,failing)',
  'for three days, then it is paused'
);
select is(
  (select h ->> 'reason' from logloom_private.stream_health(now()) h),
  '1 log streams were paused because they failed for too long', 'health shows it'
);

-- A batch that is too large for the receiver becomes smaller.
select pg_temp.stream('large');
select pg_temp.add(
  (select string_agg(repeat(chr(96 + n), case n when 3 then 120000 else 30000 end), ' ')
    from generate_series(1, 4) n),
  10
);
create function pg_temp.sizes()
returns text
language sql
as $$
  select (
    select string_agg(length(r ->> 'msg') / 1000 || '', ' ')
    from jsonb_array_elements(pg_temp.batch('large') -> 'records') r
  ) || ' of ' || round(pg_temp.state('large', 's.batch_bytes')::numeric, -3)
$$;
select is(pg_temp.sizes(), '30 30 120 30 of 1000000', 'a batch has a megabyte');
select pg_temp.settle('large', 'refused', 413);
select is(pg_temp.sizes(), '30 30 of 105000', 'or half of a size that was too large');
select pg_temp.settle('large', 'delivered');
select is(pg_temp.sizes(), '120 of 116000', 'and a tenth more after each success');
select pg_temp.settle('large', 'refused', 413);
select is(pg_temp.sizes(), '30 of 116000', 'a single large record does not reduce the size');
update logloom.log_streams s set batch_bytes = 999999 where s.name = 'large';
select pg_temp.settle('large', 'delivered');
select is(pg_temp.state('large', 's.batch_bytes'), '1000000', 'up to a megabyte');

-- A receiver that accepts a batch but none of its records.
select pg_temp.stream('void');
update logloom.log_streams s set batch_limit = 60, attempts = 2, is_proven = true,
  failing_since = now() - interval '1 hour'
where s.name = 'void';
select pg_temp.add((select string_agg('n' || n, ' ') from generate_series(1, 160) n), 11);
create function pg_temp.nothing_taken()
returns text
language plpgsql
as $$
begin
  perform pg_temp.settle('void', 'delivered', 200, (
    select jsonb_agg(r || '{"status": 400}')
    from jsonb_array_elements(pg_temp.batch('void') -> 'records') r
  ));
  return pg_temp.state('void', 'row(s.refused_records, s.refused_in_a_row, s.sent_records, '
    's.failing_since < now(), s.last_success_at, s.last_error, s.pause_reason)');
end;
$$;
select is(
  pg_temp.nothing_taken(), '(60,60,0,t,,"The receiver accepted none of the records",)',
  'a batch without accepted records is not a success'
);
select is(
  pg_temp.nothing_taken(), '(120,120,0,t,,"The receiver accepted none of the records",refused)',
  'if all are refused the records are not to blame'
);
update logloom.log_streams s set paused_at = null, pause_reason = null where s.name = 'void';
select is(
  jsonb_array_length(pg_temp.batch('void') -> 'records'), 40,
  'other records do not count as refused yet'
);
select pg_temp.settle('void', 'delivered');
select is(
  pg_temp.state('void', 'row(s.refused_in_a_row, s.failing_since, s.sent_records)'), '(0,,40)',
  'one accepted record is a success'
);

-- Sends records of several writer steps while their day is sealed, and of a late step.
select pg_temp.stream('sealed');
select pg_temp.add('s' || n, 100 + 2 * n) from generate_series(1, 40) n;
set local logloom_test.sealed = 'all';
select pg_temp.seal_as_set('acme');
set local logloom_test.sealed = '';
select pg_temp.add('late', 141);
create sequence pg_temp.reads;
alter function logloom_private.sealed_write_seqs(
  text, bigint, uuid, bigint, timestamptz, jsonb, integer, bigint
) rename to uncounted_write_seqs;
create function logloom_private.sealed_write_seqs(
  text, bigint, uuid, bigint, timestamptz, jsonb, integer, bigint
)
returns setof logloom.logs
language plpgsql
as $$
begin
  perform nextval('pg_temp.reads');
  return query
  select l.* from logloom_private.uncounted_write_seqs($1, $2, $3, $4, $5, $6, $7, $8) l;
end;
$$;
select is(
  pg_temp.msgs(pg_temp.batch('sealed')),
  (select string_agg('s' || n || case n when 20 then ' late' else '' end, ' ' order by n)
    from generate_series(1, 40) n),
  'a batch has all steps in order'
);
select is(
  (select r.last_value from pg_temp.reads r where r.is_called), 1::bigint,
  'and reads the block once'
);

-- The audit trail
delete from logloom.log_streams where true;
create function pg_temp.event(p_action text, p_tenant_id text default 'acme')
returns void
language sql
as $$
  select logloom.audit(p_action, '[{"id": "7"}]', '{"a": null}', p_tenant_id);
  select logloom_private.link_audit_events()
$$;
select pg_temp.event('before');
select pg_temp.stream('siem'), pg_temp.stream('nines', 'msg:nine');
update logloom.log_streams set source = 'audit', batch_limit = 2 where true;
update logloom.log_streams s set position_seq = logloom_private.stream_end(s) + 1 where true;
select is(pg_temp.batch('siem'), null, 'a new stream does not send older events');
select pg_temp.event('one'), pg_temp.event('theirs', 'umbrella');
-- A day passes.
update logloom.audit_digests set day = day - 1 where true;
update logloom.audit_events set day = day - 1 where true;
update logloom.log_streams set position_seq = position_seq - 1000000000 where true;
select pg_temp.event('two');
select pg_temp.add('log', 900);
truncate seen;
insert into seen select pg_temp.batch('siem');
select is(
  pg_temp.msgs(batch), 'one Audit trail of ' || logloom_private.utc_day(now()) - 1 || ': 2 events',
  'the events of a day, then its digest, and no other tenant''s'
) from seen;
select is(
  jsonb_path_query_array(batch, '$.records[*].attrs'),
  format(
    '[{"kind": "audit_event", "actor": "postgres", "targets": [{"id": "7"}], "context": {"a": null},
      "day": "%s", "position": 2, "digest": "%s", "link": "%s"},
    {"kind": "audit_digest", "day": "%1$s", "events": 2, "digest": "%3$s", "previous_digest": ""}]',
    e.day, encode(e.digest, 'hex'), encode(e.link, 'hex')
  )::jsonb,
  'with their places in the chain'
)
from seen
cross join logloom.audit_events e
where e.action = 'one';
select is(pg_temp.batch('siem'), batch, 'a repeated batch is the same') from seen;
select pg_temp.settle('siem', 'delivered');
select is(pg_temp.msgs(pg_temp.batch('siem')), 'two', 'the next day follows');
select pg_temp.settle('siem', 'delivered');
select is(pg_temp.state('siem', 's.pending_since'), null, 'and nothing waits');
insert into logloom.audit_digests (tenant_id, day, digest, previous_digest, closed_at)
select 'acme', logloom_private.utc_day(now()) - n, '', '', now() from generate_series(2, 400) n;
analyze logloom.audit_digests;
create view pg_temp.read as
select s.seq_tup_read + s.idx_tup_fetch as digests
from pg_stat_xact_user_tables s where s.relname = 'audit_digests';
create temp table before as select r.digests from pg_temp.read r;
select logloom_private.stream_end(s) from logloom.log_streams s where s.name = 'siem' \g /dev/null
select is(r.digests - b.digests, 2::bigint, 'for which two of 400 days are read')
from pg_temp.read r, before b;
delete from logloom.audit_digests where digest = '';
select pg_temp.event('nine');
select is(
  pg_temp.msgs(pg_temp.batch('nines')), 'nine', 'a query passes the events that it does not find'
);
select pg_temp.act_as_service_role();
select public.erase_audit_subject('acme', '7');
select pg_temp.act_as_postgres();
select is(
  pg_temp.batch('siem') #>> '{records,0,attrs,actor}', 'erased', 'erased events have no content'
);

select * from finish();
rollback;
