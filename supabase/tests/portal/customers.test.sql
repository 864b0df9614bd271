-- Customers manage their own log streams in a portal session: within it, and apart from each other.
begin;
\ir ../actors.psql
\ir ../search/records.psql
\ir sessions.psql
select plan(77);

-- Returns the answer of an operation to a session: what streams say of themselves, other JSON, or
-- the error. A stream says its name, and nothing of its view and maker.
-- {name} in the parameters stands for the id of this stream or view.
create function pg_temp.say(p_who text, p_operation text, p_parameters text default '{}')
returns text
language plpgsql
as $$
declare
  v_answer text;
  v_id record;
begin
  for v_id in select i.* from pg_temp.ids() i loop
    p_parameters := replace(p_parameters, '{' || v_id.name || '}', v_id.id::text);
  end loop;
  v_answer := pg_temp.ask(p_who, p_operation, p_parameters::jsonb);
  return case
    when v_answer = '[]' then 'nothing'
    when v_answer like '[%' or v_answer like '{%"name"%' then (
      select string_agg(
        concat(s ->> 'name', s ->> 'view_id', s ->> 'maker'), ' ' order by s ->> 'name'
      )
      from jsonb_path_query(v_answer::jsonb, '$[*]') s
    )
    else v_answer
  end;
end;
$$;

create function pg_temp.ids()
returns table (name text, id uuid)
language sql
security definer
as $$
  select s.name, s.stream_id from logloom.log_streams s where s.tenant_id = 'acme'
  union all
  select coalesce(v.name, v.query_dsl), v.view_id
  from logloom.log_views v where v.tenant_id = 'acme'
$$;

-- Creates a stream in a session.
create function pg_temp.make(p_who text, p_name text, p_more jsonb default '{}')
returns text
language sql
as $$
  select pg_temp.say(p_who, 'create_log_stream', (jsonb_build_object(
    'p_name', p_name, 'p_kind', 'webhook', 'p_config', '{"url": "https://example.com/"}'::jsonb
  ) || p_more)::text)
$$;

-- Returns the messages that a stream sends, from the beginning, or its last error.
create function pg_temp.sent(p_name text)
returns text
language plpgsql
as $$
declare
  v_stream logloom.log_streams;
  v_batch jsonb;
begin
  perform pg_temp.act_as_postgres();
  update logloom.log_streams s
  set claim_id = gen_random_uuid(), claimed_at = now(), position_seq = 0, position_id = null,
    pending_since = now(), next_attempt_at = now(), batch_id = null, batch_made_at = null,
    batch_end_seq = null, batch_end_id = null, batch_records = null, batch_skipped = null
  where s.name = p_name
  returning s.* into v_stream;
  v_batch := logloom_private.next_stream_batch(v_stream.stream_id, v_stream.claim_id);
  select s.* into v_stream from logloom.log_streams s where s.name = p_name;
  return coalesce(
    (
      select string_agg(r ->> 'msg', ', ' order by r ->> 'ts')
      from jsonb_array_elements(v_batch -> 'records') r
    ),
    v_stream.pause_reason, v_stream.last_error, 'nothing'
  );
end;
$$;

update logloom.plans set max_log_streams = 4 where plan_id = 'pro';
insert into logloom.tenants (tenant_id, plan_id) values ('acme', 'pro'), ('other', 'pro');
insert into logloom.tenant_members (tenant_id, user_id, role)
values ('acme', 'alice', 'owner'), ('acme', 'ann', 'admin'), ('other', 'olga', 'owner');
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
insert into made
select m.who, s.*
from (
  values
    ('42', '@customer:42', '{streams}'::text[], null::jsonb),
    ('42 today', '@customer:42 ts:>now-1h', '{streams,search}', '{"streams": 3}'),
    ('43', '@customer:43', '{streams}', null),
    ('42 without', '@customer:42', '{search}', null)
) m (who, query_dsl, parts, limits)
cross join lateral public.create_log_portal_session(
  p_parts => m.parts, p_customer => left(m.who, 2), p_query_dsl => m.query_dsl,
  p_limits => m.limits, p_view_id => (select v.view_id from views v)
) s;
select pg_temp.act_as_user('other', 'olga');
insert into made
select 'elsewhere', s.*
from public.create_log_portal_session(p_parts => '{streams}', p_customer => '42') s;
grant all on views to public;

-- What a session creates is bound to it. Limits hold over all sessions of a customer.
select is(pg_temp.make(m.who, m.name, m.more), m.answer, format('%s makes %s', m.who, m.name))
from (
  values
    ('42', 'a', '{}'::jsonb, 'a'),
    ('42 today', 'today', '{}', 'today'),
    ('43', 'b', '{}', 'b'),
    ('42 today', 'a', '{}', 'PT409 The tenant has another log stream of this name'),
    ('42', 'c', '{}', 'PT400 Your limit is reached: streams (max 2)'),
    ('42 today', 'c', '{}', 'c'),
    ('43', 'd', '{}', 'PT400 There is no room for another log stream'),
    ('42', 'e', jsonb_build_object('p_view_id', (select v.view_id from views v)),
      'PT400 Portal sessions take no p_view_id'),
    ('42', 'e', '{"p_source": "audit"}', 'PT403 The audit trail is not in views or portal sessions')
) m (who, name, more, answer);
select is(
  (
    select string_agg(
      format('%s: %s in %s', v.customer, v.query_dsl, p.name), ', ' order by v.query_dsl
    )
    from logloom.log_views v join logloom.log_views p on p.view_id = v.parent_view_id
    where v.tenant_id = 'acme'
  ),
  '42: @customer:42 in shop, 42: @customer:42 ts:>now-1h in shop, 43: @customer:43 in shop',
  'a row of log_views has the customer, the query and the view of the session'
);
select is(pg_temp.sent('a'), 'old of 42, error of 42, info of 42', 'only the session''s records');
select is(pg_temp.sent('today'), 'error of 42, info of 42', '"now" in a session''s query moves');
select is(
  pg_temp.say(
    '42', 'update_log_stream', format('{"p_stream_id": "{a}", "p_query_dsl": "%s"}', q.query)
  ) || ': ' || pg_temp.sent('a'),
  q.sent, 'the stream''s own query cannot widen the session: ' || q.query
)
from (
  values
    ('@customer:43', 'a: nothing'),
    ('@customer:43 OR level:error', 'a: old of 42, error of 42'),
    ('NOT @customer:42 OR level:info', 'a: info of 42'),
    ('ts:>now-10m', 'a: error of 42, info of 42')
) q (query, sent);

-- Others are not there.
select matches(
  pg_temp.say(c.who, c.operation, c.parameters),
  '^' || replace(c.answer, '%', 'PT403 This log stream was made in a session with '),
  format('%s: %s %s', c.who, c.operation, c.parameters)
)
from (
  select '42' as who, o.operation, '{"p_stream_id": "{b}"}' as parameters,
    'PT404 Log stream not found' as answer
  from unnest('{get_log_stream,update_log_stream,delete_log_stream,test_log_stream,
    list_log_stream_failures}'::text[]) o (operation)
  union all
  values
    ('elsewhere', 'get_log_stream', '{"p_stream_id": "{a}"}', 'PT404 Log stream not found'),
    ('42', 'list_log_streams', '{}', 'a c today$'),
    ('43', 'list_log_streams', '{}', 'b$'),
    ('elsewhere', 'list_log_streams', '{}', 'nothing'),
    ('42', 'list_log_streams', '{"p_after": "{b}"}', 'PT400 '),
    ('42', 'list_log_streams', '{"p_tenant_id": "other"}', 'PT403 p_tenant_id is not the tenant'),
    ('42 without', 'list_log_streams', '{}', 'PT403 This caller may not call list_log_streams'),
    ('42', 'update_log_stream', '{"p_stream_id": "{a}", "p_query_dsl": "x) OR (@customer:43"}',
      'PT400 '),
    ('42', 'update_log_stream', '{"p_stream_id": "{a}", "p_view_id": "{shop}"}',
      'PT400 Portal sessions take no p_view_id'),
    -- A session that sees less sends itself nothing that only others see.
    ('42 today', 'update_log_stream',
      '{"p_stream_id": "{a}", "p_config": {"url": "https://mine.example/"}}', '%other limits'),
    ('42 today', 'update_log_stream', '{"p_stream_id": "{a}", "p_enabled": true}', '%other limits'),
    ('42 today', 'test_log_stream', '{"p_stream_id": "{a}"}', '%other limits'),
    ('42 today', 'update_log_stream', '{"p_stream_id": "{a}", "p_enabled": false}', 'a$'),
    ('42', 'update_log_stream', '{"p_stream_id": "{a}", "p_enabled": true}', 'a$'),
    -- Secrets are sealed for the customer, and for what the session can make.
    ('42', 'get_log_secret_scope', '{"p_purpose": "log_stream"}',
      '{"tenant_id":"acme","customer":"42"}'),
    ('42', 'get_log_secret_scope', '{"p_purpose": "alert_rule"}', 'PT403 '),
    ('42 without', 'get_log_secret_scope', '{"p_purpose": "log_stream"}', 'PT403 ')
) c;

-- A stream that waits because others send tells nothing of it.
select pg_temp.act_as_postgres();
update logloom.log_streams s
set pending_since = clock_timestamp() - interval '9 seconds', next_attempt_at = now()
where s.name = 'c';
select is(
  concat(s ->> 'lag_seconds', s ->> 'next_attempt_at'), '0', 'records of others are no lag'
)
from pg_temp.ids() i
cross join cast(
  pg_temp.ask('42', 'get_log_stream', jsonb_build_object('p_stream_id', i.id)) as jsonb
) s
where i.name = 'c';
select is(
  pg_temp.say('42', 'update_log_stream', '{"p_stream_id": "{a}", "p_enabled": true}'), 'a', 'again'
);
select pg_temp.act_as_postgres();
select is(
  (select count(*)::integer from logloom.audit_events e where e.details ->> 'name' = 'a'
    and e.action = 'log_stream.changed' and e.details - '{name,customer}'::text[] =
      '{"config_changed": false, "secrets_changed": false}'),
  0, 'no event without a change'
);

-- Views of customers are nowhere else.
select pg_temp.act_as_user('acme', 'ann');
select is((select count(*)::integer from public.list_log_views()), 1, 'not in the list');
select is((select count(*)::integer from logloom.log_views), 1, 'nor in the table');
select throws_ok(
  format('select public.' || c.call, i.id), 'PT404', 'View not found', c.call
)
from pg_temp.ids() i
cross join unnest(array[
  'update_log_view(p_view_id => %L, p_name => ''x'')', 'delete_log_view(p_view_id => %L)',
  'create_log_portal_session(p_view_id => %L)',
  'create_api_key(p_name => ''x'', p_scopes => ''{read}'', p_view_id => %L)'
]) c (call)
where i.name = '@customer:42';
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
select is(
  pg_temp.say('42', 'update_log_stream', '{"p_stream_id": "{a}", "p_query_dsl": "user_id:ann"}'),
  'PT400 The field "user_id" is hidden from you', 'a field that the parent hides is hidden'
);

-- An admin holds a customer's stream.
create temp table streams as select i.* from pg_temp.ids() i;
grant all on streams to public;
select pg_temp.act_as_user('acme', 'alice');
select is(
  (
    select string_agg(concat_ws(' ', s.name, s.customer, s.maker), ', ' order by s.name)
    from public.list_log_streams() s
  ),
  'a 42 ann, b 43 ann, c 42 ann, today 42 ann', 'admins list the streams of customers'
);
select is(public.export_tenant_files('{streams}'), '[]', 'files leave them out');
select throws_ok(
  format('select public.update_log_stream(p_stream_id => %L, p_name => ''x'')', s.id), 'PT403',
  'This log stream belongs to a customer', 'and change nothing in them'
)
from streams s where s.name = 'a';
select is(
  (public.update_log_stream(p_stream_id => s.id, p_enabled => false)).held_at, now(), 'but stop it'
)
from streams s where s.name = 'a';
select is(
  pg_temp.say('42', c.operation, c.parameters), 'PT403 Your provider has stopped this log stream',
  c.operation
)
from (
  values
    ('update_log_stream', '{"p_stream_id": "{a}", "p_enabled": true}'),
    ('test_log_stream', '{"p_stream_id": "{a}"}'),
    ('delete_log_stream', '{"p_stream_id": "{a}"}')
) c (operation, parameters);
select is(
  pg_temp.make('42 today', 'another'),
  'PT403 Your provider has stopped another log stream of yours',
  'nor does another stream take its place'
);
select pg_temp.act_as_user('acme', 'alice');
select is(
  (
    select row(u.held_at, u.maker, u.status)::text
    from public.update_log_stream(p_stream_id => s.id, p_enabled => true) u
  ),
  '(,alice,sending)', 'an admin starts it again and becomes its maker'
)
from streams s where s.name = 'a';
select is(
  array(
    select e.details -> 'held' from public.list_tenant_audit_events() e
    where e.details ? 'held' order by e.details #>> '{held,to}'
  ),
  array['{"from": null, "to": true}'::jsonb], 'the audit log shows the hold'
);
-- Tests count for the customer, even if their stream is gone.
select matches(pg_temp.say(c.who, c.operation, c.parameters), c.answer, c.operation)
from (
  values
    ('42 today', 'test_log_stream', '{"p_stream_id": "{c}"}', '^c$'),
    ('42', 'test_log_stream', '{"p_stream_id": "{a}"}', '^PGRST .*tested just now')
) c (who, operation, parameters, answer);

-- A stream rests when the user who created its session is no longer an admin.
select pg_temp.act_as_postgres();
delete from logloom.tenant_members where user_id = 'ann';
insert into logloom.tenant_members (tenant_id, user_id, role) values ('acme', 'ann', 'admin');
select is(pg_temp.sent('today'), 'maker', 'it is paused, also if its maker returns');
select is(pg_temp.sent('a'), 'error of 42', 'others go on');
select pg_temp.act_as_user('acme', 'alice');
insert into made
select '42 again', s.*
from public.create_log_portal_session(
  p_parts => '{streams}', p_customer => '42', p_limits => '{"streams": 3}'
) s;
select is(pg_temp.say('42 again', c.operation, c.parameters), c.answer, c.parameters)
from (
  values
    ('update_log_stream', '{"p_stream_id": "{today}", "p_enabled": false}', 'today'),
    ('update_log_stream', '{"p_stream_id": "{today}", "p_enabled": true}',
      'PT403 Your provider has stopped this log stream'),
    ('delete_log_stream', '{"p_stream_id": "{c}"}', '{"success":true}')
) c (operation, parameters, answer);
select is(pg_temp.make('42 again', 'new'), 'new', 'another stream can take its place');

-- What customers made is listed, and deleted with the customer.
select pg_temp.act_as_user('acme', 'alice');
select is(
  (
    select string_agg(concat_ws(' ', t.customer, t.kind, t.name, t.state, t.maker), ', '
      order by t.name)
    from public.list_portal_things(p_customer => '42') t
  ),
  '42 stream a sending alice, 42 stream new sending alice, 42 stream today paused ann',
  'the things of a customer'
);
select is(
  public.revoke_portal_customer(p_customer => '42')::text, '(1,3,0)',
  'the customer''s sessions and streams are gone'
);
select matches(pg_temp.say('42 again', 'list_log_streams'), '^PT401 ', 'a revoked session ends');
select pg_temp.act_as_user('acme', 'alice');
select is(
  (select string_agg(t.name, ' ') from public.list_portal_things() t), 'b', 'things of others stay'
);
select is(
  (
    select string_agg(distinct concat_ws(' ', e.action, e.details ->> 'customer'), ', ')
    from public.list_tenant_audit_events() e
    join made m on e.actor = 'portal ' || m.session_id and m.who = '42'
  ),
  'log_stream.changed 42, log_stream.created 42, portal_session.first_used',
  'the audit log names the session and the customer'
);

select pg_temp.act_as_postgres();
update logloom.log_streams s set paused_at = now(), pause_reason = 'failing' where s.name = 'b';
select is(
  logloom_private.stream_health(now()) ->> 'paused', '0', 'customers'' receivers are not our health'
);

-- Views that nothing uses are deleted. The history of a deleted rule uses its view.
delete from logloom.log_streams s where s.tenant_id = 'acme';
insert into logloom.alert_incidents (
  tenant_id, rule_id, rule_name, window_minutes, threshold, view_id, opened_at, last_fired_at,
  value, peak_value, held_until
)
select 'acme', gen_random_uuid(), 'deleted', 5, 0, v.view_id, now(), now(), 1, 1, now()
from logloom.log_views v where v.customer = '43';
create function pg_temp.views_left()
returns text
language sql
as $$
  select logloom_private.purge_customer_views(100);
  select string_agg(coalesce(v.name, v.customer), ' ' order by v.name) from logloom.log_views v
  where v.tenant_id = 'acme'
$$;
select is(pg_temp.views_left(), 'shop 43', 'the view of an incident is left');
delete from logloom.alert_incidents;
select is(pg_temp.views_left(), 'shop', 'only the tenant''s view is left');

select * from finish();
rollback;
