-- API keys and viewers read within a view.
begin;
\ir ../actors.psql
\ir ../by.psql
select plan(34);

insert into logloom.tenants (tenant_id, plan_id) values ('acme', 'free'), ('umbrella', 'free');
insert into logloom.log_views (
  tenant_id, name, query_dsl, hidden_fields, operations, created_by
)
select v.*, 'ann'
from (
  values
    ('acme', 'all', null, '{}'::text[], null::text[]),
    ('acme', 'counts', null, '{}', '{log_stats}'),
    ('acme', 'shop', 'service:shop', '{msg}', '{log_stats}'),
    ('acme', 'lately', 'ts:>=now-1h', '{}', null),
    ('acme', 'broken', 'levle:error', '{}', null),
    ('umbrella', 'theirs', null, '{}', null)
) v;
create temp table views as select v.name, v.view_id from logloom.log_views v;
insert into logloom.tenant_members (tenant_id, user_id, role) values ('acme', 'ann', 'owner');
insert into logloom.tenant_members (tenant_id, user_id, role, view_id)
select 'acme', 'v-' || v.name, 'viewer', v.view_id from views v where v.name <> 'theirs';

create function pg_temp.view_id(p_name text)
returns text
language sql
as $$ select quote_literal(v.view_id) from views v where v.name = p_name $$;

-- A key reads within its view.
grant select on views to public;
select pg_temp.act_as_user('acme', 'ann');
create temp table keys as
select v.name, k.key_value, k.view_id
from views v
cross join lateral public.create_api_key(
  p_name => v.name, p_scopes => '{read}', p_view_id => v.view_id
) k
where v.name <> 'theirs';
grant select on keys to public;
select pg_temp.act_as_postgres();
create function pg_temp.digest(p_name text)
returns text
language sql
as $$
  select encode(sha256(convert_to(k.key_value, 'UTF8')), 'hex') from keys k where k.name = p_name
$$;
create function pg_temp.read(p_name text, p_operation text)
returns text
language plpgsql
as $$
declare
  v_digest constant text := pg_temp.digest(p_name);
  v_answer text;
begin
  perform pg_temp.act_as_service_role();
  v_answer := pg_temp.attempt(
    format('select public.read_logs(%L, %L, ''{"p_query_dsl": "error"}'')', v_digest, p_operation)
  );
  perform pg_temp.act_as_postgres();
  return v_answer;
end;
$$;

select is((select count(*) from keys k join views v using (view_id)), 5::bigint, 'keys have views');
select is(pg_temp.read('all', 'search_logs'), 'accepted', 'a key reads in its view');
select is(
  pg_temp.read('counts', 'log_histogram'), 'PT403 This caller may not call log_histogram',
  'a bound reader calls only operations of the view'
);
select is(
  (
    select row_to_json(s)::jsonb
    from logloom_private.scope_of_key(pg_temp.digest('shop'), 'search_logs') s
  ),
  (
    select jsonb_build_object(
      'kind', 'key', 'tenant_id', 'acme', 'operations', array['log_stats'],
      'hidden_fields', array['msg'],
      'filter', (logloom_private.compile_query('service:shop')).tree, 'view_id', v.view_id,
      'customer', null, 'limits', null, 'session_id', null, 'names_now', false
    )
    from views v where v.name = 'shop'
  ),
  'its scope is the view''s'
);
select is(
  (logloom_private.scope_of_key(pg_temp.digest('lately'), 'search_logs')).filter,
  (logloom_private.compile_query('ts:>=now-1h')).tree,
  'now is the time of reading'
);
select is(
  pg_temp.read('broken', 'log_stats'),
  'PT403 The query of the view broken is no longer valid',
  'an invalid view returns nothing'
);
select is(
  pg_temp.by('ann', format(
    'public.create_api_key(p_name => ''k'', p_scopes => %L, p_view_id => %s)', k.scopes,
    pg_temp.view_id(k.view)
  )),
  k.refusal, k.name
)
from (
  values
    ('{read,ingest}'::text[], 'all', 'PT400 p_view_id is for API keys that only read',
      'a key that sends cannot have a view'),
    (null, 'all', 'PT400 p_view_id is for API keys that only read', 'which is the default'),
    ('{read}', 'theirs', 'PT404 View not found', 'nor a view of another tenant')
) k (scopes, view, refusal, name);
select is(
  quote_literal(pg_temp.by('ann', format(
    '(select k.view_id from public.rotate_api_key(p_key_id => %L, p_view_id => %s) k)',
    (select k.key_id from logloom.api_keys k where k.name = r.key), coalesce(r.given, 'null')
  ))),
  r.view_id, r.name
)
from (
  values
    ('shop', null, pg_temp.view_id('shop'), 'a rotated key keeps its view'),
    ('counts', pg_temp.view_id('all'), pg_temp.view_id('all'), 'or gets another')
) r (key, given, view_id, name);

-- A viewer reads within their view.
select is(pg_temp.by(v.viewer, '(select 1 from public.search_logs())'), v.answer, v.viewer)
from (
  values
    ('v-all', '1'), ('v-counts', 'PT403 This caller may not call search_logs'),
    ('v-broken', 'PT403 The query of the view broken is no longer valid')
) v (viewer, answer);
select is(
  pg_temp.attempt(
    $$select logloom_private.authenticate_sender(
      null, null,
      jsonb_build_object(
        'role', 'authenticated', 'tenant_id', 'acme', 'sub', 'v-all',
        'exp', extract(epoch from now()) + 60
      )
    )$$
  ),
  'PT403 A viewer may only read', 'a viewer cannot send'
);
select is(pg_temp.by('v-all', c.call), 'PT403 A viewer may only read', c.call)
from (
  values
    ('(select count(*) from public.list_api_keys())'),
    ('(select count(*) from public.list_log_views())'),
    ('(select count(*) from public.list_tenant_members())'),
    ('(select count(*) from public.list_tenant_audit_events())'),
    ('public.get_current_tenant()'),
    ('public.create_ingest_token(p_service => ''page'')'),
    ('public.create_api_key(p_name => ''k'')'),
    ('public.create_saved_search(p_name => ''s'', p_query_dsl => ''ts:*'')')
) c (call);
select is(
  pg_temp.by('v-all', '(select count(t.tenant_id) from logloom.' || t || ' t)'), '0',
  'a viewer sees no row of ' || t
)
from unnest(array['logs', 'log_views', 'tenant_members', 'api_keys']) t;

-- A token can name the role and the view.
update logloom_private.settings set roles_from_token = true;
create function pg_temp.as_viewer_of(p_view text)
returns jsonb
language sql
as $$
  select jsonb_build_object('app_metadata', jsonb_strip_nulls(
    jsonb_build_object('logloom_role', 'viewer', 'logloom_view', p_view)
  ))
$$;
select is(
  pg_temp.by(
    t.user_id, '(select 1 from public.search_logs())',
    p_claims => pg_temp.as_viewer_of(trim(t.view, ''''))
  ),
  t.answer, t.name
)
from (
  values
    ('tom', pg_temp.view_id('all'), '1', 'a token can have role and view'),
    ('tom', null, 'PT403 The view of this reader does not exist', 'a token without a view'),
    ('tom', 'all', 'PT403 The view of this reader does not exist', 'a view is named by its id'),
    ('tom', pg_temp.view_id('theirs'), 'PT403 The view of this reader does not exist',
      'a view of another tenant'),
    ('v-counts', pg_temp.view_id('all'), 'PT403 This caller may not call search_logs',
      'the view of a member''s row is used before the token''s')
) t (user_id, view, answer, name);

select is(
  pg_temp.by('ann', format('public.add_tenant_member(''zoe'', %s)', m.arguments)), m.refusal,
  m.refusal
)
from (
  values
    ('''viewer''', 'PT400 A viewer needs p_view_id'),
    ('''admin'', p_view_id => ' || pg_temp.view_id('all'), 'PT400 p_view_id is for the role viewer')
) m (arguments, refusal);

select * from finish();
rollback;
