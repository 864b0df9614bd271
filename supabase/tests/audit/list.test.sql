begin;
\ir ../actors.psql
select plan(10);

insert into logloom.audit_events (tenant_id, occurred_at, actor, action, subject)
select 'acme', now() - i * interval '1 hour', 'alice',
  case when i % 2 = 0 then 'member.added' else 'member.removed' end, 'subject ' || i
from generate_series(1, 6) i;
insert into logloom.audit_events (tenant_id, actor, action, subject)
values ('umbrella', 'bob', 'member.added', 'theirs');

select pg_temp.act_as_user('acme', 'alice');
select is(
  array(select e.subject from public.list_tenant_audit_events() e),
  '{subject 1,subject 2,subject 3,subject 4,subject 5,subject 6}',
  'the tenant''s events, newest first'
);
select is(
  array(
    select e.subject
    from public.list_tenant_audit_events(
      p_limit => 2,
      p_after => (select l.event_id from public.list_tenant_audit_events(p_limit => 2) l offset 1)
    ) e
  ),
  '{subject 3,subject 4}', 'in pages'
);
select is(
  array(select e.subject from public.list_tenant_audit_events(p_action => 'member.added') e),
  '{subject 2,subject 4,subject 6}', 'by action'
);
select throws_ok(
  $$select public.list_tenant_audit_events(p_action => 'member.add')$$, 'PT400',
  'Unknown p_action: member.add', 'a mistyped action is refused, not empty'
);
select is(
  array(
    select e.subject
    from public.list_tenant_audit_events(p_ts_from => 'now-4h', p_ts_to => 'now-2h') e
  ),
  '{subject 3,subject 4}', 'by time'
);
select throws_ok(
  format('select public.list_tenant_audit_events(p_after => %L)', gen_random_uuid()),
  'PT400', 'Invalid p_after: no such audit event', 'after an unknown event'
);
select throws_ok(
  $$insert into logloom.audit_events (tenant_id, actor, action, subject)
    values ('acme', 'x', 'member.added', 'x')$$,
  '42501', null, 'a user cannot add events'
);
select throws_ok('delete from logloom.audit_events', '42501', null, 'or delete them');
select pg_temp.act_as_service_role();
select throws_ok('delete from logloom.audit_events', '42501', null, 'nor can a service');

select pg_temp.act_as_postgres();
update logloom_private.settings set audit_lifetime = '5 hours 30 minutes';
select logloom_private.purge_old_rows();
select is(
  (select count(*) from logloom.audit_events where tenant_id = 'acme'), 5::bigint,
  'events are deleted after their lifetime'
);

select * from finish();
rollback;
