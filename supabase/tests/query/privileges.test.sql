begin;
select plan(3);

create temporary table compiler as
select p.oid, p.proname, p.provolatile, p.prosecdef
from pg_catalog.pg_proc p
where p.pronamespace = 'logloom_private'::regnamespace
  -- The list of errors is left out, because everybody may call it.
  and (p.proname ~ '^query_(?!errors$)' or p.proname in (
    'compile_query', 'validate_query', 'json_number', 'finite_double'
  ));

select is(
  (select array_agg(distinct proname::text) from compiler, unnest(array[
    'anon', 'authenticated', 'service_role'
  ]) role where has_function_privilege(role, oid, 'execute')),
  null, 'no API role can call a part of the compiler'
);
select is(
  (select array_agg(proname::text) from compiler
    where prosecdef or provolatile = 'v'),
  null, 'no part is a definer or volatile'
);
select cmp_ok((select count(*) from compiler), '>', 40::bigint, 'and the compiler has parts');

select * from finish();
rollback;
