-- A portal session is limited, and it ends.
begin;
\ir ../actors.psql
\ir ../search/records.psql
\ir sessions.psql
select plan(30);

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
insert into made
select 'narrow', s.*
from public.create_log_portal_session(p_query_dsl => '@customer:42 OR @customer:44') s;
select matches(pg_temp.found('narrow', q.query), '^PT400 ', 'refused: ' || q.query)
from unnest(array['x) OR (@customer:43', 'level:info) OR (level:info']) q (query);
select is(pg_temp.found('narrow', q.query), q.found, 'within the session''s query: ' || q.query)
from (
  values
    ('@customer:43', 'nothing'),
    ('NOT @customer:42', 'nothing'),
    ('level:info OR level:error', '1 2'),
    ('level:info OR NOT level:info', '1 2')
) q (query, found);

-- The view applies as it is now.
select pg_temp.act_as_user('acme', 'alice');
create temp table views as
select v.view_id from public.create_log_view(p_name => 'errors', p_query_dsl => 'level:error') v;
insert into made
select 'in view', s.*
from views v
cross join lateral public.create_log_portal_session(
  p_view_id => v.view_id, p_query_dsl => '@customer:42', p_label => 'of the view'
) s;
select is(pg_temp.found('in view'), '1', 'the session shows records of its view');
select pg_temp.act_as_user('acme', 'alice');
select public.update_log_view(
  p_view_id => v.view_id, p_query_dsl => 'level:info', p_hidden_fields => '{user_id}'
)
from views v;
select is(pg_temp.found('in view'), '2', 'when the view changes, so does the session');
select matches(
  pg_temp.found('in view', 'user_id:ann'), '^PT400 The field "user_id" is hidden from you',
  'without newly hidden fields'
);
select pg_temp.act_as_user('acme', 'alice');
select throws_ok(
  format('select public.delete_log_view(p_view_id => %L)', v.view_id), 'PT409', null,
  'a view with an active session is not deleted'
)
from views v;
select public.revoke_log_portal_session(p_session_id => m.session_id)
from made m where m.who = 'in view';
select is(
  public.delete_log_view(p_view_id => v.view_id)::text, '(t)', 'when it is revoked, the view is'
)
from views v;
select matches(pg_temp.found('in view'), '^PT401 ', 'and the session stays revoked');
select pg_temp.act_as_user('acme', 'alice');
select is(
  a.details ? 'last_used_at' and a.details ? 'first_used_at', true,
  'the audit log has its first and last use'
)
from public.list_tenant_audit_events() a
join made m on m.session_id::text = a.subject and m.who = 'in view'
where a.action = 'portal_session.revoked';

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
insert into made select 'linked', s.* from public.create_log_portal_session(p_link => true) s;
select throws_ok(
  'select public.create_log_portal_session()', 'PT400',
  'Plan limit exceeded: portal sessions (max 1)', 'a link counts while it can be opened'
);
select pg_temp.act_as_postgres();
update logloom.portal_sessions s set code_expires_at = now()
from made m where m.session_id = s.session_id and m.who = 'linked';
select pg_temp.act_as_service_role();
select throws_ok(
  format('select public.open_log_portal_session(%L)', pg_temp.digest(split_part(m.url, '#', 2))),
  'PT401', 'This link has been used, or is too old', 'after ten minutes it cannot be opened'
)
from made m where m.who = 'linked';
select pg_temp.act_as_user('managed', 'adam');
select is(
  (select s.status from public.list_log_portal_sessions() s), 'expired',
  'the list shows it as expired'
);
insert into made select 'of adam', s.* from public.create_log_portal_session() s;
select is(pg_temp.found('of adam'), 'nothing', 'and it no longer counts');

-- With roles from tokens, a member's row still wins.
select pg_temp.act_as_postgres();
update logloom_private.settings set roles_from_token = true;
update logloom.tenant_members set role = 'member' where user_id = 'adam';
select matches(
  pg_temp.found('of adam'), '^PT401 .* The portal session was revoked.$',
  'a session ends when its creator loses the role'
);
update logloom_private.settings set roles_from_token = false;
delete from logloom.tenant_members where user_id = 'adam';
select matches(pg_temp.found('of adam'), '^PT401 ', 'and when they are removed');
insert into logloom.tenant_members (tenant_id, user_id, role) values ('managed', 'adam', 'admin');
select matches(pg_temp.found('of adam'), '^PT401 ', 'it stays ended when they return');
select is(count(*), 1::bigint, 'the audit log has this once')
from logloom.audit_events e
join made m on m.session_id::text = e.subject and m.who = 'of adam'
where e.action = 'portal_session.revoked' and e.details ->> 'created_by' = 'adam';

select * from finish();
rollback;
