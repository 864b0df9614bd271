-- A request's scope is made in three functions, and each reading operation begins with it.
begin;
\ir ../actors.psql
select plan(7);

select results_eq(
  $$select p.proname::text collate "C"
    from pg_proc p
    where p.pronamespace = 'logloom_private'::regnamespace
      and p.prosrc ~ '\m[a-z_]*scope\.tenant_id :='
    order by 1$$,
  array['scope_of_key', 'scope_of_session', 'scope_of_token', 'scope_of_view'] collate "C",
  'whose records a scope has is set where it is made of a token, a key or a session, or of the '
  'view of what reads without a request'
);
select is_empty(
  $$select p.proname
    from pg_proc p
    where p.pronamespace = 'logloom_private'::regnamespace
      and p.prosrc ~ 'row\([^;]*\)::logloom_private\.reading_scope'$$,
  'and nowhere at once'
);
select is_empty(
  $$select p.proname
    from pg_proc p
    where p.prorettype = 'logloom_private.reading_scope'::regtype and p.provolatile = 'v'$$,
  'and by what writes nothing, which would be locked for as long as the read takes'
);
select is_empty(
  $$select o.operation
    from logloom_private.reading_operations() o
    where not exists (
      select
      from pg_proc p
      where p.pronamespace = 'logloom_private'::regnamespace and p.proname = o.reader
        and p.proargnames[1] = 'p_scope'
        and p.proargtypes[0] = 'logloom_private.reading_scope'::regtype
    )$$,
  'the first parameter of every reading operation is the scope'
);
select is_empty(
  $$select o.operation
    from logloom_private.reading_operations() o
    join pg_proc p
      on p.pronamespace = 'logloom_private'::regnamespace and p.proname = o.reader
    where p.prosrc !~ format('logloom_private\.checked_scope\(p_scope, ''%s''', o.operation)$$,
  'which is checked for the operation itself'
);
select is_empty(
  $$select p.proname
    from pg_proc p
    where p.pronamespace = 'logloom_private'::regnamespace
      and p.prosrc ~ 'reading_scope|scope_of_|checked_scope'
      and p.prosrc ~ 'current_setting'$$,
  'nothing of it comes from a setting'
);
select is_empty(
  $$select p.oid::regprocedure::text
    from pg_proc p
    where p.pronamespace = 'public'::regnamespace
      and 'logloom_private.reading_scope'::regtype = any (p.proargtypes::oid[])$$,
  'and no request gives one'
);

select * from finish();
rollback;
