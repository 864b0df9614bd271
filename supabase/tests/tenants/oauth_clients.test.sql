-- A token of an OAuth client or a viewer can use the reading operations, and reaches no table.
begin;
\ir ../actors.psql
\ir ../operations.psql

-- Statements of users on tables. Everybody may read plans.
create temp table statements (statement text);
insert into statements
select format('select 1 from %s', t.oid::regclass)
from pg_class t
where t.relnamespace = 'logloom'::regnamespace and t.relkind in ('r', 'p') and not t.relispartition
  and t.relname <> 'plans'
  and has_any_column_privilege('authenticated', t.oid, 'SELECT');
insert into statements
values
  (
    'insert into logloom.api_keys (tenant_id, name, key_prefix, key_digest) '
      'values (''acme'', ''k'', ''ll_bbbbbbbb'', sha256(''k''))'
  ),
  (
    'insert into logloom.saved_searches (tenant_id, created_by, name, query_dsl, is_shared) '
      'values (''acme'', ''alice'', ''s'', ''ts:*'', true)'
  ),
  ('insert into logloom.tenant_settings (tenant_id, compression) values (''acme'', true)'),
  ('update logloom.api_keys set revoked_at = now() where true'),
  ('update logloom.saved_searches set name = ''s'' where true'),
  ('delete from logloom.saved_searches where true');

-- Returns the number of rows that a statement changes, or its SQLSTATE. Undoes the statement.
create function pg_temp.reached(p_client_id text, p_statement text, p_user_id text default 'alice')
returns text
language plpgsql
as $$
declare
  v_rows integer;
begin
  perform pg_temp.act_as(
    'authenticated',
    jsonb_build_object('tenant_id', 'acme', 'sub', p_user_id)
      || jsonb_strip_nulls(jsonb_build_object('client_id', p_client_id))
  );
  begin
    execute p_statement;
    get diagnostics v_rows = row_count;
    raise sqlstate 'UNDO0';
  exception
    when sqlstate 'UNDO0' then
      null;
    when others then
      perform pg_temp.act_as_postgres();
      return sqlstate;
  end;
  perform pg_temp.act_as_postgres();
  return v_rows;
end;
$$;

select plan(3 * (select count(*)::integer from statements) + 1);

select matches(
  pg_temp.reached(c.client_id, s.statement, c.user_id), '^(0|42501)$',
  format('%s reaches nothing with: %s', c.who, s.statement)
)
from statements s
cross join (values ('unlisted', 'alice', 'an OAuth client'), (null, 'vera', 'a viewer'))
  c (client_id, user_id, who);
select is(
  pg_temp.reached('listed', s.statement), pg_temp.reached(null, s.statement),
  'a listed client reaches the same as its user with: ' || s.statement
)
from statements s;
select is_empty(
  $$select s.statement from statements s
    where s.statement ~ '^(insert|delete|update logloom\.(api|saved))'
      and pg_temp.reached(null, s.statement) !~ '^[12]$'$$,
  'the user reaches rows with each of them'
);

select * from finish();
rollback;
