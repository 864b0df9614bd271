-- Who may call which operation on whose objects. One row a case; a public function without a row
-- fails the test. To add an operation, add its rows to "cases" below.
begin;
\ir ../actors.psql

create temp table cases (
  id integer generated always as identity,
  operation text not null,
  -- Named arguments. {names} stand for ids of the objects below.
  arguments text not null,
  -- What each actor gets: ok, or an SQLSTATE.
  owner text not null,
  colleague text not null,
  other_tenant text not null,
  service_role text not null
);

-- The owner is user "alice" of tenant "acme", who made every object. Everybody without a token or
-- a tenant is refused everywhere before the operation is reached, so they have no column.
insert into cases (operation, arguments, owner, colleague, other_tenant, service_role)
values
  ('list_api_keys', '', 'ok', 'ok', 'ok', 'PT400'),
  ('list_api_keys', 'p_tenant_id => ''acme''', 'ok', 'ok', 'PT403', 'ok'),
  ('list_api_keys', 'p_after => {key}', 'ok', 'ok', 'PT400', 'PT400'),
  ('create_api_key', 'p_name => ''new''', 'ok', 'ok', 'ok', 'PT400'),
  ('create_api_key', 'p_tenant_id => ''acme'', p_name => ''new''', 'ok', 'ok', 'PT403', 'ok'),
  ('revoke_api_key', 'p_key_id => {key}', 'ok', 'ok', 'PT404', 'PT400'),
  ('revoke_api_key', 'p_tenant_id => ''acme'', p_key_id => {key}', 'ok', 'ok', 'PT403', 'ok'),
  ('revoke_api_key', 'p_tenant_id => ''umbrella'', p_key_id => {key}',
    'PT403', 'PT403', 'PT404', 'PT404'),
  ('get_api_key_usage', 'p_key_id => {key}', 'ok', 'ok', 'PT404', 'PT400'),
  ('get_api_key_usage', 'p_tenant_id => ''acme'', p_key_id => {key}', 'ok', 'ok', 'PT403', 'ok'),
  ('get_api_key_usage', 'p_tenant_id => ''umbrella'', p_key_id => {key}',
    'PT403', 'PT403', 'PT404', 'PT404'),

  ('list_saved_searches', '', 'ok', 'ok', 'ok', 'PT400'),
  ('list_saved_searches', 'p_after => {shared_search}', 'ok', 'ok', 'PT400', 'PT400'),
  ('list_saved_searches', 'p_after => {private_search}', 'ok', 'PT400', 'PT400', 'PT400'),
  ('get_saved_search', 'p_id => {shared_search}', 'ok', 'ok', 'PT404', 'PT400'),
  ('get_saved_search', 'p_id => {private_search}', 'ok', 'PT404', 'PT404', 'PT400'),
  ('create_saved_search', 'p_name => ''new'', p_query_dsl => ''ts:*''', 'ok', 'ok', 'ok', 'PT400'),
  ('update_saved_search', 'p_id => {shared_search}, p_name => ''new''',
    'ok', 'PT403', 'PT404', 'PT400'),
  ('update_saved_search', 'p_id => {private_search}, p_name => ''new''',
    'ok', 'PT404', 'PT404', 'PT400'),
  ('delete_saved_search', 'p_id => {shared_search}', 'ok', 'PT403', 'PT404', 'PT400'),
  ('delete_saved_search', 'p_id => {private_search}', 'ok', 'PT404', 'PT404', 'PT400'),
  ('check_plan_feature', 'p_feature => ''saved_searches''', 'ok', 'ok', 'ok', 'PT400'),
  ('get_saved_search_count', '', 'ok', 'ok', 'ok', 'PT400'),
  ('get_saved_search_categories', '', 'ok', 'ok', 'ok', 'PT400'),

  ('list_alert_rules', '', 'ok', 'ok', 'ok', 'PT400'),
  ('list_alert_rules', 'p_tenant_id => ''acme''', 'ok', 'ok', 'PT403', 'ok'),
  ('list_alert_rules', 'p_after => {rule}', 'ok', 'ok', 'PT400', 'PT400'),
  ('get_alert_rule', 'p_rule_id => {rule}', 'ok', 'ok', 'PT404', 'PT400'),
  ('create_alert_rule', '{rule_arguments}', 'ok', 'ok', 'ok', 'PT400'),
  ('create_alert_rule', 'p_tenant_id => ''acme'', {rule_arguments}', 'ok', 'ok', 'PT403', 'ok'),
  ('update_alert_rule', 'p_rule_id => {rule}, p_name => ''new''', 'ok', 'ok', 'PT404', 'PT400'),
  ('delete_alert_rule', 'p_rule_id => {rule}', 'ok', 'ok', 'PT404', 'PT400'),
  ('list_alert_history', '', 'ok', 'ok', 'ok', 'PT400'),
  ('list_alert_history', 'p_rule_id => {rule}', 'ok', 'ok', 'ok', 'PT400'),
  ('list_alert_history', 'p_tenant_id => ''acme''', 'ok', 'ok', 'PT403', 'ok'),
  ('list_alert_history', 'p_after => {alert}', 'ok', 'ok', 'PT400', 'PT400'),
  ('acknowledge_alert', 'p_alert_id => {alert}', 'ok', 'ok', 'PT404', 'PT400'),

  ('list_alert_deliveries', 'p_alert_id => {alert}', 'ok', 'ok', 'PT404', 'PT400'),
  ('list_alert_deliveries', 'p_rule_id => {rule}', 'ok', 'ok', 'ok', 'PT400'),
  ('list_alert_deliveries', 'p_alert_id => {alert}, p_after => {delivery}',
    'ok', 'ok', 'PT404', 'PT400'),
  ('list_alert_deliveries', 'p_rule_id => {rule}, p_after => {delivery}',
    'ok', 'ok', 'PT400', 'PT400'),
  ('retry_alert_delivery', 'p_delivery_id => {delivery}', 'ok', 'ok', 'PT404', 'PT400'),
  ('test_alert_rule', 'p_rule_id => {rule}', 'ok', 'ok', 'PT404', 'PT400'),
  ('rotate_alert_webhook_secret', 'p_rule_id => {rule}', 'ok', 'ok', 'PT404', 'PT400'),
  ('confirm_alert_address', 'p_email => ''b@acme.example'', p_code => ''123456''',
    'ok', 'ok', 'PT400', 'PT400'),
  ('list_alert_addresses', '', 'ok', 'ok', 'ok', 'PT400'),
  ('preview_alert_rule', 'p_rule_id => {rule}', 'ok', 'ok', 'PT404', 'PT400'),
  ('preview_alert_rule', 'p_tenant_id => ''acme'', p_rule_id => {rule}',
    'ok', 'ok', 'PT403', 'ok'),

  ('get_current_tenant', '', 'ok', 'ok', 'ok', 'PT400'),
  ('get_current_tenant', 'p_tenant_id => ''acme''', 'ok', 'ok', 'PT403', 'ok'),
  ('get_tenant_settings', '', 'ok', 'ok', 'ok', 'PT400'),
  ('get_tenant_settings', 'p_tenant_id => ''acme''', 'ok', 'ok', 'PT403', 'ok'),
  ('update_tenant_settings', 'pipeline_config => ''{"compression": false}''',
    'ok', 'ok', 'ok', 'PT400'),
  ('update_tenant_settings',
    'p_tenant_id => ''acme'', pipeline_config => ''{"compression": false}''',
    'ok', 'ok', 'PT403', 'ok'),

  ('rotate_api_key', 'p_key_id => {key}', 'ok', 'ok', 'PT404', 'PT400'),
  ('rotate_api_key', 'p_tenant_id => ''acme'', p_key_id => {key}', 'ok', 'ok', 'PT403', 'ok'),
  ('rotate_api_key', 'p_tenant_id => ''umbrella'', p_key_id => {key}',
    'PT403', 'PT403', 'PT404', 'PT404'),
  ('delete_logs',
    'p_query_dsl => ''ts:*'', p_ts_from => ''now-1h'', p_ts_to => ''now''',
    'ok', 'ok', 'ok', 'PT400'),
  ('list_log_retention_runs', '', 'ok', 'ok', 'ok', 'PT400'),
  ('list_log_retention_runs', 'p_tenant_id => ''acme''', 'ok', 'ok', 'PT403', 'ok'),
  ('list_tenant_audit_events', '', 'ok', 'ok', 'ok', 'PT400'),
  ('list_tenant_audit_events', 'p_tenant_id => ''acme''', 'ok', 'ok', 'PT403', 'ok'),
  ('get_tenant_usage', '', 'ok', 'ok', 'ok', 'PT400'),
  ('get_tenant_usage', 'p_tenant_id => ''acme''', 'ok', 'ok', 'PT403', 'ok'),

  ('list_tenant_members', '', 'ok', 'ok', 'ok', 'PT400'),
  ('list_tenant_members', 'p_tenant_id => ''acme''', 'ok', 'ok', 'PT403', 'ok'),
  ('add_tenant_member', 'p_user_id => ''eve'', p_role => ''owner''', 'ok', 'PT403', 'ok', 'PT400'),
  ('add_tenant_member', 'p_tenant_id => ''acme'', p_user_id => ''eve'', p_role => ''owner''',
    'ok', 'PT403', 'PT403', 'ok'),
  ('set_tenant_member_role', 'p_user_id => ''bob'', p_role => ''owner''',
    'ok', 'PT403', 'PT404', 'PT400'),
  ('set_tenant_member_role', 'p_tenant_id => ''acme'', p_user_id => ''bob'', p_role => ''owner''',
    'ok', 'PT403', 'PT403', 'ok'),
  ('remove_tenant_member', 'p_user_id => ''bob''', 'ok', 'PT403', 'PT404', 'PT400'),
  ('remove_tenant_member', 'p_tenant_id => ''acme'', p_user_id => ''bob''',
    'ok', 'PT403', 'PT403', 'ok'),
  ('delete_tenant', 'p_tenant_id => ''acme''', 'ok', 'PT403', 'PT403', 'ok'),
  ('create_tenant', 'p_tenant_id => ''new''', 'PT400', 'PT400', 'PT400', 'PT400'),

  ('run_writer', '', '42501', '42501', '42501', 'ok'),
  ('search_logs', '', 'ok', 'ok', 'ok', 'PT400'),
  ('log_stats', '', 'ok', 'ok', 'ok', 'PT400'),
  ('log_stats', 'p_query_dsl => ''ts:* | count() by service''', 'ok', 'ok', 'ok', 'PT400'),
  ('log_stats', 'p_query_dsl => ''ts:* | count() by host''', 'ok', 'ok', 'ok', 'PT400'),
  ('log_histogram', '', 'ok', 'ok', 'ok', 'PT400'),
  ('log_series', '', 'ok', 'ok', 'ok', 'PT400'),
  ('log_series', 'p_query_dsl => ''| count() by service''', 'ok', 'ok', 'ok', 'PT400'),
  ('list_log_fields', '', 'ok', 'ok', 'ok', 'PT400'),
  ('get_log', 'p_id => {log}', 'ok', 'ok', 'PT404', 'PT400'),
  ('get_log', 'p_id => {log}, p_ts => now()', 'ok', 'ok', 'PT404', 'PT400'),
  ('get_log_context', 'p_id => {log}', 'ok', 'ok', 'PT404', 'PT400'),
  ('tail_logs', '', 'ok', 'ok', 'ok', 'PT400'),
  ('tail_logs', 'p_cursor => {tail_cursor}', 'ok', 'ok', 'ok', 'PT400'),
  ('run_saved_search', 'p_id => {shared_search}', 'ok', 'ok', 'PT404', 'PT400'),
  ('run_saved_search', 'p_id => {private_search}', 'ok', 'PT404', 'PT404', 'PT400'),
  ('validate_query', 'p_query_dsl => ''ts:*''', 'ok', 'ok', 'ok', 'PT400'),

  (
    'ingest_requests', 'p_requests => ''[{"p_tenant_id": "acme", "p_ts": [null]}]''',
    '42501', '42501', '42501', 'ok'
  ),
  ('ingest_logs', 'p_tenant_id => ''acme'', p_ts => array[now()]', '42501', '42501', '42501', 'ok'),
  ('claim_alert_notifications', 'p_limit => 1', '42501', '42501', '42501', 'ok'),
  ('settle_alert_notification',
    'p_notification_id => {delivery}, p_claim_id => {delivery}, p_outcome => ''delivered''',
    '42501', '42501', '42501', 'ok'),
  ('health_report', '', '42501', '42501', '42501', 'ok');

-- The colleague is a member. What takes an admin, and what an owner:
alter table cases add column admin text;
update cases set admin = colleague;
update cases set colleague = 'PT403'
where operation in (
  'create_api_key', 'revoke_api_key', 'rotate_api_key', 'update_tenant_settings', 'delete_logs'
);

create temp table actors (
  actor text primary key, role text, claims jsonb, tenant_id text, sees_private boolean
);
insert into actors
values
  ('owner', 'authenticated', '{"tenant_id": "acme", "sub": "alice"}', 'acme', true),
  ('colleague', 'authenticated', '{"tenant_id": "acme", "sub": "bob"}', 'acme', false),
  ('admin', 'authenticated', '{"tenant_id": "acme", "sub": "carol"}', 'acme', false),
  ('removed', 'authenticated', '{"tenant_id": "acme", "sub": "dave"}', null, false),
  ('other_tenant', 'authenticated', '{"tenant_id": "umbrella", "sub": "alice"}', 'umbrella', false),
  ('service_role', 'service_role', '{"role": "service_role"}', null, true),
  ('anon', 'anon', '{"role": "anon"}', null, false),
  ('no_tenant', 'authenticated', '{"sub": "alice", "user_metadata": {"tenant_id": "acme"}}', null,
    false);

insert into logloom.tenants (tenant_id, plan_id) values ('acme', 'pro'), ('umbrella', 'pro');
insert into logloom.tenant_members (tenant_id, user_id, role)
values ('acme', 'alice', 'owner'), ('acme', 'bob', 'member'), ('acme', 'carol', 'admin');
update logloom_private.settings set tenants_by_users = true;
insert into logloom_private.notification_addresses (
  tenant_id, mailbox, confirmed_at, code_hash, code_expires_at
)
values
  ('acme', 'a@acme.example', now(), null, null),
  (
    'acme', 'b@acme.example', null, extensions.crypt('123456', extensions.gen_salt('bf', 4)),
    now() + interval '1 day'
  );

create temp table objects (name text primary key, sql text);
with k as (
  insert into logloom.api_keys (tenant_id, name, key_prefix, key_digest)
  values ('acme', 'acme-only', 'll_aaaaaaaa', sha256('key'))
  returning key_id
), s as (
  insert into logloom.saved_searches (tenant_id, created_by, name, query_dsl, category, is_shared)
  values
    ('acme', 'alice', 'acme-only shared', 'ts:*', 'acme-only', true),
    ('acme', 'alice', 'alice-only', 'ts:*', 'alice-only', false)
  returning id, is_shared
), r as (
  insert into logloom.alert_rules (
    tenant_id, name, query_dsl, threshold, comparison, window_minutes, cooldown_minutes, enabled,
    notification_destinations, notification_config
  )
  values (
    'acme', 'acme-only', 'ts:*', 1, 'gt', 5, 5, true, '{email}', '{"email": "a@acme.example"}'
  )
  returning rule_id
), l as (
  insert into logloom.logs (id, tenant_id, ts, received_at, arrival, msg, service, host)
  values (
    gen_random_uuid(), 'acme', now() - interval '2 minutes', now(), 1,
    'acme-only', 'acme-only', 'acme-only'
  )
  returning id
), h as (
  insert into logloom.alert_history (tenant_id, rule_id, value, threshold)
  select 'acme', r.rule_id, 2, 1 from r
  returning alert_id, rule_id
), d as (
  insert into logloom_private.notifications (
    tenant_id, rule_id, alert_id, channel, address, body, expires_at, status, settled_at
  )
  select 'acme', h.rule_id, h.alert_id, 'email', 'a@acme.example', '{}', now(), 'failed', now()
  from h
  returning notification_id
)
insert into objects
select 'key', quote_literal(k.key_id) from k
union all
select case when s.is_shared then 'shared_search' else 'private_search' end, quote_literal(s.id)
from s
union all
select 'rule', quote_literal(r.rule_id) from r
union all
select 'alert', quote_literal(h.alert_id) from h
union all
select 'log', quote_literal(l.id) from l
union all
select 'tail_cursor',
  quote_literal(logloom_private.encode_cursor(array['tail', '0', gen_random_uuid()::text]))
union all
select 'delivery', quote_literal(d.notification_id) from d
union all
select 'rule_arguments',
  'p_name => ''new'', p_query_dsl => ''ts:*'', p_threshold => 1, p_comparison => ''gt'', '
  'p_window_minutes => 5, p_cooldown_minutes => 5, p_enabled => true';
select logloom_private.recount_records(logloom_private.utc_day(now() - interval '2 minutes'));

-- A request as PostgREST makes it: the check, then the operation; then everything is undone.
create function pg_temp.request(p_actor text, p_operation text, p_arguments text)
returns text
language plpgsql
as $$
declare
  v_actor actors;
  v_object objects;
  v_arguments text := p_arguments;
  v_answer text;
begin
  select a.* into v_actor from actors a where a.actor = p_actor;
  for v_object in select o.* from objects o loop
    v_arguments := replace(v_arguments, '{' || v_object.name || '}', v_object.sql);
  end loop;
  begin
    perform set_config('request.headers', '{"authorization": "Bearer token"}', true),
      set_config('request.method', 'POST', true),
      set_config('request.path', '/rpc/' || p_operation, true),
      set_config('search_path', '"public", "extensions"', true);
    perform pg_temp.act_as(v_actor.role, v_actor.claims);
    perform logloom_private.check_request();
    execute format(
      'select coalesce(jsonb_agg(r), ''[]'')::text from public.%I(%s) r', p_operation, v_arguments
    )
    into v_answer;
    raise sqlstate 'UNDO0';
  exception
    when sqlstate 'UNDO0' then
      perform pg_temp.act_as_postgres();
      return case
        when v_answer like '%acme%' and v_actor.tenant_id <> 'acme' then 'a leak: ' || v_answer
        when v_answer like '%alice-only%' and not v_actor.sees_private then 'a leak: ' || v_answer
        else 'ok'
      end;
    when others then
      perform pg_temp.act_as_postgres();
      return sqlstate;
  end;
end;
$$;

create temp table operations as
select p.proname::text as operation
from pg_proc p
where p.pronamespace = 'public'::regnamespace;

select plan(
  (select count(*)::integer * 8 from cases) + 2
);

select is(
  pg_temp.request(a.actor, c.operation, c.arguments),
  case a.actor
    when 'owner' then c.owner
    when 'colleague' then c.colleague
    when 'admin' then c.admin
    when 'other_tenant' then c.other_tenant
    when 'service_role' then c.service_role
    when 'anon' then 'PT401'
    -- Who has a token, and a tenant already.
    else case c.operation when 'create_tenant' then 'PT400' else 'PT401' end
  end,
  format('%s(%s) by %s', c.operation, c.arguments, a.actor)
)
from cases c
cross join actors a
order by c.id, a.actor;

select is_empty(
  'select operation from operations except select operation from cases',
  'every function in public has its rows here'
);
select is_empty(
  'select operation from cases except select operation from operations',
  'every row here is about a function in public'
);

select * from finish();
rollback;
