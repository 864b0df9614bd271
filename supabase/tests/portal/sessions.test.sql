-- Customers read their logs in portal sessions.
begin;
\ir ../actors.psql
\ir ../search/records.psql
select plan(45);

create function pg_temp.digest(p_secret text)
returns text
language sql
as $$ select encode(sha256(convert_to(p_secret, 'UTF8')), 'hex') $$;

-- Returns the last digits of the ids that a token finds, or its error.
create function pg_temp.read_with(
  p_token text, p_query text default null, p_origin text default null
)
returns text
language plpgsql
as $$
declare
  v_hint text;
  v_found text;
begin
  perform pg_temp.act_as_service_role();
  select string_agg(right(l ->> 'id', 1), ' ' order by l ->> 'ts') into v_found
  from json_array_elements(public.read_logs(
    pg_temp.digest(p_token), 'search_logs',
    jsonb_build_object('p_query_dsl', p_query, 'p_ts_from', 'now-1d'), p_origin
  ) -> 'logs') l;
  return coalesce(v_found, 'nothing');
exception when others then
  get stacked diagnostics v_hint = pg_exception_hint;
  return concat_ws(' ', sqlstate, sqlerrm, v_hint);
end;
$$;

insert into logloom.tenants (tenant_id, plan_id)
values ('acme', 'pro'), ('other', 'pro'), ('managed', 'pro') on conflict do nothing;
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
create temp table made as
select 'all' as what, c.* from public.create_log_portal_session() c
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
grant all on made to public;

select matches(m.token, '^llp_[0-9A-Za-z]{36}$', 'a token') from made m where m.what = 'all';
select is(m.url, null, 'without a link') from made m where m.what = 'all';
select is(m.expires_at, now() + interval '1 hour', 'for an hour by default')
from made m where m.what = 'all';
select is(m.expires_at, now() + interval '7 days', 'for a week at most')
from made m where m.what = 'customer 42';
select results_eq(
  $$select s.label, s.query_dsl, s.origins, s.status, s.created_by, s.first_used_at
    from public.list_log_portal_sessions() s where s.label is not null$$,
  $$values ('Ann''s shop', '@customer:42', '{https://app.example,http://localhost:3000}'::text[],
    'active', 'alice', null::timestamptz)$$,
  'it is listed'
);
select throws_ok(c.call, 'PT400', c.message, left(c.call, 90))
from (
  values
    ('select public.create_log_portal_session(p_expires_in => 59)',
      'Invalid p_expires_in: 60 to 604800 seconds'),
    ('select public.create_log_portal_session(p_expires_in => 604801)',
      'Invalid p_expires_in: 60 to 604800 seconds'),
    ($$select public.create_log_portal_session(p_label => repeat('l', 201))$$,
      'Invalid p_label: at most 200 characters'),
    ($$select public.create_log_portal_session(p_origins => '{https://app.example/}')$$,
      'Invalid p_origins: at most 20 origins such as https://app.example.com'),
    ($$select public.create_log_portal_session(p_origins => '{http://app.example}')$$,
      'Invalid p_origins: at most 20 origins such as https://app.example.com'),
    ($$select public.create_log_portal_session(p_origins => '{*}')$$,
      'Invalid p_origins: at most 20 origins such as https://app.example.com'),
    ($$select public.create_log_portal_session(p_origins => '{null}'::text[])$$,
      'Invalid p_origins: at most 20 origins such as https://app.example.com'),
    ($$select public.create_log_portal_session(
      p_origins => array_fill('https://a.example'::text, array[21]))$$,
      'Invalid p_origins: at most 20 origins such as https://app.example.com'),
    ('select public.create_log_portal_session(p_link => true)',
      'p_link needs the address of the portal''s page')
) c (call, message);
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
select is(pg_temp.read_with(m.token), '1 2 3', 'a session reads its tenant''s records')
from made m where m.what = 'all';
select is(pg_temp.read_with(m.token, null), '1 2', 'narrowed by its query')
from made m where m.what = 'customer 42';
select is(pg_temp.read_with(m.token, 'level:info OR @customer:43'), '2', 'a query cannot widen it')
from made m where m.what = 'customer 42';
select is(pg_temp.read_with(m.token), '1', 'and by its view')
from made m where m.what = 'in view';
select is(
  pg_temp.read_with(m.token, 'user_id:ann'),
  'PT400 The field "user_id" is hidden from you '
    'Leave it out. Whoever gave you access decides which fields are hidden.',
    'without the view''s hidden fields'
)
from made m where m.what = 'in view';
select is(
  pg_temp.attempt(format(
    'select public.read_logs(%L, ''log_stats'')', pg_temp.digest(m.token)
  )),
  'PT403 This caller may not call log_stats',
  'only by the view''s operations'
)
from made m where m.what = 'in view';
select is(
  pg_temp.attempt(format('select public.read_logs(%L, %L)', pg_temp.digest(m.token), o.operation)),
  'PT403 This caller may not call ' || o.operation, 'a session may not call ' || o.operation
)
from made m
cross join unnest('{list_alert_rules,list_alert_history,list_saved_searches}'::text[])
  o (operation)
where m.what = 'customer 42';
select is(
  pg_temp.read_with(m.token, null, 'https://app.example'), '1 2', 'in a page of a named origin'
)
from made m where m.what = 'customer 42';
select is(
  pg_temp.read_with(m.token, null, 'https://evil.example'),
  'PT403 This session is not for pages of https://evil.example '
    'p_origins of create_log_portal_session lists the origins that may use a session.',
    'in no page of another origin'
)
from made m where m.what = 'customer 42';
select alike(
  pg_temp.read_with(m.token, null, 'https://app.example'), 'PT403%', 'in no page without origins'
)
from made m where m.what = 'all';

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
select is(
  public.revoke_log_portal_session(p_session_id => m.session_id)::text, '(t)', 'it can be revoked'
)
from made m where m.what = 'all';
select is(
  public.revoke_log_portal_session(p_session_id => m.session_id)::text, '(t)', 'twice'
)
from made m where m.what = 'all';
select alike(
  pg_temp.read_with(m.token), 'PT401 % The portal session was revoked.', 'then it reads nothing'
)
from made m where m.what = 'all';
select pg_temp.act_as_user('other', 'eve');
select throws_ok(
  format('select public.revoke_log_portal_session(p_session_id => %L)', m.session_id),
  'PT404', 'Portal session not found', 'another tenant cannot revoke it'
)
from made m where m.what = 'all';
select is_empty(
  'select public.list_log_portal_sessions()', 'nor see it'
);

-- A link opens a session once.
select pg_temp.act_as_postgres();
update logloom_private.settings set portal_url = 'https://logs.example/portal.html';
select pg_temp.act_as_service_role();
create temp table linked as
select * from public.create_log_portal_session(p_tenant_id => 'acme', p_link => true);
grant all on linked to public;
select is(l.token, null, 'a link has no token') from linked l;
select matches(
  l.url, '^https://logs\.example/portal\.html#llc_[0-9A-Za-z]{36}$', 'but a code after #'
)
from linked l;
create temp table opened as
select o.*
from linked l, public.open_log_portal_session(pg_temp.digest(split_part(l.url, '#', 2))) o;
grant all on opened to public;
select is(o.session_id, l.session_id, 'the code opens the session') from opened o, linked l;
select throws_ok(
  format(
    'select public.open_log_portal_session(%L)', pg_temp.digest(split_part(l.url, '#', 2))
  ),
  'PT401', 'This link has been used, or is too old', 'only once'
)
from linked l;
select is(pg_temp.read_with(o.token), '1 2 3', 'the token reads') from opened o;

-- The plan limits sessions, and a session ends with its creator's rights.
select pg_temp.act_as_postgres();
update logloom.plans set max_portal_sessions = 3, portal_requests_per_minute = 6
where plan_id = 'pro';
select pg_temp.act_as_user('acme', 'alice');
select throws_ok(
  'select public.create_log_portal_session()', 'PT400',
  'Plan limit exceeded: portal sessions (max 3)', 'the plan limits sessions'
);
select alike(
  pg_temp.read_with(o.token), '%PT429%Rate limit exceeded: 6 portal requests per minute%',
  'and requests'
)
from opened o;
select pg_temp.act_as_postgres();
update logloom.plans set max_portal_sessions = 30, portal_requests_per_minute = 1000
where plan_id = 'pro';
insert into logloom.tenant_members (tenant_id, user_id, role)
values ('managed', 'olga', 'owner'), ('managed', 'mike', 'member'), ('managed', 'adam', 'admin');
select pg_temp.act_as_user('managed', 'mike');
select is(
  pg_temp.attempt('select public.create_log_portal_session()'),
  'PT403 This requires the role admin', 'a member cannot create one'
);
select pg_temp.act_as_user('managed', 'adam');
create temp table of_adam as select * from public.create_log_portal_session();
grant all on of_adam to public;
select pg_temp.act_as_postgres();
update logloom.tenant_members set role = 'member' where user_id = 'adam';
select alike(pg_temp.read_with(a.token), 'PT401 % The portal session was revoked.',
  'it ends when its creator becomes a member')
from of_adam a;

select * from finish();
rollback;
