begin;
\ir ../actors.psql
select plan(19);

create function pg_temp.check(
  p_role text, p_claims text, p_headers text, p_method text default 'POST'
)
returns text
language plpgsql
as $$
begin
  perform set_config('request.headers', p_headers, true),
    set_config('request.method', p_method, true),
    set_config('request.path', '/rpc/list_api_keys', true),
    set_config('request.jwt.claims', p_claims, true),
    set_config('role', p_role, true);
  perform private.check_request();
  perform set_config('role', 'none', true);
  return 'ok';
exception when others then
  perform set_config('role', 'none', true);
  return sqlstate || ' ' || sqlerrm;
end;
$$;

create temp table said (
  missing text default 'PT400 Missing authorization header',
  refused text default 'PT401 Invalid token, API key, or missing tenant_id'
);
insert into said default values;

select is(
  pg_temp.check('anon', '{"role": "anon"}', '{}'), said.missing,
  'no Authorization header'
) from said;
select is(
  pg_temp.check('anon', '{"role": "anon"}', null), said.missing,
  'no headers at all'
) from said;
select is(
  pg_temp.check('anon', '{"role": "anon", "tenant_id": "acme"}', '{"authorization": "x"}'),
  said.refused, 'anon, even with a tenant'
) from said;
select is(
  pg_temp.check('authenticated', claims, '{"authorization": "x"}'), said.refused,
  'no usable tenant: ' || claims
)
from said, unnest(
  array[
    '{}', '{"tenant_id": null}', '{"tenant_id": ""}', E'{"tenant_id": " \\t\\n"}',
    '{"tenant_id": 5}', '{"tenant_id": ["acme"]}', '{"tenant_id": {"acme": 1}}',
    '{"tenant_id": true}', '{"user_metadata": {"tenant_id": "acme"}}',
    '{"app_metadata": {"tenant_id": "acme"}}'
  ]
) claims;
select is(
  pg_temp.check(
    'authenticated', jsonb_build_object('tenant_id', repeat('t', 256))::text,
    '{"authorization": "x"}'
  ),
  said.refused, 'a tenant of 256 characters'
) from said;
select is(
  pg_temp.check(
    'authenticated', jsonb_build_object('tenant_id', repeat('t', 255))::text,
    '{"authorization": "x"}'
  ),
  'ok', 'a tenant of 255 characters'
);
select is(
  pg_temp.check('authenticated', '{"tenant_id": "acme"}', '{"authorization": "x"}', 'GET'),
  'PT405 Method GET is not allowed here', 'an operation by GET'
);
select is(
  pg_temp.check('service_role', '{"role": "service_role"}', '{"authorization": "x"}'),
  'ok', 'service_role needs no tenant'
);

select pg_temp.act_as('authenticated', '{"tenant_id": "acme"}');
select is(
  private.resolve_tenant('acme'), 'acme', 'a user''s tenant may be named'
);
select throws_ok(
  $$select public.create_saved_search(p_name => 'n', p_query_dsl => 'ts:*')$$,
  'PT401', 'Invalid token, API key, or missing tenant_id', 'a saved search needs a user'
);

select * from finish();
rollback;
