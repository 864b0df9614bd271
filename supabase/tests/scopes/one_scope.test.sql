-- Only five functions make scopes, and each reading operation begins with checking one.
begin;
\ir ../actors.psql
select plan(7);

select results_eq(
  $$select p.proname::text collate "C"
    from pg_proc p
    where p.pronamespace = 'logloom_private'::regnamespace
      and p.prosrc ~ '\m[a-z_]*scope\.tenant_id :=|row\([^;]*\)::logloom_private\.reading_scope'
    order by 1$$,
  array[
    'managing_scope', 'scope_of_key', 'scope_of_session', 'scope_of_token', 'scope_of_view'
  ] collate "C",
  'only these functions make a scope or set its tenant'
);
select is_empty(
  $$select p.proname
    from pg_proc p
    where p.prorettype = 'logloom_private.reading_scope'::regtype and p.provolatile = 'v'$$,
  'making a scope writes nothing, because a written row stays locked while reading'
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
  'and each checks it for its own operation'
);
select is_empty(
  $$select o.operation
    from logloom_private.operation_list() o
    left join pg_proc p
      on p.pronamespace = 'logloom_private'::regnamespace and p.proname = o.reader
    where o.callers @> '{customer}'
      and (p.prosrc ~ format(
        'logloom_private\.(managing_scope|scope_of_dashboards)\(\s*p_scope, ''%s''', o.operation
      ))
        is not true$$,
  'and so does each operation of customers'
);
select is_empty(
  $$select p.proname
    from pg_proc p
    where p.pronamespace = 'logloom_private'::regnamespace
      and p.prosrc ~ 'reading_scope|scope_of_|checked_scope'
      and p.prosrc ~ 'current_setting'$$,
  'no part of it comes from a setting'
);
select is_empty(
  $$select p.oid::regprocedure::text
    from pg_proc p
    where p.pronamespace = 'public'::regnamespace
      and 'logloom_private.reading_scope'::regtype = any (p.proargtypes::oid[])$$,
  'no request can pass one'
);

select * from finish();
rollback;
