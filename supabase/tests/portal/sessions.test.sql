-- Customers read their logs in portal sessions.
begin;
\ir ../actors.psql
\ir ../search/records.psql
\ir sessions.psql
select plan(43);

insert into logloom.tenants (tenant_id, plan_id)
values ('acme', 'pro'), ('other', 'pro') on conflict do nothing;
select pg_temp.add_records('[
  {"id": "018f0000-0000-7000-8000-000000000001", "ago": "3 minutes", "level": "error",
    "service": "shop", "msg": "for 42", "user_id": "ann", "attrs": {"customer": 42}},
  {"id": "018f0000-0000-7000-8000-000000000002", "ago": "2 minutes", "level": "info",
    "service": "shop", "msg": "for 42 too", "attrs": {"customer": 42}},
  {"id": "018f0000-0000-7000-8000-000000000003", "ago": "1 minute", "level": "info",
    "service": "shop", "msg": "for 43", "attrs": {"customer": 43}},
  {"tenant": "other", "ago": "1 minute", "level": "error", "msg": "of another"}
]');

-- A user creates a session.
select pg_temp.act_as_user('acme', 'alice');
insert into made
select 'all', c.* from public.create_log_portal_session() c
union all
select 'customer 42', c.*
from public.create_log_portal_session(
  p_query_dsl => '@customer:42', p_label => E' Ann''s shop\n',
  p_origins => '{https://app.example,http://localhost:3000}', p_expires_in => 604800
) c
union all
select 'in view', c.*
from public.create_log_portal_session(
  p_view_id => (public.create_log_view(
    p_name => 'errors', p_query_dsl => 'level:error', p_hidden_fields => '{user_id}',
    p_operations => '{search_logs}'
  )).view_id,
  p_query_dsl => '@customer:(42 OR 43)'
) c;

select matches(m.token, '^llp_[0-9A-Za-z]{36}$', 'a token') from made m where m.who = 'all';
select is(m.url, null, 'without a link') from made m where m.who = 'all';
select is(m.expires_at, now() + interval '1 hour', 'for an hour by default')
from made m where m.who = 'all';
select is(m.expires_at, now() + interval '7 days', 'for a week at most')
from made m where m.who = 'customer 42';
select results_eq(
  $$select s.label, s.query_dsl, s.origins, s.status, s.created_by, s.first_used_at
    from public.list_log_portal_sessions() s where s.label is not null$$,
  $$values ('Ann''s shop', '@customer:42', '{https://app.example,http://localhost:3000}'::text[],
    'active', 'alice', null::timestamptz)$$,
  'it is listed'
);
select throws_ok(
  'select public.create_log_portal_session(' || p || ')', 'PT400', c.message, left(p, 60)
)
from (
  values
    ('Invalid p_expires_in: 60 to 604800 seconds',
      array['p_expires_in => 59', 'p_expires_in => 604801']),
    ('Invalid p_label: at most 200 characters', array['p_label => repeat(''l'', 201)']),
    ('Invalid p_origins: at most 20 origins such as https://app.example.com', array[
      'p_origins => ''{https://app.example/}''', 'p_origins => ''{http://app.example}''',
      'p_origins => ''{*}''', 'p_origins => ''{null}''::text[]',
      'p_origins => array_fill(''https://a.example''::text, array[21])'
    ]),
    ('p_link needs the address of the portal''s page', array['p_link => true'])
) c (message, parameters)
cross join unnest(c.parameters) p;
select throws_like(
  $$select public.create_log_portal_session(p_query_dsl => '| count()')$$, '%',
  'a query with stages is refused'
);
select throws_ok(
  $$select public.create_log_portal_session(
    p_view_id => '018f0000-0000-7000-8000-000000000009')$$,
  'PT404', 'View not found', 'a view that does not exist'
);
select throws_ok(
  'select token_digest from logloom.portal_sessions', '42501', null, 'no user reads the digests'
);

-- A session reads within its limits.
select is(pg_temp.found('all'), '1 2 3', 'a session reads its tenant''s records');
select is(pg_temp.found('customer 42'), '1 2', 'narrowed by its query');
select is(
  pg_temp.found('customer 42', 'level:info OR @customer:43'), '2', 'a query cannot widen it'
);
select is(pg_temp.found('in view'), '1', 'and by its view');
select is(
  pg_temp.found('in view', 'user_id:ann'),
  'PT400 The field "user_id" is hidden from you '
    'Leave it out. Whoever gave you access decides which fields are hidden.',
    'without the view''s hidden fields'
);
select is(
  pg_temp.ask(o.who, o.operation), 'PT403 This caller may not call ' || o.operation,
  'a session may not call ' || o.operation
)
from (
  values
    ('in view', 'log_stats'), ('customer 42', 'list_alert_rules'),
    ('customer 42', 'list_alert_history'), ('customer 42', 'list_saved_searches')
) o (who, operation);
select is(
  pg_temp.found('customer 42', null, 'https://app.example'), '1 2', 'in a page of a named origin'
);
select is(
  pg_temp.found('customer 42', null, 'https://evil.example'),
  'PT403 This session is not for pages of https://evil.example '
    'p_origins of create_log_portal_session lists the origins that may use a session.',
    'in no page of another origin'
);
select alike(
  pg_temp.found('all', null, 'https://app.example'), 'PT403%', 'in no page without origins'
);

select pg_temp.act_as_user('acme', 'alice');
select is(
  (
    select (s.first_used_at, s.last_used_at) = (now(), now())
    from public.list_log_portal_sessions() s where s.label is not null
  ),
  true, 'its use is noted'
);
select results_eq(
  $$select a.actor, a.action
    from public.list_tenant_audit_events() a
    where a.subject = (
      select s.session_id::text from public.list_log_portal_sessions() s where s.label is not null
    )
    order by a.action$$,
  $$select a.* from (
      select 'alice', 'portal_session.created'
      union all
      select 'portal ' || s.session_id, 'portal_session.first_used'
      from public.list_log_portal_sessions() s where s.label is not null
    ) a$$,
  'the audit log has its creator and its first use'
);

-- A revoked session ends.
select is(public.revoke_log_portal_session(p_session_id => m.session_id)::text, '(t)', n)
from made m
cross join unnest('{it can be revoked,twice}'::text[]) n
where m.who = 'all';
select alike(
  pg_temp.found('all'), 'PT401 % The portal session was revoked.', 'then it reads nothing'
);
select pg_temp.act_as_user('other', 'eve');
select throws_ok(
  format('select public.revoke_log_portal_session(p_session_id => %L)', m.session_id),
  'PT404', 'Portal session not found', 'another tenant cannot revoke it'
)
from made m where m.who = 'all';
select is_empty('select public.list_log_portal_sessions()', 'nor see it');

-- A link opens a session once.
select pg_temp.act_as_postgres();
update logloom_private.settings set portal_url = 'https://logs.example/portal.html';
select pg_temp.act_as_service_role();
insert into made
select 'linked', s.*
from public.create_log_portal_session(p_tenant_id => 'acme', p_link => true) s;
select is(m.token, null, 'a link has no token') from made m where m.who = 'linked';
select matches(
  m.url, '^https://logs\.example/portal\.html#llc_[0-9A-Za-z]{36}$', 'but a code after #'
)
from made m where m.who = 'linked';
insert into made (who, session_id, token)
select 'opened', o.session_id, o.token
from made m
cross join lateral public.open_log_portal_session(pg_temp.digest(split_part(m.url, '#', 2))) o
where m.who = 'linked';
select is(count(distinct m.session_id), 1::bigint, 'the code opens the session')
from made m where m.who in ('linked', 'opened');
select throws_ok(
  format('select public.open_log_portal_session(%L)', pg_temp.digest(split_part(m.url, '#', 2))),
  'PT401', 'This link has been used, or is too old', 'only once'
)
from made m where m.who = 'linked';
select is(pg_temp.found('opened'), '1 2 3', 'the token reads');

-- The plan limits sessions and requests.
select pg_temp.act_as_postgres();
update logloom.plans set max_portal_sessions = 3, portal_requests_per_minute = 6
where plan_id = 'pro';
select pg_temp.act_as_user('acme', 'alice');
select throws_ok(
  'select public.create_log_portal_session()', 'PT400',
  'Plan limit exceeded: portal sessions (max 3)', 'the plan limits sessions'
);
select alike(
  pg_temp.found('opened'), '%PT429%Rate limit exceeded: 6 portal requests per minute%',
  'and requests'
);

select * from finish();
rollback;
