-- A user who may run SQL can create a type in pg_temp with the name of one of PostgreSQL's types,
-- and with a check that calls the user's own function. If one of our functions names a type without
-- its schema and pg_temp comes first, the check runs, and in a definer function it runs with the
-- owner's rights.
begin;
set local search_path = pg_catalog, public, extensions, pg_temp;

-- Sequences keep their count after a rollback.
create temp sequence ran_as_owner;
create temp sequence ran_as_caller;
grant all on sequence ran_as_owner, ran_as_caller to public;

create function pg_temp.evil(p_value anyelement)
returns bool
language plpgsql
as $$
begin
  if current_user = 'postgres' then
    perform pg_catalog.nextval('pg_temp.ran_as_owner');
  else
    perform pg_catalog.nextval('pg_temp.ran_as_caller');
  end if;
  return true;
end;
$$;

create function pg_temp.ran()
returns bigint[]
language sql
as $$
  select array[
    (select case when s.is_called then s.last_value else 0 end from pg_temp.ran_as_owner s),
    (select case when s.is_called then s.last_value else 0 end from pg_temp.ran_as_caller s)
  ];
$$;

set local role authenticated;
do $$
declare
  v_name text;
begin
  for v_name in
    select t.typname
    from pg_type t
    where t.typnamespace = 'pg_catalog'::regnamespace and t.typtype = 'b' and t.typcategory <> 'A'
  loop
    execute format(
      'create domain pg_temp.%1$I as pg_catalog.%1$I check (pg_temp.evil(value))', v_name
    );
  end loop;
  create type pg_temp.record as (intruder pg_temp.text);
end;
$$;
reset role;

\ir ../actors.psql
\ir ../operations.psql

-- Writes a value of a type as SQL.
create function pg_temp.sample(p_type oid, p_is_null boolean)
returns text
language sql
as $$
  select case when p_is_null then 'null' else coalesce(
    case
      when t.typcategory = 'A' then quote_literal('{}')
      when t.typcategory = 'N' and t.typname not like 'reg%' then '1'
      when t.typname in ('json', 'jsonb') then quote_literal('{}')
      when t.typname = 'bool' then 'true'
      when t.typname = 'text' then quote_literal('acme')
      when t.typname = 'uuid' then quote_literal('00000000-0000-7000-8000-000000000000')
      when t.typname = 'interval' then quote_literal('1 minute')
      when t.typname in ('date', 'timestamptz') then 'pg_catalog.now()::pg_catalog.' || t.typname
      when t.typname = 'bytea' then quote_literal('\x00')
      when t.typname = 'regprocedure' then quote_literal('pg_catalog.now()')
      when t.typname = 'regclass' then quote_literal('logloom.logs')
    end,
    'null'
  ) end || '::' || case
    when t.typtype = 'p' then 'pg_catalog.text[]'
    else (
      select format(
        '%I.%I', n.nspname,
        case t.typcategory when 'A' then ltrim(t.typname, '_') else t.typname end
      ) || case when t.typcategory = 'A' then '[]' else '' end
      from pg_namespace n where n.oid = t.typnamespace
    )
  end
  from pg_type t
  where t.oid = p_type;
$$;

create temp table calls (
  id integer generated always as identity primary key,
  of_function text not null,
  is_definer boolean not null,
  role text not null,
  claims jsonb,
  path text,
  sql text not null
);
grant select on calls to public;

-- Calls each operation like a request.
insert into calls (of_function, is_definer, role, claims, path, sql)
select
  c.operation, false, a.role, a.claims, '/rpc/' || c.operation,
  'select r from ' || pg_temp.call_of(c.operation, c.arguments) || ' r'
from cases c
cross join actors a
where a.actor in ('owner', 'service_role');

-- Calls each function twice: as authenticated, which may call all of them here, and as postgres, as
-- a definer function would.
grant execute on all functions in schema logloom_private to authenticated;
insert into calls (of_function, is_definer, role, claims, sql)
select
  p.oid::regprocedure::text, p.prosecdef, r.role,
  '{"tenant_id": "acme", "sub": "alice", "exp": 9999999999}',
  format(
    'select r from logloom_private.%I(%s) r', p.proname,
    (
      select string_agg(
        case when p.provariadic <> 0 and a.n = p.pronargs then 'variadic ' else '' end
          || pg_temp.sample(a.type, s.is_null),
        ', ' order by a.n
      )
      from unnest(p.proargtypes) with ordinality a (type, n)
    )
  )
from pg_proc p
cross join (values ('authenticated'), ('none')) r (role)
cross join (values (false), (true)) s (is_null)
where p.pronamespace = 'logloom_private'::regnamespace and p.prokind = 'f'
  and p.prorettype not in ('trigger'::regtype, 'event_trigger'::regtype)
  and (p.pronargs > 0 or s.is_null);

-- Functions in which the test must find an attack.
create function logloom_private.without_set(p_value text) returns void language plpgsql as $$
declare
  v_value text := p_value;
begin
  perform v_value;
end;
$$;
create function logloom_private.with_empty_path(p_value text) returns void language sql
security definer set search_path = '' as $$ select p_value::jsonb $$;
create function logloom_private.with_a_record(p_value text) returns void language plpgsql
security definer set search_path = '' as $$
declare
  v_value record;
begin
  select p_value into v_value;
end;
$$;
insert into calls (of_function, is_definer, role, sql)
select 'control ' || f, true, 'authenticated', format('select logloom_private.%s(''1'')', f)
from unnest(array['without_set', 'with_empty_path', 'with_a_record']) f;
grant execute on all functions in schema logloom_private to authenticated;

create temp table attacks (
  id integer primary key, as_owner bigint not null, as_caller bigint not null, answer text
);

create function pg_temp.note(p_id integer, p_before bigint[], p_answer text)
returns void
language sql
as $$
  insert into pg_temp.attacks (id, as_owner, as_caller, answer)
  select p_id, r.ran[1] - p_before[1], r.ran[2] - p_before[2], p_answer
  from pg_temp.ran() r (ran);
$$;

create function pg_temp.attack(p_id integer)
returns void
language plpgsql
as $$
declare
  v_call pg_temp.calls;
  v_before constant pg_catalog.int8[] := pg_temp.ran();
  v_answer pg_catalog.text;
begin
  select c.* into v_call from pg_temp.calls c where c.id = p_id;
  begin
    begin
      perform pg_catalog.set_config('request.headers', '{"authorization": "Bearer token"}', true),
        pg_catalog.set_config('request.method', 'POST', true),
        pg_catalog.set_config('request.path', v_call.path, true),
        pg_catalog.set_config(
          'request.jwt.claims',
          ('{"exp": 9999999999}'::pg_catalog.jsonb || v_call.claims)::pg_catalog.text,
          true
        ),
        -- PostgREST sets this value. PostgreSQL looks for types in pg_temp before all of these
        -- schemas.
        pg_catalog.set_config('search_path', '"public", "extensions"', true),
        pg_catalog.set_config('role', v_call.role, true);
      if v_call.path is not null then
        perform logloom_private.check_request();
      end if;
      execute v_call.sql;
      raise sqlstate 'UNDO0';
    exception when others then
      v_answer := case when sqlstate = 'UNDO0' then 'ok' else sqlstate || ' ' || sqlerrm end;
    end;
    perform pg_temp.note(p_id, v_before, v_answer);
  -- The timeout may cancel the call at any point.
  exception when query_canceled then
    perform pg_temp.note(p_id, v_before, 'canceled');
  end;
end;
$$;

-- Each call is a statement with a timeout, because a function with nonsense arguments may never
-- end.
set local client_min_messages = error;
set local lock_timeout = '1s';
set local statement_timeout = '30s';
select format('select pg_temp.attack(%s)', c.id) from calls c where c.path is not null \gexec
\set ON_ERROR_ROLLBACK on
\set ON_ERROR_STOP off
set local statement_timeout = '100ms';
select format('select pg_temp.attack(%s)', c.id) from calls c where c.path is null \gexec
\set ON_ERROR_STOP on
\set ON_ERROR_ROLLBACK off
-- Calls that left no note were canceled too early. They run again with more time.
set local statement_timeout = '5s';
select format('select pg_temp.attack(%s)', c.id)
from calls c
where c.id not in (select a.id from attacks a) \gexec
reset statement_timeout;

-- These two call pg_partman's functions, which set their own search_path. Only postgres calls them,
-- in a session of its own.
delete from calls c
where c.role = 'none'
  and c.of_function in ('logloom_private.maintain_partitions()', 'logloom_private.repair()');

select plan((select count(distinct c.of_function)::integer from calls c) + 6);

select is(
  (select row(a.as_owner > 0, a.as_caller > 0)::text),
  case c.of_function when 'control without_set' then '(f,t)' else '(t,f)' end,
  'an attack works in ' || c.of_function
)
from calls c
join attacks a on a.id = c.id
where c.of_function like 'control %'
order by c.id;

select is(
  sum(a.as_owner + a.as_caller), 0::numeric,
  case when bool_or(c.is_definer) then 'definer ' else '' end || c.of_function
    || ' runs nothing of pg_temp'
)
from calls c
join attacks a on a.id = c.id
where c.of_function not like 'control %'
group by c.of_function
order by c.of_function;

select is(
  (
    select count(*)
    from pg_proc p
    where p.pronamespace = 'logloom_private'::regnamespace and p.prosecdef and p.prokind = 'f'
      and p.prorettype <> 'trigger'::regtype and p.proname !~ '^with'
      and not exists (
        select from calls c
        where c.of_function = p.oid::regprocedure::text and c.is_definer
          and c.role = 'authenticated'
      )
  ),
  0::bigint, 'each definer function was tried'
);
select is_empty(
  $$select o.operation
    from cases o
    group by o.operation
    having not exists (
      select from calls c join attacks a on a.id = c.id
      where c.of_function = o.operation and a.answer = 'ok'
    )
    and o.operation not in ('create_tenant')$$,
  'each operation succeeded'
);

-- Procedures commit, so they have no set clause. Nobody else may call them.
select is_empty(
  $$select p.oid::regprocedure, r.rolname
    from pg_proc p
    cross join pg_roles r
    where p.pronamespace = 'logloom_private'::regnamespace and p.prokind = 'p'
      and r.oid <> p.proowner and not r.rolsuper and r.rolname not like 'pg\_%'
      and has_function_privilege(r.oid, p.oid, 'execute')$$,
  'only the owner of the jobs may call procedures'
);

-- Columns and parameters refer to types by oid, so none may be a type in pg_temp.
select is_empty(
  $$select c.oid::regclass, a.attname, t.typname
    from pg_attribute a
    join pg_class c on c.oid = a.attrelid
    join pg_type t on t.oid = a.atttypid
    where c.relnamespace in ('logloom'::regnamespace, 'logloom_private'::regnamespace)
      and t.typnamespace not in (
        'pg_catalog'::regnamespace, 'logloom'::regnamespace, 'logloom_private'::regnamespace,
        'public'::regnamespace
      )$$,
  'columns have types of pg_catalog or ours'
);
select is_empty(
  $$select p.oid::regprocedure, pg_describe_object(d.refclassid, d.refobjid, d.refobjsubid)
    from pg_depend d
    join pg_proc p on d.classid = 'pg_proc'::regclass and d.objid = p.oid
    where p.pronamespace in ('logloom_private'::regnamespace, 'public'::regnamespace)
      and d.refclassid = 'pg_type'::regclass
      and (select t.typnamespace from pg_type t where t.oid = d.refobjid) = pg_my_temp_schema()$$,
  'no function has a parameter or a result of a type in pg_temp'
);
select is_empty(
  $$select t.tgname, t.tgfoid::regprocedure
    from pg_trigger t
    join pg_class c on c.oid = t.tgrelid
    join pg_proc p on p.oid = t.tgfoid
    where c.relnamespace in ('logloom'::regnamespace, 'logloom_private'::regnamespace)
      and not t.tgisinternal
      and not coalesce(p.proconfig, '{}') @> '{"search_path=pg_catalog, pg_temp"}'$$,
  'functions of triggers set their search_path'
);

select * from finish();
rollback;
