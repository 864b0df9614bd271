begin;
\ir ../actors.psql
\ir ../by.psql
select plan(54);

insert into logloom.tenants (tenant_id, plan_id)
select t.tenant_id, 'free' from unnest('{acme,other,third,gone}'::text[]) t (tenant_id);
insert into logloom_private.tenant_deletions (tenant_id, requested_by) values ('gone', 'ann');

-- A table whose names would break out of careless SQL.
create schema shop;
create table shop."in'voi""ces" (
  id bigint primary key, "tenant id" text, amount numeric, "pass'word" text, note text
);
grant usage on schema shop to authenticated;
grant all on shop."in'voi""ces" to authenticated;
select logloom.audit_table(
  'shop."in''voi""ces"', ignore => '{"pass''word"}', tenant => 'tenant id'
);
create function pg_temp.events(p_tenant_id text default 'acme')
returns text[]
language sql
as $$
  select array(
    select concat_ws(' ', e.actor, substring(e.action from '[a-z_]+$'), e.subject, e.details)
    from logloom.audit_events e
    where e.tenant_id = p_tenant_id and e.source = 'app'
    order by e.occurred_at, e.event_id
  )
$$;
-- Events, erased ones, and what does not fit first: its position, and how many days ago.
create function pg_temp.verdict()
returns text
language sql
as $$
  select pg_temp.by('alice', $call$(
    select concat_ws(' ', v.events, v.erased, v.fault, v.fault_position, current_date - v.fault_day)
    from public.verify_audit_trail() v
  )$call$)
$$;
create function pg_temp.tampered(p_statement text)
returns text
language plpgsql
as $$
begin
  execute p_statement;
  raise exception '%', pg_temp.verdict();
exception when others then
  return sqlerrm;
end;
$$;

-- 1. What triggers record
select pg_temp.act_as_user('acme', 'alice');
insert into shop."in'voi""ces" values (1, 'acme', 5, 'secret', null), (2, 'acme', 7, 's3', 'x''"');
update shop."in'voi""ces" set id = id + 10, amount = amount + 1, "pass'word" = 'secret2';
update shop."in'voi""ces" set "pass'word" = 'secret3';
update shop."in'voi""ces" set note = repeat('é', 3000) where id = 11;
savepoint s;
insert into shop."in'voi""ces" values (3, 'acme');
rollback to s;
delete from shop."in'voi""ces" where id = 12;
select pg_temp.act_as_postgres();
select throws_ok(
  $$select logloom.audit_table('shop."in''voi""ces"', ignore => '{x}')$$,
  'PT400', 'shop."in''voi""ces" has no column x'
);
select is(pg_temp.events(), array[
  'alice insert 1 {"new": {"id": 1, "note": null, "amount": 5, "tenant id": "acme"}}',
  'alice insert 2 {"new": {"id": 2, "note": "x''\"", "amount": 7, "tenant id": "acme"}}',
  'alice update 11 {"new": {"id": 11, "amount": 6}, "old": {"id": 1, "amount": 5}}',
  'alice update 12 {"new": {"id": 12, "amount": 8}, "old": {"id": 2, "amount": 7}}',
  'alice update 11 {"new": {"note": "' || repeat('é', 2000) || '… (cut)"}, "old": {"note": null}}',
  'alice delete 12 {"old": {"id": 12, "note": "x''\"", "amount": 8, "tenant id": "acme"}}'
], 'changes, but no ignored column and nothing that was rolled back');
set application_name = 'billing job';
insert into shop."in'voi""ces"
values (20, 'other', 1), (21, null, 1), (22, 'nobody', 1), (23, 'gone', 1);
select is(
  pg_temp.events('other'),
  array['postgres insert 20 {"new": {"id": 20, "note": null, "amount": 1, "tenant id": "other"}, '
    '"application_name": "billing job"}'],
  'without a user: role and program; a row without a tenant is written and not audited'
);
update shop."in'voi""ces" set "tenant id" = 'third' where id = 20;
select is(
  array[cardinality(pg_temp.events('other')), cardinality(pg_temp.events('third'))], array[2, 1],
  'a row that moves to another tenant leaves the one and comes to the other'
);
truncate shop."in'voi""ces";
select is_empty(
  $$select from logloom.audit_events where tenant_id in ('nobody', 'gone')$$,
  'nor a row of a tenant that does not exist or is being deleted'
);
alter table shop."in'voi""ces" rename "pass'word" to pass;
insert into shop."in'voi""ces" values (30, 'acme', 1, 'secret4');
select is((pg_temp.events())[7:], array[
  'postgres truncate  {"application_name": "billing job"}',
  'postgres insert 30 {"application_name": "billing job", "columns_have_changed": true}'
], 'TRUNCATE; and no values after an ignored column was renamed');
select is(
  (select array_agg(distinct e.action) from logloom.audit_events e
    where e.details::text ~ 'secret' or e.action ~ '^shop.in''voi"ces.insert'),
  '{"shop.in''voi\"ces.insert"}', 'the action names schema and table, and no secret is recorded'
);
select logloom.unaudit_table('shop."in''voi""ces"');
delete from shop."in'voi""ces";
select is(cardinality(pg_temp.events()), 8, 'nothing is recorded without triggers');
delete from logloom.audit_events where tenant_id = 'acme';

-- 2. What programs record
select is(pg_temp.by('alice', 'select ' || c.call), c.answer, c.call)
from (
  values
    ('logloom.audit(''a.b'', ''[{"id": 7}]'') is not null', 'true'),
    ('logloom.audit(''a.b'', p_tenant_id => ''other'')',
      'PT403 p_tenant_id is not the tenant of the token'),
    ('logloom.audit_table(''pg_class'')', '42501 permission denied for function audit_table'),
    ('logloom.audit('' '')', 'PT400 Invalid action: 1 to 200 characters, no control characters'),
    ('logloom.audit(''a'', ''[{"type": "x"}]'')',
      'PT400 Invalid targets: objects with an id of 1 to 255 characters, at most 8000 bytes'),
    ('logloom.audit(''a'', context => ''[]'')',
      'PT400 Invalid context: a JSON object of at most 16000 bytes'),
    ('public.record_audit_event(p_action => ''a.c'') is not null', 'true'),
    ('public.record_audit_event(p_action => ''a'', p_actor => ''bob'')',
      'PT400 Invalid p_actor: an id, and only from service_role')
) c (call, answer);
select pg_temp.act_as_service_role();
select public.record_audit_event('acme', 'a.d', '[{"id": "8"}, {"id": "9"}]', p_actor => 'bob');
select pg_temp.act_as_postgres();
select logloom.audit('a.e', p_tenant_id => 'acme');
select is(
  pg_temp.events(), '{"alice b 7 {}","alice c  {}","bob d 8 {}","postgres e  {}"}',
  'with the user, the actor that a backend names, or the role'
);
update logloom_private.settings set provision_by_secret_key = false;
select throws_ok(
  format('select logloom.audit(''a'', p_tenant_id => %L)', t.tenant_id),
  'PT404', 'There is no tenant ' || t.tenant_id
)
from unnest('{nobody,gone}'::text[]) t (tenant_id);
select is(
  pg_temp.by('uma', 'logloom.audit(''a'') is not null', c.tenant_id, c.claims::jsonb), c.answer,
  c.tenant_id || ' ' || c.claims
)
from (
  values
    ('gone', '{}', 'PT401 Invalid token, API key, or missing tenant_id'),
    ('acme', '{"exp": 1}', 'PT401 Invalid token, API key, or missing tenant_id'),
    ('new', '{}', 'true')
) c (tenant_id, claims, answer);

-- 3. The chain: four events three days ago, one the day after, one today
create function pg_temp.link(p_days_ago integer)
returns void
language plpgsql
as $$
begin
  -- The job believes that it is another day.
  execute (
    select string_agg(regexp_replace(
      pg_get_functiondef(('logloom_private.' || f)::regproc), 'utc_day\(now\(\)[^)]*\)',
      format('utc_day(now() - interval ''%s days'')', p_days_ago), 'g'
    ), ';')
    from unnest('{link_events_of,link_audit_events}'::text[]) f
  );
  while logloom_private.link_audit_events() is not null loop
  end loop;
end;
$$;
select pg_temp.link(3);
select logloom.audit('b.a', '[{"id": "7"}]', p_tenant_id => 'acme');
select pg_temp.link(2);
select logloom.audit('b.b', p_tenant_id => 'acme');
select pg_temp.link(0);
select is(
  array(
    select concat_ws(' ', current_date - d.day, d.events, d.closed_at is not null,
      q.service[1], q.attrs[1] ->> 'events', q.attrs[1] ->> 'digest' = encode(d.digest, 'hex'))
    from logloom.audit_digests d
    left join logloom_private.queue q
      on q.tenant_id = d.tenant_id and q.attrs[1] ->> 'day' = d.day::text
    where d.tenant_id = 'acme'
    order by d.day
  ),
  '{3 4 t audit 4 t,2 1 t audit 1 t,0 1 f}',
  'days that are over are closed, and their digests leave the database as log records; an event '
    'that is committed late belongs to a later day'
);
select is(pg_temp.verdict(), '6 0', 'all fits');
select is(pg_temp.tampered(c.change), c.verdict, 'tampering: ' || c.change)
from (
  select 'update logloom.audit_events set ' || e.change || ' where tenant_id = ''acme'' and '
    'position = 2', e.verdict
  from (
    values
      ('actor = ''eve''', '1 0 event_changed 2 3'),
      ('details = ''{}'', subject = ''x''', '1 0 event_changed 2 3'),
      ('occurred_at = occurred_at - interval ''1 microsecond''', '1 0 event_changed 2 3'),
      ('salt = sha256(salt)', '1 0 event_changed 2 3'),
      ('digest = sha256(digest)', '1 0 event_changed 2 3'),
      ('link = sha256(link)', '1 0 link_changed 2 3'),
      ('position = 5', '1 0 event_missing 2 3'),
      ('day = day - 1', '0 0 day_missing 4'),
      ('erased_at = now()', '1 0 event_changed 2 3'),
      ('erased_at = now(), salt = null, actor = ''erased'', details = ''[1]''',
        '1 0 event_changed 2 3'),
      ('erased_at = now(), actor = ''erased'', subject = '''', targets = ''[]''',
        '1 0 event_changed 2 3')
  ) e (change, verdict)
  union all
  values
    ('delete from logloom.audit_events where position = 4', '3 0 event_missing 4 3'),
    ('update logloom.audit_digests set digest = sha256(digest) where day = current_date - 2',
      '5 0 digest_changed 1 2'),
    ('delete from logloom.audit_digests where day = current_date - 2', '4 0 day_missing 2'),
    ('with d as (delete from logloom.audit_digests where day = current_date - 2) '
      'delete from logloom.audit_events where day = current_date - 2', '4 0 day_missing 0'),
    ('with d as (delete from logloom.audit_digests where day = current_date - 3) '
      'delete from logloom.audit_events where day = current_date - 3', '0 0 day_missing 2'),
    ('update logloom.audit_digests set events = 3 where events = 4', '4 0 digest_changed 4 3')
) c (change, verdict);

-- 4. Erasing, listing, limits
select is(
  pg_temp.by('alice', 'public.erase_audit_subject(p_subject => ''7'')'), '2', 'events are erased'
);
select pg_temp.link(0);
select is(
  (select array_agg(distinct concat_ws(' ', e.actor, e.targets, e.details, e.salt))
    from logloom.audit_events e where e.erased_at is not null)::text || pg_temp.verdict(),
  '{"erased [] {}"}7 2',
  'content and salt are gone; the chain holds, and the erasure is an event of it'
);
select is(
  pg_temp.by('alice', format(
    'select array(select e.action from public.list_audit_events(%s) e)', c.filters
  )), c.actions, 'list: ' || c.filters
)
from (
  values
    ('p_action => ''a.*'', p_source => ''app''', '{a.e,a.d,a.c,a.b}'),
    ('p_action => ''a.*'', p_limit => 1, p_after => (select e.event_id from '
      'public.list_audit_events(p_action => ''a.d'') e)', '{a.c}'),
    ('p_target => ''9'', p_actor => ''bob''', '{a.d}'),
    ('p_source => ''me''', 'PT400 Invalid p_source: app or logloom')
) c (filters, actions);
update logloom.plans set audit_events_per_day = 2, audit_retention_days = 2;
select matches(
  pg_temp.by('alice', 'public.record_audit_event(p_action => ''a'')'), 'PT429', 'a full day'
);
update logloom.plans set audit_retention_days = 1;
select is(
  pg_temp.by('alice', $$(
    select concat_ws(' ', v.events, v.fault)
    from public.verify_audit_trail(p_day_from => current_date - 2) v
  )$$),
  '2', 'a range may begin with days that are too old, but not deleted yet'
);
update logloom.plans set audit_retention_days = 2;
update logloom.audit_events set occurred_at = day where day < current_date - 2;
select logloom_private.purge_old_rows();
select is(
  pg_temp.verdict() || ' ' || cardinality(pg_temp.events()), '3 1 3',
  'old days are deleted, and the rest is still verified'
);
select is(
  pg_temp.tampered('delete from logloom.audit_digests where day = current_date - 3'),
  '0 0 day_missing 2', 'by the last digest of the old days'
);
select is(
  pg_temp.by('alice', 'public.erase_audit_subject(p_subject => e''\t '')'),
  'PT400 Missing required parameter: p_subject', 'events without a subject are nobody''s'
);
select is(
  pg_temp.by('alice', 'select array(select public.erase_audit_subject(p_subject => s) '
    'from unnest(''{alice,alice,bob}''::text[]) s) from logloom.audit(''c'')'),
  '{2,0,0}', 'who erases themselves reaches 0'
);

-- A row of abc is where its next one would be linked. An event of alice is erased, but not linked.
insert into logloom.audit_events (tenant_id, source, actor, action, subject, day, position)
values
  ('abc', 'app', 'a', 'a', '', logloom_private.utc_day(now()), 1),
  ('abc', 'app', 'a', 'b', '', null, null);
select pg_temp.link(0);
select is(
  pg_temp.verdict() || (
    select ' ' || j.last_error from logloom_private.jobs j where j.name = 'link_audit_events'
  ),
  '5 3 23505: duplicate key value violates unique constraint '
    '"audit_events_tenant_id_day_position_idx"',
  'a tenant whose events cannot be linked delays no other'
);

select * from finish();
rollback;
