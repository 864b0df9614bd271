-- Checks without Citus that our SQL keeps its rules for sharded tables. Each rule comes from an
-- error that happened.
begin;
\ir ../install.psql
select plan(24);

create temp table sharded as
select s.name::regclass as oid, s.name
from unnest(logloom_citus.sharded_tables()) s (name);

create temp table ours as
select
  p.oid, p.oid::regprocedure::text as signature, b.source,
  b.source ~ (select string_agg(s.name, '|') from sharded s) as names_sharded
from pg_catalog.pg_proc p
cross join concat(p.prosrc, pg_get_function_sqlbody(p.oid)) b (source)
where p.pronamespace in (
  'logloom'::regnamespace, 'logloom_private'::regnamespace, 'logloom_citus'::regnamespace,
  'public'::regnamespace
);

-- Finds the statements that change one of these tables. A statement ends at a semicolon, at the end
-- of the text, or at the bracket that closes around it.
create function pg_temp.changes_in(p_source text)
returns setof text
language plpgsql
as $$
declare
  v_start text := '\m(?:update|delete\s+from|insert\s+into)\s+(?:'
    || (select string_agg(s.name, '|') from sharded s) || ')\M';
  v_rest text := regexp_replace(p_source, '--[^\n]*', '', 'g');
  v_at integer;
  v_depth integer;
  v_char text;
begin
  loop
    v_at := regexp_instr(v_rest, v_start, 1, 1, 0, 'i');
    exit when v_at = 0;
    v_rest := substr(v_rest, v_at);
    v_depth := 0;
    v_at := 0;
    loop
      v_at := v_at + 1;
      v_char := substr(v_rest, v_at, 1);
      v_depth := v_depth + case v_char when '(' then 1 when ')' then -1 else 0 end;
      exit when v_char in (';', '') or v_depth < 0;
    end loop;
    return next left(v_rest, v_at - 1);
    v_rest := substr(v_rest, 2);
  end loop;
end;
$$;

-- Finds the functions that a part of a statement calls, by their names.
create function pg_temp.calls_in(p_statement text)
returns table (called name, volatility "char")
language sql
as $$
  select distinct p.proname, p.provolatile
  from regexp_matches(p_statement, '(?:\m(\w+)\.)?\m(\w+)\s*\(', 'gi') m
  join pg_catalog.pg_proc p on p.proname = lower(m[2])
  join pg_catalog.pg_namespace n on n.oid = p.pronamespace
  where n.nspname = coalesce(lower(m[1]), 'pg_catalog') and p.prokind = 'f'
$$;

-- Finds functions that Citus refuses. In an update or delete, these are volatile functions. In an
-- insert's "do update set", they are all but immutable ones.
create function pg_temp.refused_in(p_source text)
returns setof text
language sql
as $$
  select distinct c.called::text
  from pg_temp.changes_in(p_source) s
  cross join lateral (
    select t.called from pg_temp.calls_in(s) t where s ~* '^(update|delete)' and t.volatility = 'v'
    union all
    select t.called
    from pg_temp.calls_in(substring(s from '(?i)\mdo\s+update\s+set\M(.*)$')) t
    where s ~* '^insert' and t.volatility <> 'i'
  ) c
$$;

-- Finds calls that pass a whole row of a sharded table, by its alias.
create function pg_temp.rows_passed_in(p_source text)
returns setof text
language sql
as $$
  select distinct f[1]
  from regexp_split_to_table(p_source, ';') s
  cross join lateral regexp_matches(
    s,
    format(
      '(?:from|join|,)\s+(?:%s)\s+(?:as\s+)?(\w+)\M',
      (select string_agg(t.name, '|') from sharded t)
    ),
    'gi'
  ) a
  cross join lateral regexp_matches(
    s, format('(logloom_private\.\w+\s*\(\s*%s\s*[,)])', a[1]), 'g'
  ) f
$$;

select is(
  array(select s.name from sharded s order by s.name collate "C"),
  array[
    'logloom.logs', 'logloom_private.block_columns', 'logloom_private.blocks',
    'logloom_private.log_counts', 'logloom_private.log_days'
  ],
  'these tables are sharded'
);
select is_empty(
  $$select s.name from sharded s
  where not exists (
    select from pg_catalog.pg_attribute a
    where a.attrelid = s.oid and a.attname = 'tenant_id' and a.attnotnull
  )$$,
  'each has a tenant_id that is never null'
);
select is_empty(
  $$select s.name from sharded s
  join pg_catalog.pg_attribute a on a.attrelid = s.oid and a.attname = 'tenant_id'
  join pg_catalog.pg_class c on c.oid = s.oid
  where a.atttypid <> 'text'::regtype or a.attcollation <> 'pg_catalog.default'::regcollation
    or a.attgenerated <> '' or c.relpersistence <> 'p'$$,
  'all have the same type and collation, so that a tenant''s rows are colocated'
);
select is_empty(
  $$select s.name from sharded s
  where not exists (
    select from pg_catalog.pg_index i where i.indrelid = s.oid and i.indisprimary
  )$$,
  'each has a primary key, which moving a shard needs'
);
select is_empty(
  $$select s.name || ' ' || i.indexrelid::regclass from sharded s
  join pg_catalog.pg_index i on i.indrelid = s.oid
  where (i.indisunique or i.indisexclusion)
    and not exists (
      select from pg_catalog.pg_attribute a
      where a.attrelid = s.oid and a.attname = 'tenant_id'
        and a.attnum = any (i.indkey[0:i.indnkeyatts - 1])
    )$$,
  'each unique index includes tenant_id'
);
select is_empty(
  $$select t.tgname from sharded s
  join pg_catalog.pg_trigger t on t.tgrelid = s.oid
  where not t.tgisinternal$$,
  'none has a trigger'
);
select is_empty(
  $$select t.tgname from pg_catalog.pg_inherits i
  join sharded s on s.oid = i.inhparent
  join pg_catalog.pg_trigger t on t.tgrelid = i.inhrelid
  where not t.tgisinternal$$,
  'and no partition has one'
);
select is_empty(
  $$select r.rulename from sharded s
  join pg_catalog.pg_rewrite r on r.ev_class = s.oid$$,
  'none has a rule'
);
select is_empty(
  $$select s.name || '.' || a.attname from sharded s
  join pg_catalog.pg_attrdef d on d.adrelid = s.oid
  join pg_catalog.pg_attribute a on a.attrelid = d.adrelid and a.attnum = d.adnum
  where pg_get_expr(d.adbin, d.adrelid) ~ 'nextval|regclass'$$,
  'no column default names a relation, whose oid differs on each node'
);
select is_empty(
  $$select k.conname from sharded s
  join pg_catalog.pg_constraint k on k.conrelid = s.oid and k.contype = 'f'
  where k.confrelid not in (select o.oid from sharded o)
    or not exists (
      select from pg_catalog.pg_attribute a
      where a.attrelid = s.oid and a.attname = 'tenant_id' and a.attnum = any(k.conkey)
    )$$,
  'a foreign key refers only to sharded tables, and includes tenant_id'
);
select is_empty(
  $$select k.conname from pg_catalog.pg_constraint k
  where k.contype = 'f' and k.confrelid in (select s.oid from sharded s)
    and k.conrelid not in (select s.oid from sharded s)$$,
  'no other table refers to them'
);
select is_empty(
  $$select p.policyname from pg_catalog.pg_policies p
  join sharded s on s.name = p.schemaname || '.' || p.tablename
  where coalesce(p.qual, '') || coalesce(p.with_check, '') ~* 'select'$$,
  'no policy has a sub-select'
);
select is_empty(
  $$select o.signature from ours o
  join pg_catalog.pg_proc p on p.oid = o.oid
  where pg_get_expr(p.proargdefaults, 0) ~* 'regclass'$$,
  'no parameter has a relation as default, whose oid is only valid on the coordinator'
);
select is_empty(
  $$select o.signature || ': ' || r from ours o, pg_temp.rows_passed_in(o.source) r$$,
  'no statement passes a whole row to a function: each shard has its own row type'
);
select is_empty(
  $$select k.conname from pg_catalog.pg_constraint k
  where k.conrelid = 'logloom.logs'::regclass and k.contype = 'c'
    and not exists (
      select
      from pg_catalog.pg_attribute a
      join pg_catalog.pg_constraint d on d.contype = 'c'
      join pg_catalog.pg_type t on t.oid = d.contypid
      where a.attrelid = k.conrelid and k.conkey = array[a.attnum]
        and replace(pg_get_constraintdef(d.oid), 'VALUE', a.attname)
          = pg_get_constraintdef(k.oid)
        and strpos(
          logloom_private.written_fields_sql('%1$s%2$s'),
          format('%s::%s', a.attname, t.oid::regtype)
        ) > 0
        and (
          select count(*)
          from ours o
          where o.source ~ 'written_fields_sql\([^\n]+%2\$s'
            and o.signature ~ 'insert_records|replay_dead_letters'
        ) = 3
    )$$,
  'each check of a record is a domain that the writer casts to, so that no node refuses a record'
);
select is_empty(
  $$select o.signature from ours o
  where o.source ~* '\yctid\y' and o.names_sharded$$,
  'no function pages them by ctid'
);
select is_empty(
  $$select o.signature from ours o
  where o.source ~* 'with\s+recursive' and o.names_sharded$$,
  'no function walks them by recursion'
);
select is_empty(
  $$select o.signature from ours o
  where o.source ~* '\m(?:in|any)\s*\(\s*select\s+logloom_private\.\w+\(' and o.names_sharded$$,
  'none compares them with the result of a function, which no node knows'
);
select is_empty(
  $$select o.signature || ': ' || r from ours o, pg_temp.refused_in(o.source) r$$,
  'no statement that changes them calls a function that Citus refuses'
);
select is_empty(
  $$select o.signature from ours o, pg_temp.changes_in(o.source) c
  where c ~* '^update' and c ~* '\mset\M[^;]*\mtenant_id\s*='
    and c !~* '\mwhere\M[^;]*\mtenant_id\s*='$$,
  'no update sets tenant_id'
);

-- The functions above find what they look for.
select results_eq(
  $$select pg_temp.changes_in('select 1; with a as (delete from logloom.logs l
    where l.ts < now() and (true)) insert into x select * from a;
    -- update logloom.logs
    update logloom_private.log_counts c set events = 1; update logloom.tenants set a = 1;')$$,
  $$values (E'delete from logloom.logs l\n    where l.ts < now() and (true)'),
    ('update logloom_private.log_counts c set events = 1')$$,
  'a statement is read to its end'
);
select set_eq(
  $$select pg_temp.refused_in('delete from logloom.logs l where l.ts < now() - random() * x;
    update logloom_private.log_counts c set events = lower(a), b = clock_timestamp();')$$,
  array['random', 'clock_timestamp'], 'a volatile function is found'
);
select set_eq(
  $$select pg_temp.refused_in('insert into logloom_private.log_days (day) select clock_timestamp()
    on conflict (tenant_id, day) do update set day = now() + lower(a)')$$,
  array['now'], 'and a function that is not immutable in "do update set"'
);
select set_eq(
  $$select pg_temp.rows_passed_in('select logloom_private.f(c, 1), logloom_private.g(c.a)
    from logloom_private.blocks c; select logloom_private.h(c)')$$,
  array['logloom_private.f(c,'],
  'and a call with a whole row'
);

select * from finish();
rollback;
