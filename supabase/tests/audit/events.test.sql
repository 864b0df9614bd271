begin;
\ir ../actors.psql
select plan(13);

create function pg_temp.last_event()
returns text
language sql
as $$
  select format('%s %s %s', e.actor, e.action, e.details)
  from logloom.audit_events e
  where e.tenant_id = 'acme'
  order by e.occurred_at desc
  limit 1
$$;
grant execute on function pg_temp.last_event() to public;

select pg_temp.act_as_user('acme', 'alice');
create temp table created as select * from public.create_api_key(p_name => 'web');
select is(
  pg_temp.last_event(),
  format('alice api_key.created {"name": "web", "key_prefix": "%s"}', c.key_prefix), 'a created key'
) from created c;
select is(
  (select subject from public.list_tenant_audit_events()), c.key_id::text, 'the subject is its id'
) from created c;
select public.revoke_api_key(p_key_id => c.key_id) from created c;
select matches(
  pg_temp.last_event(), '^alice api_key.revoked .*"revoked_at": {"to": "', 'a revoked key'
);

select public.update_tenant_settings(pipeline_config => '{"retention_days": 3}');
select is(
  pg_temp.last_event(),
  'alice settings.changed {"retention_days": {"to": 3, "from": null}}', 'changed settings'
);
select public.update_tenant_settings(pipeline_config => '{"retention_days": 3}');
select is(
  (select count(*) from public.list_tenant_audit_events(p_action => 'settings.changed')), 1::bigint,
  'saving the same values is not a change'
);

select pg_temp.act_as_service_role();
select public.update_tenant_settings('acme', pipeline_config => '{"retention_days": 2}');
select is(
  pg_temp.last_event(),
  'service_role settings.changed {"retention_days": {"to": 2, "from": 3}}', 'a service'
);

select pg_temp.act_as_postgres();
insert into logloom.tenant_members (tenant_id, user_id, role)
values ('acme', '11111111-1111-4111-8111-111111111111', 'member');
select is(pg_temp.last_event(), 'postgres member.added {"role": "member"}', 'an added member');
update logloom.tenant_members set role = 'admin' where tenant_id = 'acme';
select is(
  pg_temp.last_event(),
  'postgres member.changed {"role": {"to": "admin", "from": "member"}}', 'a changed role'
);
delete from logloom.tenant_members where tenant_id = 'acme';
select is(pg_temp.last_event(), 'postgres member.removed {"role": "admin"}', 'a removed member');
update logloom.tenants set plan_id = 'pro' where tenant_id = 'acme';
select is(
  pg_temp.last_event(),
  'postgres plan.changed {"plan_id": {"to": "pro", "from": "free"}}', 'a changed plan'
);

update logloom.api_keys set last_used_at = now() where tenant_id = 'acme';
select is(
  (select count(*) from logloom.audit_events where tenant_id = 'acme'), 8::bigint,
  'using a key is not audited'
);
select is_empty(
  $$select from logloom.audit_events e, logloom.api_keys k
    where e.details::text like '%' || encode(k.key_digest, 'hex') || '%'
      or e.details::text like '%digest%'$$,
  'the log has no digests'
);
delete from logloom.tenants where tenant_id = 'acme';
select is(
  (select count(*) from logloom.audit_events where tenant_id = 'acme'), 9::bigint,
  'the log outlives the tenant'
);

select * from finish();
rollback;
