-- Pages send for one service with a token, until the token expires or its user may no longer send.
begin;
\ir ../actors.psql
\ir ../ingest.psql
select plan(34);

create schema if not exists auth;
create table if not exists auth.sessions (id uuid primary key);

create function pg_temp.verdict(p_token text)
returns text
language plpgsql
as $$
declare
  v_hint text;
begin
  set local role service_role;
  perform pg_temp.send_request(p_key_digest => encode(sha256(p_token::bytea), 'hex'));
  reset role;
  return 'let in';
exception when sqlstate 'PT401' then
  get stacked diagnostics v_hint = pg_exception_hint;
  return v_hint;
end;
$$;

select pg_temp.act_as_user('acme', 'alice');
create temp table made as select * from public.create_ingest_token(p_service => E' shop\n');
grant all on made to public;

select matches(m.token, '^llt_[0-9A-Za-z]{36}$', 'a token has its form') from made m;
select is(m.service, 'shop', 'its service is trimmed') from made m;
select is(m.expires_at, now() + interval '15 minutes', 'by default it lives as long as possible')
from made m;
select is(
  (public.create_ingest_token(p_service => repeat('s', 200), p_expires_in => 60)).expires_at,
  now() + interval '1 minute', 'it may live shorter'
);
select throws_ok(
  format('select public.create_ingest_token(%s)', a), 'PT400', c.message, c.message || ': ' || a
)
from (
  values
    ('Missing required parameter: p_service', array['']),
    ('Invalid p_service: 1 to 200 characters after trimming',
      array[$$p_service => E' \t'$$, $$p_service => repeat('s', 201)$$]),
    ('Invalid p_expires_in: 1 to 900 seconds', array[
      $$p_service => 's', p_expires_in => 0$$, $$p_service => 's', p_expires_in => 901$$
    ])
) c (message, arguments)
cross join unnest(c.arguments) a;
select throws_ok(
  'select * from logloom_private.ingest_tokens', '42501', null, 'no user reads the table'
);
select results_eq(
  $$select a.actor, a.action, a.subject, a.details
    from public.list_tenant_audit_events(p_action => 'ingest_token.created') a
    where a.subject = 'shop'$$,
  $$select 'alice', 'ingest_token.created', 'shop',
      jsonb_build_object('expires_at', now() + interval '15 minutes')$$,
  'its creation is audited'
);

select pg_temp.act_as_postgres();
select is_empty(
  $$select from logloom_private.ingest_tokens t, made m
    where to_jsonb(t)::text like '%' || m.token || '%'$$,
  'the token itself is not stored'
);

-- A token sends for its service only.
set local role service_role;
create temp table answer as
select pg_temp.send_request(
  p_key_digest => encode(sha256(m.token::bytea), 'hex'),
  p_ts => array[null, null, now() + interval '2 days', null]::timestamptz[],
  p_msg => array['a', 'b', 'c', 'd'], p_service => array['shop', 'api', 'shop', null]
) as body
from made m;
reset role;
select is(
  a.body,
  '{"success": true, "ingested": 2, "rejected": 2, "errors": [
    {"index": 1, "code": "service_is_another",
      "message": "The token may only send for the service shop"},
    {"index": 2, "code": "ts_out_of_range", "message": "ts is more than 24 h ahead"}]}',
  'events are accepted or rejected one by one, with the reason'
) from answer a;
select results_eq(
  $$select q.tenant_id, q.key_id, q.msg, q.service from logloom_private.queue q$$,
  $$values ('acme', null::uuid, array['a', 'd'], array['shop', 'shop'])$$,
  'an event without a service gets the token''s'
);
set local role service_role;
select is(
  pg_temp.send_request(
    p_key_digest => encode(sha256(m.token::bytea), 'hex'), p_ts => array[null]::timestamptz[],
    p_service => array['api']
  ) - 'errors',
  '{"success": false, "ingested": 0, "rejected": 1}',
  'a request with only another service stores nothing'
) from made m;
select is(
  pg_temp.send_request(
    p_key_digest => encode(sha256(m.token::bytea), 'hex'), p_ts => array[null, null]::timestamptz[]
  ),
  '{"success": true, "ingested": 2, "rejected": 0}', 'events need no service'
) from made m;
reset role;

-- A token ends.
select is(pg_temp.verdict(m.token), 'let in', 'a new token is valid') from made m;
select is(
  pg_temp.verdict('llt_another'),
  'There is no such API key or ingest token in this project.', 'an unknown token is not'
);
insert into logloom.tenant_members (tenant_id, user_id, role)
values ('acme', 'bob', 'owner'), ('acme', 'alice', 'member');
select is(pg_temp.verdict(m.token), 'let in', 'a member may send') from made m;
with v as (
  insert into logloom.log_views (tenant_id, name, created_by)
  values ('acme', 'v', 'a')
  returning view_id
)
update logloom.tenant_members m set role = 'viewer', view_id = v.view_id from v
where m.user_id = 'alice';
select is(
  pg_temp.verdict(m.token),
  'The user who created the ingest token may no longer send, or has signed out.', 'a viewer may not'
) from made m;
delete from logloom.tenant_members m where m.user_id = 'alice';
select is(
  pg_temp.verdict(m.token),
  'The user who created the ingest token may no longer send, or has signed out.',
  'a user who is not a member may not'
) from made m;
insert into logloom.tenant_members (tenant_id, user_id, role) values ('acme', 'alice', 'member');
update logloom_private.ingest_tokens t set expires_at = now() where t.service = 'shop';
select is(
  pg_temp.verdict(m.token), 'The ingest token has expired: create_ingest_token makes another.',
  'an expired token is not valid'
) from made m;
update logloom_private.ingest_tokens t set expires_at = now() - interval '1 minute 1 second'
where t.service = 'shop';
select logloom_private.purge_old_rows();
select is(
  array(select length(t.service) from logloom_private.ingest_tokens t), '{200}',
  'the purge deletes expired tokens'
);

-- A token ends with its user's session of Supabase Auth.
insert into auth.sessions (id) values ('5e551011-0000-4000-8000-000000000000');
select pg_temp.act_as('authenticated', '{"tenant_id": "acme", "sub": "alice",
  "session_id": "5e551011-0000-4000-8000-000000000000"}');
create temp table of_session as select * from public.create_ingest_token(p_service => 'session');
select pg_temp.act_as('authenticated', '{"tenant_id": "acme", "sub": "alice",
  "session_id": "of another service"}');
create temp table of_others as select * from public.create_ingest_token(p_service => 'others');
select pg_temp.act_as_postgres();
select is(pg_temp.verdict(o.token), 'let in', 'a token with a session is valid') from of_session o;
delete from auth.sessions s where s.id = '5e551011-0000-4000-8000-000000000000';
select is(
  pg_temp.verdict(o.token),
  'The user who created the ingest token may no longer send, or has signed out.',
  'it ends with its session'
) from of_session o;
select is(pg_temp.verdict(o.token), 'let in', 'sessions of other issuers do not count')
from of_others o;

-- The project makes tokens with its secret key.
select pg_temp.act_as_service_role();
create temp table of_project as
select * from public.create_ingest_token(p_tenant_id => 'acme', p_service => 'project');
select throws_ok(
  $$select public.create_ingest_token(p_service => 'project')$$,
  'PT400', 'Missing required parameter: p_tenant_id', 'the project must name the tenant'
);
select pg_temp.act_as_postgres();
select is(pg_temp.verdict(o.token), 'let in', 'a token of the project is valid') from of_project o;

-- The plan limits tokens.
update logloom.plans set max_ingest_tokens = 5, ingest_tokens_per_minute = 5
where plan_id = 'free';
select pg_temp.act_as_user('acme', 'alice');
select is(
  pg_temp.attempt($$select public.create_ingest_token(p_service => 'fifth')$$), 'accepted',
  'the plan has room for five'
);
create function pg_temp.refusal()
returns text
language plpgsql
as $$
declare
  v_headers text;
begin
  perform public.create_ingest_token(p_service => 'sixth');
  return 'accepted';
exception when sqlstate 'PGRST' then
  get stacked diagnostics v_headers = pg_exception_detail;
  return format(
    '%s %s', v_headers::json -> 'headers' ->> 'Retry-After', sqlerrm::json ->> 'message'
  );
end;
$$;
select is(
  pg_temp.refusal(), '60 Plan limit exceeded: ingest tokens (max 5)',
  'a sixth must wait until one has expired'
);
select pg_temp.act_as_postgres();
update logloom_private.ingest_tokens set expires_at = now() where service <> 'project';
select pg_temp.act_as_user('acme', 'alice');
select is(
  pg_temp.refusal(), '60 Plan limit exceeded: ingest tokens (max 5 per minute)',
  'expired tokens count for a minute'
);
select pg_temp.act_as_postgres();
update logloom_private.ingest_tokens set created_at = now() - interval '1 minute';
select pg_temp.act_as_user('acme', 'alice');
select is(pg_temp.refusal(), 'accepted', 'but no longer');

-- Deleting a tenant ends its tokens.
select pg_temp.act_as_user('acme', 'bob');
select public.delete_tenant(p_tenant_id => 'acme');
select pg_temp.act_as_postgres();
select is_empty('select from logloom_private.ingest_tokens', 'a deleted tenant has no tokens');
select is(
  pg_temp.verdict(o.token), 'There is no such API key or ingest token in this project.',
  'and its tokens are not valid'
) from of_project o;

select * from finish();
rollback;
