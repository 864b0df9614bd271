begin;
select plan(6);

create temp table our_policies as
select p.*, coalesce(p.qual, '') || ' ' || coalesce(p.with_check, '') as expression
from pg_policies p
where p.schemaname in ('logloom', 'logloom_private', 'public');

select ok((select count(*) > 10 from our_policies), 'there are policies to look at');
select is_empty(
  $$select tablename, policyname, cmd from our_policies
    where policyname not like tablename || '\_' || lower(cmd) || '\_%'$$,
  'each policy is for one action and is called <table>_<action>_<who>'
);
select is_empty(
  $$select tablename, policyname, roles from our_policies
    where not roles <@ '{authenticated,supabase_auth_admin}'$$,
  'each policy names the role that it is for'
);
select is_empty(
  $$select policyname, expression from our_policies
    where tablename <> 'logs' and regexp_replace(
      expression, '\( SELECT logloom_private\.current_\w+\(\) AS \w+\)', '', 'g'
    ) ~ '[a-z_]\('$$,
  'policies read claims once per statement: functions are in a sub-select'
);
select is_empty(
  $$select p.tablename, p.policyname
    from our_policies p
    where p.roles = '{authenticated}' and p.tablename not in ('plans', 'logs')
      and p.expression !~ 'tenant_id = \( SELECT logloom_private\.current_(admin_)?tenant_id\(\)'$$,
  'each policy for users limits them to their tenant'
);
select results_eq(
  $$select rtrim(expression) collate "C" from our_policies where tablename = 'logs'$$,
  array['(tenant_id = logloom_private.current_tenant_id())' collate "C"],
  'the policy of records too, without a sub-select: distributed tables allow none'
);

select * from finish();
rollback;
