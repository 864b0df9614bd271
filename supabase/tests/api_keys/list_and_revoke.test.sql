begin;
\ir ../actors.psql
select plan(21);

insert into logloom.tenants (tenant_id, plan_id) values ('acme', 'free'), ('umbrella', 'free');
insert into logloom.api_keys (
  tenant_id, name, key_prefix, key_digest, created_at, last_used_at, expires_at
)
select
  'acme', 'key ' || i, 'll_' || lpad(i::text, 8, '0'), sha256(i::text::bytea),
  now() - make_interval(hours => 24 * i), case when i = 3 then now() - interval '47 hours' end,
  case when i = 2 then now() end
from generate_series(1, 5) i;
insert into logloom.api_keys (tenant_id, name, key_prefix, key_digest)
values ('umbrella', 'other', 'll_bbbbbbbb', sha256('other'));
create function pg_temp.key(p_name text)
returns uuid
language sql
security definer
as $$ select k.key_id from logloom.api_keys k where k.name = p_name $$;

select pg_temp.act_as_user('acme', 'alice');
select is(
  array(select k.name from public.list_api_keys() k),
  '{key 1,key 2,key 3,key 4,key 5}', 'keys of the tenant, newest first'
);
select is(
  array(select k.name from public.list_api_keys(p_limit => 2) k), '{key 1,key 2}',
  'a page has p_limit keys'
);
select is(
  array(
    select k.name from public.list_api_keys(p_limit => 2, p_after => pg_temp.key('key 2')) k
  ),
  '{key 3,key 4}', 'the next page follows'
);
select is_empty(
  $$select from public.list_api_keys(p_after => pg_temp.key('key 5'))$$,
  'nothing follows the last key'
);
select throws_ok(
  format('select * from public.list_api_keys(p_limit => %s)', l), 'PT400',
  'Invalid p_limit: 1 to 1000', 'p_limit ' || l
)
from unnest('{0,-1,1001}'::integer[]) l;
select throws_ok(
  $$select public.list_api_keys(p_after => pg_temp.key('other'))$$, 'PT400',
  'Invalid p_after: no such API key', 'p_after cannot be another tenant''s key'
);
select is(
  array(select k.status from public.list_api_keys() k),
  '{active,expired,active,active,active}', 'an expired key says so'
);

select is(
  to_jsonb(u) - 'key_id' - 'created_at' - 'last_used_at',
  '{"name": "key 3", "reads": [], "days_since_creation": 3, "days_since_last_use": 1}',
  'use is shown in whole days'
)
from public.get_api_key_usage(p_key_id => pg_temp.key('key 3')) u;
select is(
  (public.get_api_key_usage(p_key_id => pg_temp.key('key 1'))).days_since_last_use, null,
  'an unused key shows null'
);

select is(to_jsonb(r), '{"success": true}', 'a key is revoked')
from public.revoke_api_key(p_key_id => pg_temp.key('key 2')) r;
select is(
  (select k.status || ' ' || (k.revoked_at = now()) from public.list_api_keys() k
    where k.name = 'key 2'),
  'revoked true', 'revoked wins over expired'
);
select pg_temp.act_as_postgres();
update logloom.api_keys set revoked_at = now() - interval '1 hour' where name = 'key 2';
select pg_temp.act_as_user('acme', 'bob');
select is(to_jsonb(r), '{"success": true}', 'revoking it again')
from public.revoke_api_key(p_key_id => pg_temp.key('key 2')) r;
select is(
  (select k.revoked_at from public.list_api_keys() k where k.name = 'key 2'),
  now() - interval '1 hour', 'changes nothing'
);
select throws_ok(
  format('select public.%s(p_key_id => %s)', o, a.argument), a.code, a.message,
  format('%s: %s', o, a.what)
)
from unnest('{revoke_api_key,get_api_key_usage}'::text[]) o, (
  values
    ('null', 'PT400', 'Missing required parameter: p_key_id', 'no key'),
    ('gen_random_uuid()', 'PT404', 'API key not found', 'an unknown key'),
    ('pg_temp.key(''other'')', 'PT404', 'API key not found', 'another tenant''s key')
) a (argument, code, message, what);

select * from finish();
rollback;
