begin;
select plan(13);

create temp table our_functions as
select p.*, p.oid::regprocedure::text as signature, n.nspname as schema, l.lanname as language
from pg_proc p
join pg_namespace n on n.oid = p.pronamespace
join pg_language l on l.oid = p.prolang
where n.nspname in ('logloom', 'logloom_private', 'public')
  and not exists (
    select from pg_depend d where d.objid = p.oid and d.deptype = 'e'
  );

select ok((select count(*) > 50 from our_functions), 'there are functions to look at');
select is_empty(
  $$select signature, language from our_functions
    where schema = 'public' and language <> 'plpgsql'$$,
  'public functions are PL/pgSQL: an inlined SQL function escapes the EXECUTE check'
);
select is_empty(
  $$select p.signature from our_functions p join our_functions o on o.proname = p.proname
    where p.schema = 'logloom_private' and o.schema = 'public'$$,
  'what an operation calls says in its own name what it does'
);
select is_empty(
  $$select signature from our_functions where schema <> 'logloom_private' and prosecdef$$,
  'security definer is for private functions only'
);
select is_empty(
  $$select signature from our_functions
    where not coalesce(proconfig, '{}') @> '{"search_path=pg_catalog, pg_temp"}'
      and signature not in (
        'logloom_private.write_logs()', 'logloom_private.evaluate_alerts()',
        'logloom_private.run_retention(date)',
        'logloom_private.run_job(text,regprocedure)',
        'logloom_private.check_request()', 'logloom_private.call_host_pre_request()'
      )$$,
  'every function has the search_path pg_catalog, pg_temp, save the procedures that commit and '
  'what runs the project''s own pre-request function'
);
select is_empty(
  $$select f.signature, c.call[1]
    from our_functions f
    cross join regexp_matches(f.prosrc, '(?:^|[^.\w])([a-z_]\w*)\(', 'g') c (call)
    where not coalesce(f.proconfig, '{}') @> '{"search_path=pg_catalog, pg_temp"}'
      and c.call[1] not in ('array', 'coalesce', 'extract', 'least')$$,
  'which a set clause would forbid to: they call every function by its schema'
);
select is_empty(
  $$select signature from our_functions where prosecdef and prosrc !~ '-- definer because \w'$$,
  'a definer function says why it is one'
);
select is_empty(
  $$select signature from our_functions
    where schema = 'public' and obj_description(oid, 'pg_proc') is null$$,
  'every public function has a comment'
);
select is_empty(
  $$select signature from our_functions
    where schema = 'public' and language = 'plpgsql'
      and prosrc ~ 'refuse|require_|resolve_tenant'
      and obj_description(oid, 'pg_proc') !~ 'Errors: PT\d'$$,
  'the comment of an operation that refuses lists its errors'
);
select is_empty(
  $$select proname from our_functions where schema = 'public'
    group by proname having count(*) > 1$$,
  'no public function is overloaded: PostgREST could not tell which is meant'
);
select is_empty(
  $$select signature from our_functions where schema = 'public' and pronargdefaults <> pronargs$$,
  'every parameter of an operation has a default, so that a missing one is ours to answer'
);
select set_eq(
  $$select proname::text from our_functions where schema = 'public'$$,
  $$select unnest(logloom_private.operations())$$,
  'the pre-request check knows every operation: logloom_private.operations()'
);
select is_empty(
  $$select signature from our_functions
    where schema = 'public' and prorettype in ('void'::regtype, 'record'::regtype)$$,
  'every operation has a typed result'
);

select * from finish();
rollback;
