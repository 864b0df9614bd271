-- Log streams are created, listed, changed, tested and deleted.
begin;
\ir ../actors.psql
\ir ../by.psql
select plan(59);

insert into logloom.tenants (tenant_id, plan_id) values ('acme', 'pro'), ('umbrella', 'free');
insert into logloom.tenant_members (tenant_id, user_id, role)
values ('acme', 'ann', 'admin'), ('acme', 'mel', 'member');
insert into logloom.log_views (tenant_id, name, query_dsl, hidden_fields, created_by)
values ('acme', 'shop', 'service:shop', '{msg}', 'ann');
insert into logloom.api_keys (tenant_id, name, key_prefix, key_digest)
values
  ('acme', 'own', 'll_aaaaaaaa', sha256('own')),
  ('umbrella', 'theirs', 'll_bbbbbbbb', sha256('theirs'));

create function pg_temp.make(p_members text)
returns text
language sql
as $$
  select pg_temp.by('ann', format(
    'public.create_log_stream(%s)',
    'p_name => ''logs'', p_kind => ''webhook'', p_config => ''{"url": "https://example.com/x"}'''
      || p_members
  ))
$$;
create function pg_temp.config(p_kind text, p_config text)
returns text
language sql
as $$
  select pg_temp.by('ann', format(
    'public.create_log_stream(p_name => ''c'', p_kind => %L, p_config => %L)', p_kind, p_config
  ))
$$;

select matches(pg_temp.by('mel', '(select count(*) from public.list_log_streams())'), '^PT403 ',
  'only admins list streams');
select matches(
  pg_temp.by('mel', 'public.create_log_stream(p_name => ''x'')'), '^PT403 ',
  'only admins create streams'
);
select is(
  pg_temp.by('ann', 'public.create_log_stream(p_kind => ''webhook'')'),
  'PT400 Missing required parameter: p_name', 'a name is needed'
);
select is(
  pg_temp.by('ann', 'public.create_log_stream(p_name => ''x'')'),
  'PT400 Missing required parameter: p_kind', 'a kind is needed'
);
select is(pg_temp.config(c.kind, c.config), 'PT400 Invalid ' || c.message, c.message)
from (
  values
    ('kafka', '{}', 'p_kind'),
    ('webhook', '[]', 'p_config: not an object'),
    ('webhook', '{}', 'p_config: url is missing'),
    ('webhook', '{"url": "https://a.b", "x": 1}', 'p_config: unknown member x'),
    ('s3', '{"endpoint": "https://s3.example.com", "region": "eu", "bucket": "logs"}',
      'p_config: access_key_id is missing'),
    ('s3', '{"endpoint": "https://s3.example.com", "region": "eu", "bucket": "logs", '
      '"access_key_id": "AKIA", "prefix": "a/../b"}', 'p_config: prefix')
) c (kind, config, message);
select is(
  pg_temp.config('webhook', jsonb_build_object('url', u)::text), 'PT400 Invalid p_config: url', u
)
from unnest(array[
  'http://example.com/', 'https://user@example.com/', 'https://user:pw@example.com/',
  'ftp://example.com', 'https://example.com/a b', e'https://example.com/\n', 'example.com', '',
  'https://', 'https://e.com/?api_key=ll_abcdefghijklmnopqrstuvwxyzABCDEFGHIJ', 'http://127.0.0.1@e'
]) u;
select is(
  pg_temp.make(', p_query_dsl => ''level:error | count()'''),
  'PT400 A log stream takes a query without stages', 'the query must be a filter'
);
select matches(
  pg_temp.make(', p_query_dsl => ''msg:x'', p_view_id => '
    || quote_literal((select v.view_id from logloom.log_views v)) || '::uuid'),
  '^PT400 ', 'a query that reads hidden fields is refused'
);
select is(
  pg_temp.make(', p_secrets => ''{"header.authorization": "Bearer x"}'''),
  'PT400 Invalid p_secrets: header.authorization is not sealed', 'secrets must be sealed'
);
select is(
  pg_temp.make(format(', p_secrets => ''{"header.%s": "x"}''', h)),
  'PT400 Invalid p_secrets: there is no secret header.' || h,
  'batches set this header themselves: ' || h
)
from unnest(array['logloom-stream-hops', 'idempotency-key', 'content-type', 'webhook-id']) h;
select is(
  pg_temp.make(', p_secrets => '
    || quote_literal(jsonb_build_object('header.x-api-key',
      'lls1.abcdefgh.' || repeat('x', 40) || '.' || encode(sha256('own'), 'hex')))),
  'PT400 The log stream would send to its own tenant', 'a stream to its own tenant is refused'
);
select matches(
  pg_temp.make(', p_query_dsl => '' '', p_secrets => '
    || quote_literal(jsonb_build_object('header.x-api-key',
      'lls1.abcdefgh.' || repeat('x', 40) || '.' || encode(sha256('theirs'), 'hex')))),
  '^\(', 'a stream to another tenant is not'
);
select is(
  pg_temp.make(''), 'PT409 The tenant has another log stream of this name', 'names are unique'
);
create temp table stream as select s.stream_id from logloom.log_streams s;
select is(
  pg_temp.by('ann', format(
    '(select to_jsonb(s) - ''{created_at,updated_at,stream_id}''::text[] '
      'from public.get_log_stream(%L) s)', stream_id
  ))::jsonb,
  '{
    "tenant_id": "acme", "name": "logs", "query_dsl": null, "kind": "webhook",
    "config": {"url": "https://example.com/x"}, "secrets": {"header.x-api-key": {"set": true}},
    "enabled": true, "view_id": null, "maker": "ann", "status": "sending", "lag_seconds": 0,
    "customer": null, "held_at": null,
    "next_attempt_at": null, "failing_since": null, "last_success_at": null, "last_status": null,
    "last_error": null, "paused_at": null, "pause_reason": null, "sent_batches": 0,
    "sent_records": 0, "skipped_records": 0, "refused_records": 0, "test_requested_at": null,
    "test_finished_at": null, "test_status": null, "test_error": null,
    "last_answer": null, "source": "logs", "test_answer": null
  }'::jsonb, 'it is shown without its secrets'
) from stream;
-- Changing the address does not give the old secrets to the new receiver.
create function pg_temp.move(p_url text, p_secrets text default null)
returns text
language sql
as $$
  select pg_temp.by('ann', format(
    '(select s.config ->> ''url'' from public.update_log_stream(p_stream_id => %L, p_config => %L, '
      'p_secrets => %L) s)',
    (select stream_id from stream), jsonb_build_object('url', p_url), p_secrets
  ))
$$;
select is(
  pg_temp.move(u),
  'PT400 Invalid p_secrets: missing: header.x-api-key',
  u
)
from unnest(array[
  'https://evil.example/x', 'https://example.com:8443/x', 'http://127.0.0.1/x',
  'https://example.com.evil.example/x', 'https://sub.example.com/x', 'https://example.com./x'
]) u;
select is(
  pg_temp.move('https://evil.example/x', '{"header.x-other": null}'),
  'PT400 Invalid p_secrets: missing: header.x-api-key',
  'each of them'
);
select is(pg_temp.move(u), u, u || ' is the same origin')
from unnest(array[
  'https://example.com/y?z=1', 'https://EXAMPLE.com/', 'https://example.com:443/x',
  'https://example.com#x', 'https://example.com/x'
]) u;
create temp table before as select s.secrets from logloom.log_streams s;
select is(
  pg_temp.move('https://evil.example/x', '{"header.x-api-key": null}'), 'https://evil.example/x',
  'the address can change if the secrets are removed'
);
select is((select s.secrets from logloom.log_streams s), '{}'::jsonb, 'the secrets are removed');
select is(
  pg_temp.move('https://example.com/x', (select jsonb_build_object(
    'header.x-api-key', b.secrets -> 'header.x-api-key') from before b)::text),
  'https://example.com/x', 'or if they are sent again'
);
select is(
  pg_temp.by('eve', format('public.get_log_stream(%L)', stream_id), 'umbrella'),
  'PT404 Log stream not found', 'other tenants see no stream'
) from stream;
select is(
  pg_temp.by('ann', format(
    '(select row(s.name, s.query_dsl, s.enabled, s.status, s.secrets) '
      'from public.update_log_stream(p_stream_id => %L, p_name => '' other '', '
      'p_query_dsl => ''level:error'', p_enabled => false, '
      'p_secrets => ''{"header.x-api-key": null}'') s)', stream_id
  )),
  '(other,level:error,f,disabled,{})', 'given members are changed'
) from stream;
select is(
  pg_temp.by('ann', format(
    '(select s.test_requested_at is not null and s.test_finished_at is null '
      'from public.test_log_stream(%L) s)', stream_id
  )), 'true', 'a test is requested'
) from stream;
select matches(
  pg_temp.by('ann', format('public.test_log_stream(%L)', stream_id)),
  '^PGRST .*"PT429".*The log stream was tested just now', 'a second test must wait'
) from stream;
update logloom.log_streams s
set view_id = (select v.view_id from logloom.log_views v), query_dsl = null;
select is(
  pg_temp.by('ann', format(
    'public.delete_log_view(%L)', (select v.view_id from logloom.log_views v)
  )),
  'PT409 The view is in use: log stream other', 'a view that a stream uses cannot be deleted'
);
update logloom.plans set max_log_streams = 1 where plan_id = 'pro';
select is(
  pg_temp.make(''), 'PT400 Plan limit exceeded: log streams (max 1)', 'the plan limits streams'
);
select is(
  array(
    select e.action || ' ' || e.actor from logloom.audit_events e
    where e.action like 'log\_stream.%' group by e.action, e.actor order by min(e.occurred_at)
  ),
  '{log_stream.created ann,log_stream.changed ann,log_stream.changed postgres}',
  'every change is audited'
);
select is(
  (select e.details from logloom.audit_events e where e.action = 'log_stream.created'),
  '{
    "name": "logs", "kind": "webhook", "host": "example.com", "enabled": true, "maker": "ann",
    "secrets": ["header.x-api-key"]
  }'::jsonb, 'with the host of the address and the names of secrets'
);
-- A stream can send the audit trail, which has no views.
select is(
  pg_temp.make(', p_source => ''x'''), 'PT400 Invalid p_source: logs or audit', 'others are refused'
);
select is(
  pg_temp.make(format(', p_source => ''audit'', p_view_id => %L', v.view_id)),
  'PT403 The audit trail is not in views or portal sessions', 'a stream of the audit trail'
)
from logloom.log_views v;
select is(
  pg_temp.by('ann', format('public.delete_log_stream(%L)', stream_id)), '(t)', 'a stream is deleted'
) from stream;
select is((select count(*) from logloom.log_streams), 0::bigint, 'and gone');

select * from finish();
rollback;
