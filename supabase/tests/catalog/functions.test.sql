begin;
select plan(21);

create temp table our_functions as
select p.*, p.oid::regprocedure::text as signature, n.nspname as schema, l.lanname as language
from pg_proc p
join pg_namespace n on n.oid = p.pronamespace
join pg_language l on l.oid = p.prolang
where n.nspname in ('logloom', 'logloom_private', 'public')
  and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e');

-- Lists expressions in standard SQL. PostgreSQL resolves their names when they are created, so they
-- need no set clause.
create temp table expressions as
select p.* from our_functions p
where p.language = 'sql' and p.prosqlbody is not null and p.schema = 'logloom_private'
  and not p.prosecdef and p.proconfig is null;

select ok((select count(*) > 50 from our_functions), 'there are functions to look at');
select is_empty(
  $$select signature, language from our_functions
    where schema = 'public' and language <> 'plpgsql'$$,
  'public functions are PL/pgSQL: an inlined SQL function escapes the EXECUTE check'
);
select is_empty(
  $$select p.signature from our_functions p join our_functions o on o.proname = p.proname
    where p.schema = 'logloom_private' and o.schema = 'public'$$,
  'no private function has the name of an operation'
);
select is_empty(
  $$select signature from our_functions where schema <> 'logloom_private' and prosecdef$$,
  'security definer is for private functions only'
);
select is_empty(
  $$select signature from our_functions
    where not coalesce(proconfig, '{}') @> '{"search_path=pg_catalog, pg_temp"}'
      and signature not in (select e.signature from expressions e)
      and signature not in (
        'logloom_private.work(text)', 'logloom_private.run_job(text)',
        'logloom_private.run_step(logloom_private.jobs,interval,timestamp with time zone,interval)',
        'logloom_private.verify()',
        'logloom_private.check_request()', 'logloom_private.call_host_pre_request()'
      )$$,
  'every function has the search_path pg_catalog, pg_temp, except private expressions in standard '
  'SQL, procedures that commit, and functions that run the project''s pre-request function'
);
-- A call that PostgreSQL does not inline costs twice as much as a call of PL/pgSQL, and six times
-- as much if it is the only such call in a transaction.
create function pg_temp.is_replaced(p_name text, p_types oid[])
returns boolean
language plpgsql
as $$
declare
  v_plan json;
begin
  execute (
    select format(
      'explain (verbose, format json) select logloom_private.%I(%s) from (select %s offset 0) v',
      p_name, string_agg('v.v' || a.n, ', ' order by a.n),
      string_agg(format('null::%s as v%s', format_type(a.type, null), a.n), ', ' order by a.n)
    )
    from unnest(p_types) with ordinality a (type, n)
  ) into v_plan;
  return strpos(v_plan::text, format('logloom_private.%s(', p_name)) = 0;
end;
$$;

select is_empty(
  $$select e.signature from expressions e
    where not pg_temp.is_replaced(e.proname, e.proargtypes::oid[])$$,
  'PostgreSQL inlines each of these expressions'
);
-- Without a set clause names are looked up in the caller's search_path, and types in pg_temp first.
-- So every type needs its schema, even in dynamic SQL.
create function pg_temp.code_of(p_source text)
returns text
language sql
as $$
  select regexp_replace(p_source, '(''(?:[^'']|'''')*'')|--[^\n]*', '\1', 'g')
$$;

create function pg_temp.bare_types(p_source text)
returns setof text
language sql
as $$
  select distinct lower(w.word[1])
  from regexp_matches(pg_temp.code_of(p_source), '(?<![\w."$])"?([a-z_]\w*)', 'gi') w (word)
  where lower(w.word[1]) in (
    select t.typname from pg_type t
    union all
    -- The grammar also knows these names of types.
    select unnest(
      '{int,integer,smallint,bigint,real,float,double,decimal,dec,boolean,character}'::text[]
    )
    except
    -- Reserved words are left out: as types they would need quotes.
    select k.word from pg_get_keywords() k where k.catcode = 'R'
  )
$$;

create function pg_temp.bare_calls(p_source text)
returns setof text
language sql
as $$
  select distinct lower(c.call[1])
  from regexp_matches(
    regexp_replace(pg_temp.code_of(p_source), '''(?:[^'']|'''')*''', '''''', 'g'),
    '(?<![\w."$])"?([a-z_]\w*)"?\s*\(', 'gi'
  ) c (call)
  where lower(c.call[1]) not in (
    select k.word from pg_get_keywords() k where k.catcode = 'R'
    union all
    select unnest('{coalesce,extract,greatest,least,nullif,exists,if,elsif,while,values}'::text[])
  )
$$;

create temp table without_set as
select f.signature, f.prosrc as source
from our_functions f
where not coalesce(f.proconfig, '{}') @> '{"search_path=pg_catalog, pg_temp"}';

select is_empty(
  $$select w.signature, t from without_set w, pg_temp.bare_types(w.source) t$$,
  'functions without a set clause qualify every type'
);
select is_empty(
  $$select w.signature, c from without_set w, pg_temp.bare_calls(w.source) c$$,
  'functions without a set clause qualify every function'
);
select results_eq(
  $test$select array(select pg_temp.bare_types(s) order by 1)
    from unnest(array[
      'declare v_text constant text := 1;',
      'v := x::"jsonb" || y :: JSONB;',
      'v := cast(x as uuid[]);',
      'v record;',
      'v logs%rowtype; w settings.search_page_time%type;',
      'for v in select * from pg_catalog.json_to_record(x) as r (a int4, b Integer) loop',
      'v := interval ''1 second'' + date ''2026-11-23'';',
      'execute ''select x::text'' into v;',
      'v := ''-- no comment''::timestamptz; -- text',
      'v pg_catalog.text; w pg_catalog."uuid"[]; -- an integer
       perform logloom_private.text(x::pg_catalog.int4) from logloom.logs l where l.date = any (x)'
    ]) s$test$,
  $$values
    ('{text}'::text[]), ('{jsonb}'), ('{uuid}'), ('{record}'), ('{logs,settings}'),
    ('{int4,integer}'), ('{date,interval}'), ('{text}'), ('{timestamptz}'), ('{}')$$,
  'unqualified types are found'
);
select results_eq(
  $test$select array(select pg_temp.bare_calls(s) order by 1)
    from unnest(array[
      'v := format(''%s'', now());',
      'v := Format (''x'');',
      'perform "lower"(x);',
      'perform pg_catalog.format(''now()'', coalesce(x, 1)) where x in (1) and (y) -- f(x)'
    ]) s$test$,
  $$values ('{format,now}'::text[]), ('{format}'), ('{lower}'), ('{}')$$,
  'unqualified functions are found'
);
select is_empty(
  $$select p.signature
    from our_functions p
    join without_set w on w.signature = p.signature
    where p.prosecdef or p.prokind = 'p' and (
      p.proacl is null or exists (select from aclexplode(p.proacl) a where a.grantee <> p.proowner)
    )$$,
  'none of them is a definer function, and only their owner may call procedures'
);
select is_empty(
  $$select signature from our_functions where prosecdef and prosrc !~ '-- definer because \w'$$,
  'every definer function says why it is one'
);
select is_empty(
  $$select signature from our_functions
    where prosecdef and (proconfig @> '{standard_conforming_strings=on}') is not true$$,
  'definer functions do not depend on standard_conforming_strings of the caller'
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
  'the comment of an operation lists its errors'
);
select is_empty(
  $$select signature from our_functions f
    cross join unnest(f.proconfig) c
    where c ~ '^statement_timeout=' and split_part(c, '=', 2)::interval > '20 seconds'$$,
  'no call takes longer than the 30 seconds that gateways wait for PostgREST'
);
select is_empty(
  $$select proname from our_functions where schema = 'public'
    group by proname having count(*) > 1$$,
  'no public function is overloaded: PostgREST could not choose'
);
select is_empty(
  $$select signature from our_functions where schema = 'public' and pronargdefaults <> pronargs$$,
  'every parameter has a default, so that Logloom answers if it is missing'
);
select set_eq(
  $$select proname::text from our_functions where schema = 'public'$$,
  $$select unnest(logloom_private.operations())$$,
  'the pre-request check knows every operation: logloom_private.operations()'
);
select is_empty(
  $$select f.signature
    from our_functions f
    cross join unnest(f.proargtypes) with ordinality a (type, n)
    join pg_type t on t.oid = a.type
    where a.n > f.pronargs - f.pronargdefaults and t.typtype = 'c'$$,
  'no default has a row type: its table could get no new column'
);
select is_empty(
  $$select signature from our_functions
    where schema = 'public' and prorettype in ('void'::regtype, 'record'::regtype)$$,
  'every operation has a typed result'
);

select * from finish();
rollback;
