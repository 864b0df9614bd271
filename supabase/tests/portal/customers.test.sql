-- Customers manage their own log streams in a portal session: within it, and apart from each other.
begin;
\ir ../actors.psql
\ir ../search/records.psql
select plan(67);

-- Returns the answer of an operation to the session of a customer, or its error.
create function pg_temp.ask(p_who text, p_operation text, p_parameters jsonb default '{}')
returns text
language plpgsql
as $$
begin
  perform pg_temp.act_as_service_role();
  return public.read_logs(
    (select encode(sha256(convert_to(m.token, 'UTF8')), 'hex') from made m where m.who = p_who),
    p_operation, p_parameters
  )::text;
exception when others then
  return concat_ws(' ', sqlstate, sqlerrm);
end;
$$;

-- Creates a stream in the session of a customer. Returns its name, or the error.
create function pg_temp.make(p_who text, p_name text, p_more jsonb default '{}')
returns text
language plpgsql
as $$
declare
  v_answer constant text := pg_temp.ask(p_who, 'create_log_stream', jsonb_build_object(
    'p_name', p_name, 'p_kind', 'webhook', 'p_config', '{"url": "https://example.com/"}'::jsonb
  ) || p_more);
begin
  return case when v_answer like '{%' then v_answer::jsonb ->> 'name' else v_answer end;
end;
$$;

create function pg_temp.id_of(p_name text)
returns uuid
language sql
security definer
as $$ select s.stream_id from logloom.log_streams s where s.name = p_name $$;

-- Returns the messages that a stream sends next, from the beginning, or its last error.
create function pg_temp.sent(p_name text)
returns text
language plpgsql
as $$
declare
  v_claim constant uuid := gen_random_uuid();
  v_batch text;
begin
  perform pg_temp.act_as_postgres();
  update logloom.log_streams s
  set claim_id = v_claim, claimed_at = now(), claimed_until = now() + interval '1 minute',
    position_seq = 0, position_id = null, pending_since = now(), next_attempt_at = now(),
    batch_id = null, batch_made_at = null, batch_end_seq = null, batch_end_id = null,
    batch_records = null, batch_skipped = null, last_error = null, failing_since = null
  where s.name = p_name;
  v_batch := logloom_private.next_stream_batch(pg_temp.id_of(p_name), v_claim)::text;
  return coalesce(
    (
      select string_agg(r ->> 'msg', ', ' order by r ->> 'ts')
      from jsonb_array_elements(v_batch::jsonb -> 'records') r
    ),
    (select s.last_error from logloom.log_streams s where s.name = p_name), 'nothing'
  );
end;
$$;

insert into logloom.tenants (tenant_id, plan_id) values ('acme', 'pro'), ('other', 'pro');
insert into logloom.tenant_members (tenant_id, user_id, role)
values
  ('acme', 'alice', 'owner'), ('acme', 'ann', 'admin'), ('acme', 'mel', 'member'),
  ('other', 'olga', 'owner');
select pg_temp.add_records('[
  {"ago": "90 minutes", "level": "error", "service": "shop", "msg": "old of 42", "user_id": "ann",
    "attrs": {"customer": 42}},
  {"ago": "3 minutes", "level": "error", "service": "shop", "msg": "error of 42",
    "attrs": {"customer": 42}},
  {"ago": "2 minutes", "level": "info", "service": "shop", "msg": "info of 42",
    "attrs": {"customer": 42}},
  {"ago": "1 minute", "level": "error", "service": "shop", "msg": "error of 43",
    "attrs": {"customer": 43}}
]');

select pg_temp.act_as_user('acme', 'ann');
create temp table views as
select * from public.create_log_view(p_name => 'shop', p_query_dsl => 'service:shop') v;
create temp table made as
select m.who, s.*
from (
  values
    ('42', '42', '@customer:42', '{streams}'::text[], null::jsonb),
    ('42 of today', '42', '@customer:42 ts:>now-1h', '{streams,search}', '{"streams": 3}'),
    ('43', '43', '@customer:43', '{streams}', null),
    ('42 without', '42', '@customer:42', '{search}', null)
) m (who, customer, query_dsl, parts, limits)
cross join lateral public.create_log_portal_session(
  p_parts => m.parts, p_customer => m.customer, p_query_dsl => m.query_dsl, p_limits => m.limits,
  p_view_id => (select v.view_id from views v)
) s;
select pg_temp.act_as_user('other', 'olga');
insert into made
select 'elsewhere', s.*
from public.create_log_portal_session(p_parts => '{streams}', p_customer => '42') s;
grant all on made, views to public;

-- What a session creates is bound to it.
select is(pg_temp.make('42', 'a'), 'a', 'a customer creates a log stream');
select is(pg_temp.make('42 of today', 'today'), 'today', 'and one in another session');
select is(pg_temp.make('43', 'a'), 'a', 'another customer may give the same name');
select is(
  pg_temp.make('42 of today', 'a'), 'PT409 The tenant has another log stream of this name',
  'the same customer may not'
);
select pg_temp.act_as_postgres();
update logloom.log_streams s set name = 'b'
where s.name = 'a' and logloom_private.customer_of_view(s.view_id) = '43';
select is(
  (
    select string_agg(
      format('%s: %s in %s', v.customer, v.query_dsl, p.name), ', ' order by v.query_dsl
    )
    from logloom.log_views v join logloom.log_views p on p.view_id = v.parent_view_id
  ),
  '42: @customer:42 in shop, 42: @customer:42 ts:>now-1h in shop, 43: @customer:43 in shop',
  'a row of log_views has the customer, the query and the view of the session'
);
select is(
  pg_temp.ask('42', 'get_log_stream', jsonb_build_object('p_stream_id', pg_temp.id_of('a')))::jsonb
    ->> m.member,
  m.value, 'the customer sees ' || m.member
)
from (
  values ('query_dsl', null), ('view_id', null), ('maker', null), ('customer', '42')
) m (member, value);
select is(pg_temp.sent('a'), 'old of 42, error of 42, info of 42', 'only the session''s records');
select is(pg_temp.sent('today'), 'error of 42, info of 42', '"now" in a session''s query moves');
select is(
  case
    when pg_temp.ask('42', 'update_log_stream', jsonb_build_object(
      'p_stream_id', pg_temp.id_of('a'), 'p_query_dsl', q.query
    )) like '{%' then pg_temp.sent('a')
  end,
  q.found, 'a query of the stream cannot widen the session: ' || q.query
)
from (
  values
    ('@customer:43', 'nothing'),
    ('@customer:43 OR level:error', 'old of 42, error of 42'),
    ('NOT @customer:42 OR level:info', 'info of 42'),
    ('ts:>now-10m', 'error of 42, info of 42')
) q (query, found);
select matches(
  pg_temp.ask('42', 'update_log_stream', jsonb_build_object(
    'p_stream_id', pg_temp.id_of('a'), 'p_query_dsl', 'x) OR (@customer:43'
  )),
  '^PT400 ', 'parentheses do not break out'
);
select is(
  pg_temp.make('42', 'x', jsonb_build_object('p_view_id', (select v.view_id from views v))),
  'PT400 Portal sessions take no p_view_id', 'a session names no view'
);
select is(
  pg_temp.make('42', 'x', '{"p_source": "audit"}'),
  'PT403 The audit trail is not in views or portal sessions', 'nor the audit trail'
);
select is(
  pg_temp.ask('42', 'update_log_stream', jsonb_build_object(
    'p_stream_id', pg_temp.id_of('a'), 'p_view_id', (select v.view_id from views v)
  )),
  'PT400 Portal sessions take no p_view_id', 'the view of a stream does not change'
);

-- Limits hold for the customer, whatever session asks.
select is(
  pg_temp.make('42', 'c'), 'PT400 Your limit is reached: streams (max 2)',
  'two streams by default, counted over all sessions of the customer'
);
select is(pg_temp.make('42 of today', 'c'), 'c', 'a session can have another limit');
select pg_temp.act_as_postgres();
update logloom.plans set max_log_streams = 4 where plan_id = 'pro';
select is(
  pg_temp.make('43', 'd'), 'PT400 There is no room for another log stream', 'the plan holds, too'
);

-- Others are not there.
select is(
  (
    select string_agg(s ->> 'name', ' ' order by s ->> 'name')
    from jsonb_array_elements(pg_temp.ask(l.who, 'list_log_streams')::jsonb) s
  ),
  l.names, 'the list of ' || l.who
)
from (
  values ('42', 'a c today'), ('42 of today', 'a c today'), ('43', 'b'), ('elsewhere', null)
) l (who, names);
select is(
  pg_temp.ask('42', o.operation, jsonb_build_object('p_stream_id', pg_temp.id_of('b'))),
  'PT404 Log stream not found', o.operation || ' of another customer''s stream'
)
from unnest('{get_log_stream,update_log_stream,delete_log_stream,test_log_stream,
  list_log_stream_failures}'::text[]) o (operation);
select is(
  pg_temp.ask('elsewhere', 'get_log_stream', jsonb_build_object('p_stream_id', pg_temp.id_of('a'))),
  'PT404 Log stream not found', 'nor that of the same customer of another tenant'
);
select matches(
  pg_temp.ask('42', 'list_log_streams', jsonb_build_object('p_after', pg_temp.id_of('b'))),
  '^PT400 ', 'a page cannot begin at a foreign stream'
);
select matches(
  pg_temp.ask('42', 'list_log_streams', '{"p_tenant_id": "other"}'), '^PT403 ',
  'another tenant is refused'
);
select is(
  pg_temp.ask('42 without', 'list_log_streams'), 'PT403 This caller may not call list_log_streams',
  'a session without the part is refused'
);
select pg_temp.act_as_user('acme', 'mel');
select throws_ok(
  $$select logloom_private.read_log_streams(
    row('acme', '{list_log_streams}', 'portal_session', null, null, null, '42', null, null
    )::logloom_private.reading_scope, null, null, null)$$,
  'PT403', 'list_log_streams is only for service_role', 'a user cannot pass a scope'
);

-- Secrets are sealed for the customer.
select is(
  pg_temp.ask(w.who, 'get_log_secret_scope', jsonb_build_object('p_purpose', w.purpose)), w.answer,
  w.who || ' seals for ' || w.purpose
)
from (
  values
    ('42', 'log_stream', '{"tenant_id":"acme","customer":"42"}'),
    ('42', 'alert_rule', 'PT403 This caller may not call get_log_secret_scope'),
    ('42', 'ingest_rules', 'PT403 This caller may not call get_log_secret_scope'),
    ('42 without', 'log_stream', 'PT403 This caller may not call get_log_secret_scope')
) w (who, purpose, answer);

-- Views of customers are nowhere else.
select pg_temp.act_as_postgres();
create temp table of_customer as
select v.view_id from logloom.log_views v where v.query_dsl = '@customer:42';
grant all on of_customer to public;
select pg_temp.act_as_user('acme', 'ann');
select is((select count(*)::integer from public.list_log_views()), 1, 'not in the list');
select is((select count(*)::integer from logloom.log_views), 1, 'nor in the table');
select throws_ok(
  format('select public.' || c.call, (select o.view_id from of_customer o)), 'PT404',
  'View not found', c.call
)
from unnest(array[
  'update_log_view(p_view_id => %L, p_name => ''x'')', 'delete_log_view(p_view_id => %L)',
  'create_log_portal_session(p_view_id => %L)',
  'create_api_key(p_name => ''x'', p_scopes => ''{read}'', p_view_id => %L)'
]) c (call);
select throws_like(
  format('select public.delete_log_view(p_view_id => %L)', (select v.view_id from views v)),
  'The view is in use: log stream a of customer 42,%', 'what customers made uses its parent'
);

-- A change of the parent applies to them.
select public.update_log_view(
  p_view_id => (select v.view_id from views v), p_query_dsl => 'level:error',
  p_hidden_fields => '{user_id}'
);
select is(pg_temp.sent('today'), 'error of 42', 'what is sent changes with it');
select is(
  (
    select count(distinct (v.updated_at, v.shows_since))::integer
    from logloom.log_views v where v.tenant_id = 'acme'
  ),
  1, 'so do the times of the customers'' views'
);
select matches(
  pg_temp.ask('42', 'update_log_stream', jsonb_build_object(
    'p_stream_id', pg_temp.id_of('a'), 'p_query_dsl', 'user_id:ann'
  )),
  '^PT400 The field "user_id" is hidden from you', 'a field that the parent hides is hidden'
);

-- The host holds a customer's stream.
select pg_temp.act_as_user('acme', 'alice');
select is(
  (select string_agg(s.name || ' ' || s.customer, ', ' order by s.name)
    from public.list_log_streams() s),
  'a 42, b 43, c 42, today 42', 'admins list the streams of customers'
);
select throws_ok(
  format('select public.update_log_stream(p_stream_id => %L, p_name => ''x'')', pg_temp.id_of('a')),
  'PT403', 'This log stream belongs to a customer', 'and change nothing in them'
);
select is(
  (public.update_log_stream(p_stream_id => pg_temp.id_of('a'), p_enabled => false)).held_at,
  now(), 'but stop them'
);
select is(
  pg_temp.ask('42', c.operation, jsonb_build_object('p_stream_id', pg_temp.id_of('a')) || c.more),
  'PT403 Your provider has stopped this log stream', c.operation || c.more
)
from (
  values ('update_log_stream', '{"p_enabled": true}'::jsonb), ('test_log_stream', '{}')
) c (operation, more);
select pg_temp.act_as_user('acme', 'alice');
select is(
  (
    select row(s.held_at, s.maker, s.status)::text
    from public.update_log_stream(p_stream_id => pg_temp.id_of('a'), p_enabled => true) s
  ),
  '(,alice,sending)', 'an admin starts it again and becomes its maker'
);

-- A stream rests when the user who created its session is no longer an admin.
select pg_temp.act_as_postgres();
delete from logloom.tenant_members where user_id = 'ann';
select is(pg_temp.sent('today'), 'nothing', 'nothing is sent without its maker');
select is(
  (select s.pause_reason from logloom.log_streams s where s.name = 'today'), 'maker', 'it is paused'
);
select is(pg_temp.sent('a'), 'error of 42', 'others go on');
select pg_temp.act_as_user('acme', 'alice');
insert into made
select '42 again', s.*
from public.create_log_portal_session(
  p_parts => '{streams}', p_customer => '42', p_query_dsl => '@customer:42'
) s;
select is(
  pg_temp.ask('42 again', 'update_log_stream', jsonb_build_object(
    'p_stream_id', pg_temp.id_of('today'), 'p_enabled', e.enabled
  )),
  'PT403 Your provider has stopped this log stream', 'only an admin can enable it: ' || e.enabled
)
from unnest('{true,false}'::boolean[]) e (enabled);

-- What customers made is listed, and deleted with the customer.
select pg_temp.act_as_user('acme', 'alice');
select is(
  (
    select string_agg(concat_ws(' ', t.customer, t.kind, t.name, t.state, t.maker), ', '
      order by t.name)
    from public.list_portal_things(p_customer => '42') t
  ),
  '42 stream a sending alice, 42 stream c sending ann, 42 stream today paused ann',
  'the things of a customer'
);
select is(
  public.revoke_portal_customer(p_customer => '42')::text, '(1,3,0)',
  'the customer''s sessions and streams are gone'
);
select matches(pg_temp.ask('42 again', 'list_log_streams'), '^PT401 ', 'a revoked session ends');
select pg_temp.act_as_user('acme', 'alice');
select is(
  (select string_agg(t.name, ' ') from public.list_portal_things() t), 'b',
  'things of others stay'
);
select is(
  (
    select string_agg(concat_ws(' ', e.action, e.details ->> 'customer'), ', '
      order by e.occurred_at)
    from public.list_tenant_audit_events() e
    join made m on e.actor = 'portal ' || m.session_id and m.who = '42'
    where e.action <> 'portal_session.first_used'
  ),
  'log_stream.created 42, log_stream.changed 42, log_stream.changed 42, log_stream.changed 42, '
    'log_stream.changed 42',
  'the audit log names the session and the customer'
);

-- Views that nothing uses are deleted.
select pg_temp.act_as_postgres();
delete from logloom.log_streams;
select logloom_private.purge_customer_views(100);
select is(
  (select string_agg(v.name, ' ') from logloom.log_views v), 'shop', 'the tenant''s view is left'
);

select * from finish();
rollback;
