-- Views are created, listed, changed and deleted.
begin;
\ir ../actors.psql
\ir ../by.psql
select plan(39);

create function pg_temp.view_id(p_name text)
returns text
language sql
as $$
  select quote_literal(v.view_id) from logloom.log_views v
  where v.name = p_name and v.tenant_id = 'acme'
$$;

insert into logloom.tenants (tenant_id, plan_id) values ('acme', 'free'), ('umbrella', 'free');
insert into logloom.tenant_members (tenant_id, user_id, role)
values ('acme', 'ann', 'owner'), ('acme', 'abe', 'admin'), ('acme', 'mia', 'member');

select is(
  pg_temp.by('abe', $$(
    select to_jsonb(v) - '{view_id,created_at,updated_at}'::text[]
    from public.create_log_view(
      p_name => ' shop ', p_query_dsl => 'service:shop ts:>=now-7d',
      p_hidden_fields => '{msg,@user.email,"attrs.\"a.b\".c",attrs.user.email,host}',
      p_operations => '{search_logs,log_stats,search_logs}'
    ) v
  )$$),
  '{"name": "shop", "query_dsl": "service:shop ts:>=now-7d", "tenant_id": "acme", '
    '"created_by": "abe", "operations": ["log_stats", "search_logs"], '
    '"hidden_fields": ["attrs.a.b.c", "attrs.user.email", "host", "msg"]}',
  'an admin creates a view; fields and operations are normalised'
);
select is(
  pg_temp.by('ann', $$(
    select to_jsonb(v) - '{view_id,created_at,updated_at}'::text[]
    from public.create_log_view(p_name => 'all', p_query_dsl => ' ', p_operations => '{all}') v
  )$$),
  '{"name": "all", "query_dsl": null, "tenant_id": "acme", "created_by": "ann", '
    '"operations": null, "hidden_fields": []}',
  'a view that shows everything'
);
select is(
  pg_temp.by('mia', $$public.create_log_view(p_name => 'mine')$$),
  'PT403 This requires the role admin', 'a member creates none'
);
select is(
  pg_temp.by('mia', $$(select array_agg(v.name order by v.name) from public.list_log_views() v)$$),
  '{all,shop}', 'but lists them'
);
select is(
  pg_temp.by('eve', '(select count(*) from public.list_log_views())', 'umbrella'), '0',
  'another tenant sees none'
);

select is(pg_temp.by('ann', c.call), c.refusal, c.refusal)
from (
  values
    ('public.create_log_view()', 'PT400 Missing required parameter: p_name'),
    ('public.create_log_view(p_name => '' '')',
      'PT400 Invalid p_name: 1 to 100 characters after trimming'),
    ('public.create_log_view(p_name => ''shop'')',
      'PT409 The tenant has another view of this name'),
    ('public.create_log_view(p_name => ''v'', p_query_dsl => ''level:error | limit 5'')',
      'PT400 A view takes a query without stages'),
    ('public.create_log_view(p_name => ''v'', p_query_dsl => ''| where level:error'')',
      'PT400 A view takes a query without stages'),
    ('public.create_log_view(p_name => ''v'', p_hidden_fields => array_fill(''msg''::text, '
      || 'array[101]))', 'PT400 Invalid p_hidden_fields: a flat array of at most 100'),
    ('public.create_log_view(p_name => ''v'', p_operations => ''{}'')',
      'PT400 Invalid p_operations: none'),
    ('public.create_log_view(p_name => ''v'', p_operations => ''{search_logs,delete_logs}'')',
      'PT400 Invalid p_operations: delete_logs'),
    ('public.update_log_view()', 'PT400 Missing required parameter: p_view_id'),
    ('public.update_log_view(gen_random_uuid())', 'PT404 View not found'),
    ('public.delete_log_view(gen_random_uuid())', 'PT404 View not found')
) c (call, refusal);
select matches(
  pg_temp.by('ann', 'public.create_log_view(p_name => ''v'', p_query_dsl => ''levle:error'')'),
  '^PT400 ', 'a query that does not compile'
);
select is(
  pg_temp.by('ann', format('public.create_log_view(null, ''v'', null, ''{%s}'')', f)),
  format('PT400 Invalid p_hidden_fields: %s cannot be hidden', f), f || ' cannot be hidden'
)
from unnest('{ts,id,tenant_id,received_at,any,"null",mgs}'::text[]) f;

select is(
  pg_temp.by('abe', format($$(
    select to_jsonb(v) - '{view_id,created_at,updated_at}'::text[]
    from public.update_log_view(%s, p_query_dsl => '', p_operations => '{all}') v
  )$$, pg_temp.view_id('shop'))),
  '{"name": "shop", "query_dsl": null, "tenant_id": "acme", "created_by": "abe", '
    '"operations": null, "hidden_fields": ["attrs.a.b.c", "attrs.user.email", "host", "msg"]}',
  'given members change'
);
select is(
  pg_temp.by('abe', format($$(
    select v.hidden_fields from public.update_log_view(%s, p_hidden_fields => '{}') v
  )$$, pg_temp.view_id('shop'))),
  '{}', 'empty p_hidden_fields hide nothing'
);
select is(
  pg_temp.by(
    c.caller, format('public.update_log_view(%s, p_name => ''all'')', pg_temp.view_id('shop')),
    c.tenant_id
  ),
  c.refusal, c.refusal
)
from (
  values
    ('abe', 'acme', 'PT409 The tenant has another view of this name'),
    ('mia', 'acme', 'PT403 This requires the role admin'),
    ('eve', 'umbrella', 'PT404 View not found')
) c (caller, tenant_id, refusal);

-- A view that is in use cannot be deleted.
select is(
  pg_temp.by('ann', format(
    $$(select k.name from public.create_api_key(
      p_name => 'grafana', p_scopes => '{read}', p_view_id => %s) k)$$,
    pg_temp.view_id('shop')
  )),
  'grafana', 'a key uses a view'
);
select is(
  pg_temp.by('ann', format(
    $$(select m.role from public.add_tenant_member(
      'vic', 'viewer', p_email => 'vic@acme.example', p_view_id => %s) m)$$,
    pg_temp.view_id('shop')
  )),
  'viewer', 'a viewer uses it, too'
);
select is(
  pg_temp.by('ann', format('public.delete_log_view(%s)', pg_temp.view_id('shop'))),
  'PT409 The view is in use: API key grafana, member vic@acme.example',
  'a view in use is not deleted, and its users are named'
);
select is(
  pg_temp.by('ann', $$(
    select count(*) from public.list_api_keys() k
    cross join lateral public.revoke_api_key(p_key_id => k.key_id)
  )$$), '1', 'the key is revoked'
);
select is(
  pg_temp.by('ann', $$(select m.view_id from public.set_tenant_member_role('vic', 'member') m)$$),
  null, 'the viewer becomes a member'
);
select is(
  pg_temp.by('ann', format('public.delete_log_view(%s)', pg_temp.view_id('shop'))), '(t)',
  'then it can be deleted'
);
select results_eq(
  $$select e.action, e.details - 'expires_at' from logloom.audit_events e
    where e.tenant_id = 'acme' and e.action like 'view.%' order by e.occurred_at, e.event_id$$,
  $$values
    ('view.created', '{"name": "shop", "query_dsl": "service:shop ts:>=now-7d",
      "operations": ["log_stats", "search_logs"],
      "hidden_fields": ["attrs.a.b.c", "attrs.user.email", "host", "msg"]}'::jsonb),
    ('view.created', '{"name": "all", "hidden_fields": []}'),
    ('view.changed', '{"name": "shop",
      "query_dsl": {"from": "service:shop ts:>=now-7d", "to": null},
      "operations": {"from": ["log_stats", "search_logs"], "to": null}}'),
    ('view.changed', '{"name": "shop", "hidden_fields":
      {"from": ["attrs.a.b.c", "attrs.user.email", "host", "msg"], "to": []}}'),
    ('view.deleted', '{"name": "shop", "hidden_fields": []}')$$,
  'all changes are audited'
);

select is(
  pg_temp.by('ann', $$(
    select v.hidden_fields
    from public.create_log_view(p_name => 'no level', p_hidden_fields => '{level}') v
  )$$),
  '{attrs.original_level,level}', 'hiding level hides attrs.original_level, too'
);
insert into logloom.saved_searches (tenant_id, created_by, name, query_dsl, is_shared, view_id)
select 'acme', s.maker, s.name, 'ts:*', s.is_shared, v.view_id
from logloom.log_views v
cross join (
  values ('ann', 'own', false), ('mia', 'shared', true), ('mia', 'hers', false)
) s (maker, name, is_shared)
where v.name = 'no level';
select is(
  pg_temp.by('ann', format('public.delete_log_view(%s)', pg_temp.view_id('no level'))),
  'PT409 The view is in use: a private saved search of mia, saved search own, saved search shared',
  'private saved searches of colleagues are not named'
);

update logloom.plans set max_views = 1 where plan_id = 'free';
select is(
  pg_temp.by('ann', 'public.create_log_view(p_name => ''more'')'),
  'PT400 Plan limit exceeded: views (max 1)', 'the plan limits the number of views'
);

select * from finish();
rollback;
