begin;
\ir ../actors.psql
select plan(35);

create function pg_temp.check(
  p_role text, p_claims text, p_headers text, p_method text default 'POST',
  p_path text default '/rpc/list_api_keys', p_search_path text default '"public", "extensions"'
)
returns text
language plpgsql
as $$
begin
  perform set_config('request.headers', p_headers, true),
    set_config('request.method', p_method, true),
    set_config('request.path', p_path, true),
    set_config('search_path', p_search_path, true),
    set_config(
      'request.jwt.claims', (jsonb_build_object('exp', 9999999999) || p_claims::jsonb)::text, true
    ),
    set_config('role', p_role, true);
  perform logloom_private.check_request();
  perform set_config('role', 'none', true);
  return 'ok';
exception when others then
  perform set_config('role', 'none', true);
  return sqlstate || ' ' || sqlerrm;
end;
$$;

create role editor nologin;
grant editor to postgres;

select is(
  pg_temp.check(c.role, c.claims, c.headers, c.method, c.path), case c.answer
    when 'missing' then 'PT400 Missing authorization header'
    when 'refused' then 'PT401 Invalid token, API key, or missing tenant_id'
    else c.answer
  end, c.name
)
from (
  values
    ('anon', '{}', '{}', 'POST', '/rpc/list_api_keys', 'missing', 'no Authorization header'),
    ('anon', '{}', null, 'POST', '/rpc/list_api_keys', 'missing', 'no headers at all'),
    ('anon', '{}', '{}', 'POST', '/rpc/search%5Flogs', 'missing', 'an encoded name is ours, too'),
    ('anon', '{}', '{}', 'POST', '/rpc/%73earch%5flogs', 'missing', 'in any letter case'),
    ('anon', '{"tenant_id": "acme"}', '{"authorization": "x"}', 'POST', '/rpc/list_api_keys',
      'refused', 'anon, even with a tenant'),
    ('authenticated', '{"tenant_id": "acme"}', '{"authorization": "x"}', 'GET',
      '/rpc/list_api_keys', 'PT405 Method GET is not allowed here',
      'operations cannot be called by GET'),
    ('service_role', '{"role": "service_role"}', '{"authorization": "x"}', 'POST',
      '/rpc/list_api_keys', 'ok', 'service_role needs no tenant'),
    ('authenticated', '{}', '{"authorization": "x"}', 'POST', '/rpc/place_order', 'ok',
      'users without a tenant may call other functions of the project'),
    ('editor', '{"role": "editor"}', '{"authorization": "x"}', 'GET', '/orders', 'ok',
      'so may roles of the project''s own'),
    ('editor', '{"role": "editor", "tenant_id": "acme"}', '{"authorization": "x"}', 'POST',
      '/rpc/list_api_keys', 'refused', 'which cannot call operations, even with a tenant')
) c (role, claims, headers, method, path, answer, name);
select is(
  pg_temp.check('authenticated', c.claims, '{"authorization": "x"}'),
  'PT401 Invalid token, API key, or missing tenant_id',
  'the tenant is not usable: ' || left(c.claims, 60)
)
from unnest(
  array[
    '{}', '{"tenant_id": null}', '{"tenant_id": ""}', E'{"tenant_id": " \\t\\n"}',
    '{"tenant_id": 5}', '{"tenant_id": ["acme"]}', '{"tenant_id": {"acme": 1}}',
    '{"tenant_id": true}', '{"user_metadata": {"tenant_id": "acme"}}',
    '{"app_metadata": {"tenant_id": "acme"}}',
    jsonb_build_object('tenant_id', repeat('t', 256))::text
  ]
) c (claims);
select is(
  pg_temp.check(
    'authenticated', jsonb_build_object('tenant_id', repeat('t', 255))::text,
    '{"authorization": "x"}'
  ),
  'ok', 'a tenant of 255 characters'
);
select is(
  pg_temp.check('anon', '{"role": "anon"}', '{}', method, path, search_path), 'ok',
  format('not ours: %s %s in %s', method, path, search_path)
)
from (
  values
    ('GET', '/', '"public", "extensions"'),
    ('GET', '/orders', '"public", "extensions"'),
    ('POST', '/rpc/place_order', '"public", "extensions"'),
    ('POST', '/rpc/search_logs_of_orders', '"public", "extensions"'),
    ('POST', '/rpc/search_logs', '"app", "public", "extensions"'),
    ('GET', '/search_logs', '"public", "extensions"'),
    ('GET', null, '"public", "extensions"'),
    ('POST', '/rpc/' || repeat('%5F', 3000), '"public", "extensions"')
) as r (method, path, search_path);

select pg_temp.act_as('authenticated', '{"tenant_id": "acme"}');
select is(logloom_private.resolve_tenant('acme'), 'acme', 'users may name their own tenant');
select throws_ok(
  $$select public.create_saved_search(p_name => 'n', p_query_dsl => 'ts:*')$$,
  'PT401', 'Invalid token, API key, or missing tenant_id', 'a saved search needs a user'
);

-- This also holds if the project has replaced our pre-request function.
select pg_temp.act_as('service_role', '{"role": "service_role", "exp": null}');
select throws_ok(
  $$select logloom_private.resolve_tenant('acme')$$,
  'PT401', 'Invalid token, API key, or missing tenant_id', 'a token of service_role needs exp'
);
select pg_temp.act_as_service_role();
select is(
  logloom_private.resolve_tenant('acme'), 'acme', 'a token of service_role with exp is valid'
);
select set_config('request.jwt.claims', '', true);
select is(
  logloom_private.resolve_tenant('acme'), 'acme', 'a session of the database needs no token'
);

select * from finish();
rollback;
