begin;
select plan(3);

select throws_ok(
  'select logloom_private.enable_citus(8)', '0A000', 'Citus is not in this database',
  'without Citus nothing is spread, and it says why'
);
select is(logloom_private.is_spread(), false, 'records are on one server');
select is_empty(
  $$select r.rolname from pg_catalog.pg_roles r
  where r.rolname in ('anon', 'authenticated', 'service_role')
    and has_function_privilege(r.oid, 'logloom_private.enable_citus(integer)', 'execute')$$,
  'no role of the API may spread records'
);

select * from finish();
rollback;
