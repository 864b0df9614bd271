begin;
select plan(12);

create temp table grantees (role text, oid oid);
insert into grantees
select r.rolname, r.oid from pg_roles r
where r.rolname in ('anon', 'authenticated', 'service_role', 'supabase_auth_admin', 'authenticator')
union all
select 'public', 0;

create temp table table_grants as
select c.oid, n.nspname || '.' || c.relname as name, c.relkind, c.relispartition, g.role,
  a.privilege_type as privilege
from pg_class c
join pg_namespace n on n.oid = c.relnamespace
cross join lateral aclexplode(c.relacl) a
join grantees g on g.oid = a.grantee
where n.nspname in ('logloom', 'logloom_private', 'public');

create temp table column_grants as
select c.oid, n.nspname || '.' || c.relname as name, c.relispartition, t.attname, g.role,
  a.privilege_type as privilege
from pg_class c
join pg_namespace n on n.oid = c.relnamespace
join pg_attribute t on t.attrelid = c.oid
cross join lateral aclexplode(t.attacl) a
join grantees g on g.oid = a.grantee
where n.nspname in ('logloom', 'logloom_private', 'public');

create temp table function_grants as
select p.oid, n.nspname as schema, p.oid::regprocedure::text as function, p.proname as name,
  p.prosecdef, g.role
from pg_proc p
join pg_namespace n on n.oid = p.pronamespace
cross join lateral aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
join grantees g on g.oid = a.grantee
where n.nspname in ('logloom', 'logloom_private', 'public');

select is_empty(
  $$select name, role, privilege from table_grants where relispartition
    union all
    select name, role, privilege from column_grants where relispartition$$,
  'nothing is granted on partitions: policies apply only through the parent'
);
select is_empty(
  $$select name, role, privilege from table_grants where name not like 'logloom.%'
    union all
    select name, role, privilege from column_grants where name not like 'logloom.%'$$,
  'nothing is granted on tables and sequences outside logloom'
);
select is_empty(
  $$select name, role, privilege from table_grants where role in ('anon', 'public')
    union all
    select name, role, privilege from column_grants where role in ('anon', 'public')$$,
  'nothing is granted to anon and PUBLIC'
);
select is_empty(
  $$select name, role, privilege from table_grants
    where privilege not in ('SELECT', 'DELETE') or role = 'supabase_auth_admin'$$,
  'inserts and updates are granted column by column'
);
select is_empty(
  $$select name, attname, role, privilege from column_grants
    where attname in ('key_digest') and privilege <> 'INSERT'
      or attname in ('tenant_id', 'created_by', 'created_at') and privilege = 'UPDATE'$$,
  'no role reads a digest of a key or moves a row to another tenant or creator'
);
select set_eq(
  $$select distinct name || ' ' || attname from column_grants where role = 'supabase_auth_admin'$$,
  array[
    'logloom.tenant_members tenant_id', 'logloom.tenant_members user_id',
    'logloom.tenant_members created_at', 'logloom.tenant_members chosen_at'
  ],
  'Auth can read only who belongs to which tenant'
);
select is_empty(
  $$select function, role from function_grants
    where role in ('public', 'anon', 'supabase_auth_admin') and schema = 'public'$$,
  'PUBLIC and anon may call no function in public'
);
select set_eq(
  $$select function from function_grants where role = 'public'$$,
  array[
    'logloom_private.check_request()', 'logloom_private.call_host_pre_request()',
    'logloom_private.check_operation(text)', 'logloom_private.requested_operation(text,text)',
    'logloom_private.operation_list()', 'logloom_private.operations()',
    'logloom_private.operations_of_service_role()',
    'logloom_private.refuse(text,text[])',
    'logloom_private.error_named(text,text[])', 'logloom_private.errors(text)',
    'logloom_private.callers_errors()'
  ],
  'PUBLIC may call only what the pre-request check needs'
);
select set_eq(
  $$select function from function_grants where role = 'anon'$$,
  array[
    'logloom_private.claims()', 'logloom_private.usable_id(text)',
    'logloom_private.current_tenant_id(jsonb)',
    'logloom_private.current_user_id()', 'logloom_private.is_service_role()',
    'logloom_private.resolve_tenant(text)', 'logloom_private.caller_tenant(text)',
    'logloom_private.tenant_of_claims(jsonb)',
    'logloom_private.require_user_id()', 'logloom.log(text,text,jsonb,text,text)',
    'logloom_private.add_sql_log(text,text,jsonb,text,text,text)'
  ],
  'anon may also call only what finds out the caller, and log from SQL'
);
select is_empty(
  $$select p.oid::regprocedure from pg_proc p
    where p.pronamespace = 'logloom_private'::regnamespace and p.proname like '%\_errors'
      and p.prorettype <> 'logloom_private.error'::regtype
      and has_function_privilege('authenticated', p.oid, 'execute')$$,
  'users may call the lists of errors, and no other function with such a name'
);
select set_eq(
  $$select f.name from function_grants f where f.role in ('anon', 'public') and f.prosecdef$$,
  '{add_sql_log}'::text[], 'anon may call no definer function but the one that logs'
);
select set_eq(
  $$select f.name from function_grants f
    where f.schema = 'public' and f.role = 'service_role'
      and not has_function_privilege('authenticated', f.oid, 'execute')$$,
  (
    select array_agg(n.name)
    from unnest(
      array[
        'ingest_signer', 'ingest_text', 'run_writer', 'health_report',
        'claim_alert_notifications', 'claim_log_archive_work', 'claim_log_streams',
        'complete_alert_notification', 'exchange_platform_logs', 'list_unsealed_alert_secrets',
        'match_log_archive',
        'open_log_portal_session', 'read_log_stream_batch', 'read_logs', 'seal_alert_secret',
        'set_log_plans',
        'settle_alert_notification', 'settle_log_archive_work', 'settle_log_stream_batch'
      ]
    ) n (name)
    where exists (
      select from pg_proc p
      where p.proname = n.name and p.pronamespace = 'public'::regnamespace
    )
  ),
  'only service_role may call exactly these functions of public'
);

select * from finish();
rollback;
