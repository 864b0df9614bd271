begin;
select plan(10);

create temp table our_functions as
select p.oid::regprocedure::text as signature,
  concat(p.prosrc, pg_get_function_sqlbody(p.oid)) as source,
  p.prorettype = 'logloom_private.error'::regtype and p.proretset and p.pronargs = 0 as is_register,
  left(p.proname, -length('_errors')) as register
from pg_proc p
where p.pronamespace in ('logloom'::regnamespace, 'logloom_private'::regnamespace)
  or p.proname = any(logloom_private.operations())
    and p.pronamespace = 'public'::regnamespace;

create temp table registered as
select f.register, e.*
from our_functions f
cross join logloom_private.errors(f.register) e
where f.is_register;

create temp table used as
select f.signature, m.name[1] as name
from our_functions f
cross join regexp_matches(
  f.source,
  '''((?:' || (select string_agg(r.register, '|') from our_functions r where r.is_register)
    || ')\.[a-z][a-z_]*)''',
  'g'
) m (name)
where not f.is_register
union all
-- The error for a check constraint of these tables has the constraint's name.
select c.conrelid::regclass::text, t.register || '.' || c.conname
from (
  values ('logloom.saved_searches'::regclass, 'saved_searches'),
    ('logloom.alert_rules'::regclass, 'alerts'),
    ('logloom.log_dashboards'::regclass, 'dashboards')
) t (relation, register)
join pg_constraint c on c.conrelid = t.relation and c.contype = 'c';

select ok((select count(*) > 150 from registered), 'there are errors to look at');
select is_empty(
  $$select name from registered group by name having count(*) > 1
    union all
    select name from registered where split_part(name, '.', 1) <> register$$,
  'names are unique and begin with the register'
);
select is_empty(
  $$select name, status, message, hint from registered
    where status not between 400 and 504 or message !~ '\S' or hint !~ '\S'$$,
  'each has the status of a refusal and a message'
);
select is_empty(
  $$select signature, source from our_functions
    where source ~ 'raise sqlstate ''(PT|PGRST)'
      and signature <> 'logloom_private.refuse_with_headers(jsonb,text,text[])'
    union all
    select signature, source from our_functions
    where source ~ 'errcode = (?!''[a-z_]+'')'
      and signature not in (
        'logloom_private.refuse(text,text[])', 'logloom_private.refuse_at(integer,text,text[])',
        'logloom_private.refuse_again(text,text,text)',
        'logloom_private.refuse_in_document(text,text,text,text,integer)'
      )$$,
  'only the functions in refuse.sql raise errors for users'
);
select is_empty(
  $$select signature, name from used where name not in (select r.name from registered r)$$,
  'every error that a function or constraint raises is in a register'
);
select is_empty(
  $$select name from registered where name not in (select u.name from used u)$$,
  'every error in a register is used'
);

select throws_ok(
  $$select logloom_private.refuse('callers.not_known')$$,
  'PT401', 'Invalid token, API key, or missing tenant_id', 'an error is raised by its name'
);
select throws_ok(
  $$select logloom_private.refuse('tenants.plan_has_no_room', 'a %s', '3')$$,
  'PT400', 'Plan limit exceeded: a %s (max 3)', 'values may contain format characters'
);
select throws_ok(
  $$select logloom_private.refuse_for_now(7, 'ingest.too_many_events', '5')$$,
  'PGRST', '{"code" : "PT429", "message" : "Rate limit reached: 5 events per second", '
    '"details" : "{\"name\": \"ingest.too_many_events\"}", "hint" : '
    '"The rate is the plan''s. Retry-After says when the next request can be accepted."}',
  'an error with headers has the form that PostgREST expects'
);
select throws_ok(
  $$select logloom_private.refuse('callers.nobody')$$,
  'XX000', 'The register has no error callers.nobody', 'an unknown name is an internal error'
);

select * from finish();
rollback;
