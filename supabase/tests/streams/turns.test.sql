-- Streams take turns, pause with their maker, and record gaps of retention.
begin;
\ir ../actors.psql
\ir ../search/records.psql
set local client_min_messages = warning;
select plan(28);

insert into logloom.tenants (tenant_id, plan_id)
select t, 'pro' from unnest('{acme,one,two,umbrella}'::text[]) t;
insert into logloom.tenant_members (tenant_id, user_id, role) values ('acme', 'ann', 'admin');

create function pg_temp.streams(p_tenant text, p_count integer)
returns void
language sql
as $$
  insert into logloom.log_streams (
    tenant_id, name, kind, config, position_seq, pending_since, next_attempt_at
  )
  select p_tenant, p_tenant || n, 'webhook', '{"url": "https://example.com/"}', 1, now(),
    now() - n * interval '1 s'
  from generate_series(1, p_count) n
$$;
create function pg_temp.claimed(p_limit integer)
returns text
language plpgsql
as $$
declare
  v_claimed text;
begin
  select string_agg(s.name, ' ' order by s.name) into v_claimed
  from (
    select c.stream_id from logloom_private.claim_due_streams(p_limit) c
  ) c
  join logloom.log_streams s on s.stream_id = c.stream_id;
  return v_claimed;
end;
$$;

-- A tenant whose receiver hangs takes three of six places.
update logloom_private.settings set stream_open_limit = 6;
select pg_temp.streams('acme', 20);
select is(
  pg_temp.claimed(20), 'acme18 acme19 acme20', 'a tenant leaves as many places free as it takes'
);
select is(pg_temp.claimed(20), null, 'however often it claims');
select pg_temp.streams('one', 1), pg_temp.streams('two', 1);
select is(pg_temp.claimed(20), 'one1 two1', 'other tenants get places at once');
update logloom.log_streams s set claimed_until = now() - interval '1 s'
where s.name not in ('acme18', 'acme19');
update logloom.log_streams s set pending_since = null where s.name not like 'acme%';
select is(pg_temp.claimed(1), 'acme20', 'an unsettled claim is due again');
-- Customers take turns, and the tenant's own streams do not wait for them.
savepoint own;
delete from logloom.log_streams where true;
select pg_temp.streams('acme', 20);
with v as (
  insert into logloom.log_views (tenant_id, customer, created_by)
  select 'acme', c, 'ann' from unnest('{42,43}'::text[]) c
  returning view_id, customer
)
update logloom.log_streams s set view_id = v.view_id
from v where v.customer = case when s.name = 'acme2' then '43' else '42' end;
select is(
  pg_temp.claimed(20), 'acme19 acme2 acme20', 'a customer does not take the turns of another'
);
select pg_temp.streams('acme', 1), pg_temp.streams('one', 1);
select is(pg_temp.claimed(20), 'acme1 one1', 'nor those of the tenant itself');
rollback to savepoint own;
update logloom.log_streams s set claimed_until = null, claim_id = null, enabled = s.name = 'one1';
update logloom.log_streams s set next_attempt_at = now() + interval '1 s' where s.name = 'one1';
select is(pg_temp.claimed(20), null, 'streams that are not due or disabled are not claimed');
update logloom.log_streams s set test_id = gen_random_uuid() where s.name = 'acme1';
select is(pg_temp.claimed(20), 'acme1', 'except for a test');

-- A stream depends on its maker.
delete from logloom.log_streams where tenant_id <> 'acme' or name <> 'acme1';
insert into logloom.tenant_members (tenant_id, user_id, role) values ('acme', 'bob', 'owner');
-- Claims the due streams and returns the messages that they send.
create function pg_temp.sent()
returns text
language sql
as $$
  select string_agg(r.value ->> 'msg', ' ')
  from logloom_private.claim_due_streams(20) c
  cross join jsonb_array_elements(
    logloom_private.next_stream_batch(c.stream_id, c.claim_id)::jsonb -> 'records'
  ) r
$$;
-- Returns the state of ann's stream after a change.
create function pg_temp.pause_after(p_change text)
returns text
language plpgsql
as $$
begin
  update logloom.log_streams
  set maker = 'ann', enabled = true, paused_at = null, pause_reason = null, test_id = null,
    claim_id = null, claimed_until = null;
  execute p_change;
  perform pg_temp.sent();
  return (select row(s.paused_at = now(), s.pause_reason)::text from logloom.log_streams s);
end;
$$;
create function pg_temp.settle_test()
returns boolean
language sql
as $$
  select logloom_private.settle_stream_batch(
    s.stream_id, s.claim_id, s.test_id, 'delivered', 200, null, null, '[]', 0, null, false, null
  )
  from logloom.log_streams s
$$;
select is(
  pg_temp.pause_after('delete from logloom.tenant_members where user_id = ''ann'''),
  '(t,maker)', 'a stream pauses when its maker is removed'
);
select is(
  pg_temp.pause_after(
    'insert into logloom.tenant_members (tenant_id, user_id, role) '
      'values (''acme'', ''ann'', ''member'')'
  ),
  '(t,maker)', 'or when its maker is no longer an admin'
);
select is(pg_temp.claimed(20), null, 'and stays paused');
update logloom.log_streams s set test_id = gen_random_uuid(), test_requested_at = now();
select is(pg_temp.sent(), 'Test of the log stream acme1', 'a test of it is still sent');
select pg_temp.settle_test();
update logloom.log_streams s set claim_id = null, claimed_until = null;
select is(pg_temp.claimed(20), null, 'once; then it takes no place');
update logloom.log_streams s
set paused_at = null, pause_reason = null, test_id = gen_random_uuid();
select is(pg_temp.sent(), 'Test of the log stream acme1', 'so is a test before the stream pauses');
select pg_temp.settle_test();
select logloom_private.next_stream_batch(s.stream_id, s.claim_id) from logloom.log_streams s;
select is((select s.pause_reason from logloom.log_streams s), 'maker', 'a test reads no records');
select pg_temp.act_as_user('acme', 'bob');
select is(
  (
    select row(u.status, u.maker, u.pause_reason)::text
    from public.list_log_streams() s
    cross join public.update_log_stream(p_stream_id => s.stream_id, p_enabled => true) u
  ),
  '(sending,bob,)', 'when an admin enables it, it goes on in their name'
);
select pg_temp.act_as_postgres();
select is(pg_temp.claimed(20), 'acme1', 'from its position');
select is((select s.position_seq from logloom.log_streams s), 1::bigint, 'nothing is left out');

-- Retention that overtakes a stream leaves a gap.
delete from logloom.log_streams where true;
select pg_temp.add_records(
  '[{"msg": "old", "ago": "50 hours"}, {"msg": "new"}, {"tenant": "umbrella", "ago": "50 hours"}]'
);
insert into logloom.log_streams (tenant_id, name, kind, config, position_seq, kept_day)
select t, n, 'webhook', '{"url": "https://example.com/"}', q, logloom_private.utc_day(now()) - 10
from (
  values ('acme', 'behind', 1), ('acme', 'ahead', 2), ('acme', 'others', 1), ('one', 'none', 1)
) s (t, n, q);
update logloom.log_streams s set query_dsl = 'msg:other' where s.name = 'others';
insert into logloom.tenant_settings (tenant_id, retention_days)
select t, 1 from unnest('{acme,one,umbrella}'::text[]) t;
create function pg_temp.gaps()
returns text
language sql
as $$
  select string_agg(
    concat_ws(' ', s.name, logloom_private.utc_day(f.ts_from) - logloom_private.utc_day(now()),
      extract(epoch from f.ts_to - f.ts_from) / 3600), ', ' order by s.name
  )
  from logloom.log_stream_failures f join logloom.log_streams s on s.stream_id = f.stream_id
  where f.kind = 'gap'
$$;
create temp table day as select logloom_private.utc_day(now() - interval '50 hours') as day;
select logloom_private.note_gaps_of_stream(s) from logloom.log_streams s;
select is(
  pg_temp.gaps(), format('behind %s 24.0000000000000000', (select d.day from day d) -
    logloom_private.utc_day(now())),
  'only a stream that retention overtakes records a gap'
);
select logloom_private.note_gaps_of_stream(s) from logloom.log_streams s;
delete from logloom.log_stream_failures where true;
select logloom_private.note_gaps_of_stream(s) from logloom.log_streams s;
select is(pg_temp.gaps(), null, 'once');
select logloom_private.note_stream_gaps(d.day, logloom_private.utc_day(now()), '{acme,one}')
from day d;
select matches(pg_temp.gaps(), '^behind -\d 24\.0+$', 'retention records a gap before it deletes');
delete from logloom.log_stream_failures where true;
select logloom_private.begin_retention(logloom_private.utc_day(now()));
create function pg_temp.retain()
returns void
language sql
as $$ select pg_temp.repeat_while('logloom_private.retention_step() is not null') $$;
select pg_temp.retain();
select matches(pg_temp.gaps(), '^behind -\d 24\.0+$', 'as part of its job');
savepoint sealed;
set local logloom_test.sealed = 'all';
select pg_temp.add_records('[{"msg": "sealed", "level": "error", "ago": "74 hours"}]', 1);
update logloom.log_streams s set query_dsl = 'level:error' where s.name = 'behind';
delete from logloom.log_stream_failures where true;
select logloom_private.note_stream_gaps(
  logloom_private.utc_day(now() - interval '74 hours'), logloom_private.utc_day(now()), '{acme}'
);
select matches(pg_temp.gaps(), '^behind -\d 24\.0+$', 'also of sealed records that it looks for');
rollback to savepoint sealed;
select is(
  (select string_agg(l.msg, ' ') from logloom.logs l), 'new', 'which then deletes the records'
);

-- Owners get a mail about a pause.
create schema if not exists auth;
create table auth.users (id uuid primary key, email text, email_confirmed_at timestamptz);
insert into auth.users (id, email, email_confirmed_at)
values ('11111111-1111-4111-8111-111111111111', 'owner@acme.example', now());
insert into logloom.tenant_members (tenant_id, user_id, role)
values ('acme', '11111111-1111-4111-8111-111111111111', 'owner');
select logloom_private.pause_stream(s, 'failing') from logloom.log_streams s
where s.name = 'behind';
select logloom_private.pause_stream(s, 'failing') from logloom.log_streams s
where s.name = 'behind';
select is(
  array(
    select row(n.purpose, n.address, n.body::jsonb -> 'data' ->> 'reason')::text
    from logloom_private.notifications n
  ),
  '{"(stream,owner@acme.example,failing)"}', 'owners get one mail'
);
select is(
  (select c.address from logloom_private.claim_due_notifications(5) c), 'owner@acme.example',
  'which is sent'
);

-- A deleted tenant has no streams.
select pg_temp.act_as_user('acme', 'bob');
select is((public.delete_tenant('acme')).tenant_id, 'acme', 'a tenant is deleted');
select pg_temp.act_as_postgres();
select is(
  (select string_agg(s.name, ' ') from logloom.log_streams s), 'none',
  'its streams are deleted at once'
);

select * from finish();
rollback;
