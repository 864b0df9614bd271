begin;
select plan(16);

insert into logloom.tenants (tenant_id, plan_id, created_at)
values ('acme', 'free', now()), ('umbrella', 'free', now()), ('wayne', 'free', now());
insert into logloom.tenant_members (tenant_id, user_id, role, created_at)
values
  ('acme', '8ccaa7af-909f-44e7-84cb-67cdccb56be6', 'owner', now() - interval '1 day'),
  ('umbrella', '8ccaa7af-909f-44e7-84cb-67cdccb56be6', 'member', now()),
  ('umbrella', '5e1f8a44-8f0d-4b77-9a4a-2b4dfb4ad5d1', 'admin', now());

-- Returns an event of Supabase Auth with all members.
create function pg_temp.event(p_user_id text, p_app_metadata jsonb, p_claims jsonb default '{}')
returns jsonb
language sql
as $$
  select jsonb_build_object(
    'user_id', p_user_id, 'authentication_method', 'password',
    'claims', '{
      "aud": "authenticated", "exp": 1715690221, "iat": 1715686621,
      "iss": "https://project.supabase.co/auth/v1", "email": "user@example.com", "phone": "",
      "user_metadata": {"tenant_id": "wayne", "email_verified": true}, "role": "authenticated",
      "aal": "aal1", "amr": [{"method": "password", "timestamp": 1715686621}],
      "session_id": "4b938a09-5372-4177-a314-cfa292099ea2", "is_anonymous": false
    }'::jsonb || jsonb_build_object('sub', p_user_id, 'app_metadata', p_app_metadata) || p_claims
  )
$$;
-- postgres administers this role and may grant it to itself.
grant supabase_auth_admin to postgres with set true;

create function pg_temp.as_auth(p_sql text)
returns jsonb
language plpgsql
as $$
declare
  v_answer jsonb;
begin
  perform set_config('role', 'supabase_auth_admin', true);
  execute p_sql into v_answer;
  perform set_config('role', 'none', true);
  return v_answer;
end;
$$;

create function pg_temp.hook(p_event jsonb)
returns jsonb
language sql
as $$
  select pg_temp.as_auth(format('select logloom_private.custom_access_token_hook(%L)', p_event))
$$;

create function pg_temp.tenant_of(p_user_id text, p_app_metadata jsonb, p_claims jsonb default '{}')
returns jsonb
language sql
as $$
  select pg_temp.hook(pg_temp.event(p_user_id, p_app_metadata, p_claims)) #> '{claims,tenant_id}'
$$;

select is(pg_temp.tenant_of(u.user_id, u.app_metadata, u.claims), u.tenant_id, u.name)
from (
  values
    ('5e1f8a44-8f0d-4b77-9a4a-2b4dfb4ad5d1', '{"provider": "email"}'::jsonb, '{}'::jsonb,
      '"umbrella"'::jsonb, 'a user of one tenant gets it'),
    ('8ccaa7af-909f-44e7-84cb-67cdccb56be6', '{"provider": "email"}', '{}', '"acme"',
      'a user of several tenants gets the one joined first'),
    ('8ccaa7af-909f-44e7-84cb-67cdccb56be6', '{"tenant_id": "umbrella"}', '{}', '"umbrella"',
      'a user of several tenants gets the one in app_metadata'),
    ('8ccaa7af-909f-44e7-84cb-67cdccb56be6', '{"tenant_id": null}', '{}', '"acme"',
      'null in app_metadata chooses none'),
    ('8ccaa7af-909f-44e7-84cb-67cdccb56be6', '{"tenant_id": "wayne"}', '{}', null,
      'a choice of a tenant that the user does not belong to gets no claim'),
    ('8ccaa7af-909f-44e7-84cb-67cdccb56be6', '{"tenant_id": ["acme"]}', '{}', null,
      'a choice that is not a text gets no claim'),
    ('00000000-0000-4000-8000-000000000000', '{"provider": "email"}', '{}', null,
      'a sign-up without a tenant gets no claim'),
    ('00000000-0000-4000-8000-000000000000', '{"tenant_id": "acme"}', '{"tenant_id": "acme"}',
      null, 'an earlier value of the claim is removed')
) u (user_id, app_metadata, claims, tenant_id, name);
select is(
  pg_temp.hook(pg_temp.event('5e1f8a44-8f0d-4b77-9a4a-2b4dfb4ad5d1', '{"provider": "email"}')),
  jsonb_build_object(
    'claims',
    pg_temp.event('5e1f8a44-8f0d-4b77-9a4a-2b4dfb4ad5d1', '{"provider": "email"}') -> 'claims'
    || '{"tenant_id": "umbrella"}'
  ),
  'all other claims stay'
);

select throws_ok(
  $$select pg_temp.as_auth('select to_jsonb(role) from logloom.tenant_members')$$,
  '42501', null, 'Auth cannot read roles'
);
select throws_ok(
  $$select pg_temp.as_auth('select to_jsonb(t) from logloom.tenants t')$$,
  '42501', null, 'Auth cannot read other tables'
);

update logloom.tenant_members set chosen_at = now()
where tenant_id = 'umbrella' and user_id = '8ccaa7af-909f-44e7-84cb-67cdccb56be6';
select is(
  pg_temp.tenant_of('8ccaa7af-909f-44e7-84cb-67cdccb56be6', '{"provider": "email"}'),
  '"umbrella"', 'after switching a user gets the chosen tenant'
);
select is(
  pg_temp.tenant_of('8ccaa7af-909f-44e7-84cb-67cdccb56be6', '{"tenant_id": "acme"}'),
  '"acme"', 'app_metadata wins over switching'
);
update logloom.tenant_members set chosen_at = null where tenant_id = 'umbrella';

delete from logloom.tenant_members where tenant_id = 'acme';
select is(
  pg_temp.tenant_of('8ccaa7af-909f-44e7-84cb-67cdccb56be6', '{"provider": "email"}'),
  '"umbrella"', 'after leaving a tenant the next token does not name it'
);

set local role authenticated;
select throws_ok(
  $$select logloom_private.custom_access_token_hook('{}')$$, '42501', null,
    'users cannot call the hook'
);
reset role;
select throws_ok(
  $$insert into logloom.tenant_members (tenant_id, user_id, role)
    values ('acme', gen_random_uuid(), 'root')$$,
  '23514', null, 'a role is owner, admin, member or viewer'
);

select * from finish();
rollback;
