-- A portal session is limited, and it ends.
begin;
\ir ../actors.psql
\ir ../search/records.psql
select plan(32);

create function pg_temp.read_with(p_token text, p_query text default null)
returns text
language plpgsql
as $$
declare
  v_found text;
begin
  perform pg_temp.act_as_service_role();
  select string_agg(right(l ->> 'id', 1), ' ' order by l ->> 'ts') into v_found
  from json_array_elements(public.read_logs(
    encode(sha256(convert_to(p_token, 'UTF8')), 'hex'), 'search_logs',
    jsonb_build_object('p_query_dsl', p_query, 'p_ts_from', 'now-1d')
  ) -> 'logs') l;
  return coalesce(v_found, 'nothing');
exception when others then
  return concat_ws(' ', sqlstate, sqlerrm);
end;
$$;

insert into logloom.tenants (tenant_id, plan_id)
values ('acme', 'pro'), ('managed', 'pro') on conflict do nothing;
select pg_temp.add_records('[
  {"id": "018f0000-0000-7000-8000-000000000001", "ago": "3 minutes", "level": "error",
    "msg": "for 42", "user_id": "ann", "attrs": {"customer": 42}},
  {"id": "018f0000-0000-7000-8000-000000000002", "ago": "2 minutes", "level": "info",
    "msg": "for 42 too", "attrs": {"customer": 42}},
  {"id": "018f0000-0000-7000-8000-000000000003", "ago": "1 minute", "level": "info",
    "msg": "for 43", "attrs": {"customer": 43}}
]');

-- View and query are joined as trees, so that no text can break out of the view.
select pg_temp.act_as_user('acme', 'alice');
select matches(
  pg_temp.attempt(format('select public.create_log_portal_session(p_query_dsl => %L)', q.query)),
  '^PT400 ', q.query || ' is not a complete query'
)
from unnest(array['@customer:42) OR (level:info', '@customer:42 OR', '(@customer:42', '"42'])
  q (query);
create temp table narrow as
select * from public.create_log_portal_session(p_query_dsl => '@customer:42 OR @customer:44');
grant all on narrow to public;
select matches(pg_temp.read_with(n.token, q.query), '^PT400 ', 'refused: ' || q.query)
from narrow n
cross join unnest(array['x) OR (@customer:43', 'level:info) OR (level:info']) q (query);
select is(pg_temp.read_with(n.token, q.query), q.found, 'within the session''s query: ' || q.query)
from narrow n
cross join (
  values
    ('@customer:43', 'nothing'),
    ('NOT @customer:42', 'nothing'),
    ('level:info OR level:error', '1 2'),
    ('level:info OR NOT level:info', '1 2')
) q (query, found);

-- The view applies as it is now.
select pg_temp.act_as_user('acme', 'alice');
create temp table seen as
select v.view_id, s.session_id, s.token
from public.create_log_view(p_name => 'errors', p_query_dsl => 'level:error') v
cross join lateral public.create_log_portal_session(
  p_view_id => v.view_id, p_query_dsl => '@customer:42', p_label => 'of the view'
) s;
grant all on seen to public;
select is(pg_temp.read_with(s.token), '1', 'the session shows records of its view') from seen s;
select pg_temp.act_as_user('acme', 'alice');
select lives_ok(
  format(
    'select public.update_log_view(p_view_id => %L, p_query_dsl => ''level:info'', '
      'p_hidden_fields => ''{user_id}'')', s.view_id
  ),
  'the view changes'
)
from seen s;
select is(pg_temp.read_with(s.token), '2', 'and so does the session') from seen s;
select is(
  pg_temp.read_with(s.token, 'user_id:ann'), 'PT400 The field "user_id" is hidden from you',
  'without newly hidden fields'
)
from seen s;
select pg_temp.act_as_user('acme', 'alice');
select throws_ok(
  format('select public.delete_log_view(p_view_id => %L)', s.view_id), 'PT409', null,
  'a view with an active session is not deleted'
)
from seen s;
select lives_ok(
  format('select public.revoke_log_portal_session(p_session_id => %L)', s.session_id),
  'its session is revoked'
)
from seen s;
select lives_ok(
  format('select public.delete_log_view(p_view_id => %L)', s.view_id), 'then the view is deleted'
)
from seen s;
select matches(pg_temp.read_with(s.token), '^PT401 ', 'and the session stays revoked') from seen s;
select pg_temp.act_as_user('acme', 'alice');
select is(
  (
    select a.details ? 'last_used_at' and a.details ? 'first_used_at'
    from public.list_tenant_audit_events() a
    where a.action = 'portal_session.revoked' and a.subject = s.session_id::text
  ),
  true, 'the audit log has its first and last use'
)
from seen s;

-- Origins are compared as browsers write them.
select is(
  pg_temp.attempt(format(
    'select public.create_log_portal_session(p_origins => array[%L])', o.origin
  )) = 'accepted', o.is_one, o.origin
)
from (
  values
    ('https://app.example:8443', true),
    ('https://app.example:443', false),
    ('https://app.example:65536', false),
    ('https://App.example', false),
    (E'https://app.example\nhttps://evil.example', false)
) o (origin, is_one);

-- A link that was not opened in time is refused.
select pg_temp.act_as_postgres();
update logloom_private.settings set portal_url = 'https://logs.example/portal.html';
update logloom.plans set max_portal_sessions = 1 where plan_id = 'pro';
insert into logloom.tenant_members (tenant_id, user_id, role)
values ('managed', 'olga', 'owner'), ('managed', 'adam', 'admin');
select pg_temp.act_as_user('managed', 'adam');
create temp table linked as select * from public.create_log_portal_session(p_link => true);
grant all on linked to public;
select throws_ok(
  'select public.create_log_portal_session()', 'PT400',
  'Plan limit exceeded: portal sessions (max 1)', 'a link counts while it can be opened'
);
select pg_temp.act_as_postgres();
update logloom.portal_sessions s set code_expires_at = now()
where s.session_id = (select l.session_id from linked l);
select pg_temp.act_as_service_role();
select throws_ok(
  format(
    'select public.open_log_portal_session(%L)',
    encode(sha256(convert_to(split_part(l.url, '#', 2), 'UTF8')), 'hex')
  ),
  'PT401', 'This link has been used, or is too old', 'after ten minutes it cannot be opened'
)
from linked l;
select pg_temp.act_as_user('managed', 'adam');
select is(
  (select s.status from public.list_log_portal_sessions() s), 'expired',
  'the list shows it as expired'
);
create temp table of_adam as select * from public.create_log_portal_session();
grant all on of_adam to public;
select is(pg_temp.read_with(a.token), 'nothing', 'and it no longer counts')
from of_adam a;

-- With roles from tokens, a member's row still wins.
select pg_temp.act_as_postgres();
update logloom_private.settings set roles_from_token = true;
update logloom.tenant_members set role = 'member' where user_id = 'adam';
select matches(
  pg_temp.read_with(a.token), '^PT401 ', 'a session ends when its creator loses the role'
)
from of_adam a;
update logloom_private.settings set roles_from_token = false;
delete from logloom.tenant_members where user_id = 'adam';
select matches(pg_temp.read_with(a.token), '^PT401 ', 'and when they are removed') from of_adam a;
insert into logloom.tenant_members (tenant_id, user_id, role) values ('managed', 'adam', 'admin');
select matches(
  pg_temp.read_with(a.token), '^PT401 ', 'it stays ended when they return'
) from of_adam a;
select is(
  (
    select count(*)::integer
    from logloom.audit_events e
    join of_adam a on a.session_id::text = e.subject
    where e.action = 'portal_session.revoked' and e.details ->> 'created_by' = 'adam'
  ),
  1, 'the audit log has this once'
);

select * from finish();
rollback;
