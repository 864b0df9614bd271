-- logloom.log() adds a record in the caller's transaction and never raises an error.
begin;
\ir ../actors.psql
select plan(23);

update logloom_private.settings set provision_by_secret_key = false;
insert into logloom.tenants (tenant_id, plan_id) values ('acme', 'free'), ('globex', 'free');
create schema shop;
grant usage on schema shop to public;
create function shop.place_order() returns void language plpgsql as $$
begin
  perform logloom.log('info', 'order placed', '{"order_id": 7}');
end;
$$;
create function shop.pay(text) returns void language sql as $$
  select 1;
  select logloom.log('warn', 'paid', '[1]', 'billing', $1);
$$;
create function pg_temp.logged() returns setof logloom_private.sql_log language sql as $$
  delete from logloom_private.sql_log returning *
$$;
create function pg_temp.log_as(p_role text, p_claims jsonb, p_tenant_id text default null)
returns void
language sql
as $$
  select pg_temp.act_as(p_role, p_claims), logloom.log('info', 'x', p_tenant_id => p_tenant_id),
    pg_temp.act_as_postgres()
$$;

select pg_temp.act_as_user('acme', 'alice'), set_config(
  'request.headers',
  '{"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    "x-request-id": "r1"}',
  true
) \g /dev/null
select shop.place_order(), set_config('request.headers', '{"x-request-id": "r1"}', true),
  shop.pay('acme'), pg_temp.act_as_postgres()
\g /dev/null
select results_eq(
  'select tenant_id, to_jsonb(record) - ''{ts,env,route,host}''::text[]
    from pg_temp.logged() order by id',
  $$values
    ('acme', '{"level": "info", "msg": "order placed", "service": "sql", "user_id": "alice",
      "req_id": "0af7651916cd43dd8448eb211c80319c",
      "attrs": {"order_id": 7, "function": "shop.place_order()"}}'::jsonb),
    ('acme', '{"level": "warn", "msg": "paid", "service": "billing", "user_id": "alice",
      "req_id": "r1", "attrs": {"attrs": [1], "function": "pay"}}')$$,
  'tenant and user come from the token, req_id from the headers'
);

select pg_temp.log_as('authenticated', '{"tenant_id": "acme"}', 'globex'),
  pg_temp.log_as('anon', '{}', 'globex'), pg_temp.log_as('authenticated', '{}', 'globex'),
  pg_temp.log_as('authenticated', '{"tenant_id": "acme", "exp": 1}'),
  pg_temp.log_as('authenticated', '{"tenant_id": "new", "is_anonymous": true}'),
  pg_temp.log_as('service_role', '{}'), pg_temp.log_as('service_role', '{}', 'nobody'),
  pg_temp.log_as('service_role', '{"exp": 1}', 'globex'), pg_temp.log_as('none', null)
\g /dev/null
savepoint s;
select set_config('transaction_read_only', 'on', true) \g /dev/null
select lives_ok('select shop.place_order()', 'in a read-only transaction there is no error');
rollback to savepoint s;
select is_empty(
  'select * from pg_temp.logged()', 'nothing is stored without a tenant that the caller may name'
);
select pg_temp.log_as('service_role', '{}', 'acme'), pg_temp.log_as('none', null, 'globex'),
  pg_temp.log_as('authenticated', '{"tenant_id": "new"}')
\g /dev/null
select results_eq(
  'select tenant_id, creates_tenant from pg_temp.logged() order by id',
  $$values ('acme', false), ('globex', false), ('new', true)$$,
  'service_role and the owner name a tenant that exists, a token may name a new one'
);

-- The limit of a transaction. What is kept for the transaction has the former limit.
create function pg_temp.set_limit(p_records integer) returns void language sql as $$
  update logloom_private.settings set sql_log_events = p_records;
  select set_config('logloom.sql_log_' || s, '', true) from unnest('{caller,rows}'::text[]) s;
$$;
create function pg_temp.log(p_records integer) returns void language sql as $$
  select logloom.log('info', n::text, p_tenant_id => 'acme') from generate_series(1, p_records) n
$$;
select pg_temp.set_limit(3), pg_temp.log(2) \g /dev/null
savepoint s;
select pg_temp.log(4);
rollback to savepoint s;
select pg_temp.log(6);
set constraints all immediate;
select pg_temp.log(2);
set constraints all immediate;
select results_eq(
  'select (record).msg, (record).level from pg_temp.logged() order by id',
  $$values
    ('1', 'info'), ('2', 'info'), ('1', 'info'),
    ('5 more records of this transaction were left out', 'warn'),
    ('2 more records of this transaction were left out', 'warn')$$,
  'a record counts what is beyond the limit; a rollback takes back what it counted'
);

-- Hostile arguments and requests
select pg_temp.set_limit(1000) \g /dev/null
select lives_ok('select ' || c.call, left(c.call, 60))
from (
  values
    ('logloom.log(null, null, null, null, ''acme'')'),
    ('logloom.log(repeat(''x'', 999), repeat(e''\x01'', 1000000), ''null'', ''s'', ''acme'')'),
    ('logloom.log('''', '''', (repeat(''['', 999) || repeat('']'', 999))::jsonb, '''', ''acme'')'),
    ('logloom.log(''i'', ''x'', to_jsonb(repeat(''x'', 2000000)), ''s'', ''acme'')'),
    ('logloom.log(''i'', ''x'', ''{}'', ''s'', e''a\x01'')'),
    ('logloom.log(''i'', ''x'', ''{}'', ''s'', repeat(''x'', 100000))'),
    ('set_config(''request.jwt.claims'', ''{not json'', true), pg_temp.log(1)'),
    ('set_config(''request.jwt.claims'', ''{"tenant_id": "\u0000"}'', true), pg_temp.log(1)'),
    ('set_config(''request.headers'', ''{not json'', true), pg_temp.log(1)'),
    ('set_config(''request.headers'', ''"x"'', true), pg_temp.log(1)'),
    ('set_config(''request.headers'', ''{"a":'' || repeat(''['', 100000), true), pg_temp.log(1)'),
    ('set_config(''request.jwt.claims'', repeat(''['', 100000), true), pg_temp.log(1)'),
    ('set_config(''logloom.sql_log_caller'', ''(nonsense'', true), pg_temp.log(1)'),
    ('set_config(''logloom.sql_log_rows'', ''9999999999'', true), pg_temp.log(1)'),
    ('set_config(''logloom.sql_log_left_out'', ''x'', true), pg_temp.set_limit(1), pg_temp.log(2), '
      'set_config(''logloom.sql_log_left_out'', ''x'', true), pg_temp.set_limit(1000)')
) c (call);
select lives_ok('set constraints all immediate', 'a nonsensical count');
select is(
  array(select bytes from pg_temp.logged() order by id),
  '{35,262194,2044,71}'::integer[] || array_fill(20, '{10}'), 'rows are not huge'
);
set session_replication_role = replica;
select pg_temp.set_limit(1), pg_temp.log(2) \g /dev/null
set session_replication_role = origin;
select is(array(select (l.record).msg from pg_temp.logged() l), '{1}', 'no count without triggers');

select * from finish();
rollback;
