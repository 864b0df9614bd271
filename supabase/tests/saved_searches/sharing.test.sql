begin;
\ir ../actors.psql
select plan(21);

insert into logloom.tenants (tenant_id, plan_id) values ('acme', 'free'), ('umbrella', 'free');
insert into logloom.saved_searches (
  id, tenant_id, created_by, name, query_dsl, category, is_shared, created_at
)
select
  ('00000000-0000-4000-8000-00000000000' || i)::uuid, t, u, n, 'ts:*', c, s,
  now() - make_interval(hours => i)
from (
  values
    (1, 'acme', 'alice', 'alice private', 'night', false),
    (2, 'acme', 'alice', 'alice shared', 'ops', true),
    (3, 'acme', 'bob', 'bob private', 'diary', false),
    (4, 'acme', 'bob', 'bob shared', 'ops', true),
    (5, 'acme', 'bob', 'bob shared too', null, true),
    (6, 'umbrella', 'alice', 'umbrella shared', 'elsewhere', true)
) v (i, t, u, n, c, s);

select pg_temp.act_as_user('acme', 'alice');
select is(
  array(select s.name from public.list_saved_searches() s),
  '{alice private,alice shared,bob shared,bob shared too}',
  'a user''s own and shared searches, newest first'
);
select is(
  array(select s.name from public.list_saved_searches(l.include_shared, l.size, l.after) s),
  l.names, l.what
)
from (
  values
    (null::boolean, null::integer, null::uuid,
      '{alice private,alice shared,bob shared,bob shared too}'::text[], 'null is the default'),
    (false, null, null, '{alice private,alice shared}', 'or only their own'),
    (true, 2, null, '{alice private,alice shared}', 'a page'),
    (true, 2, '00000000-0000-4000-8000-000000000002', '{bob shared,bob shared too}',
      'the next page')
) l (include_shared, size, after, names, what);
select throws_ok(
  format('select * from public.list_saved_searches(p_after => %L)', id), 'PT400',
  'Invalid p_after: no such saved search', 'p_after must be visible: ' || right(id, 1)
)
from unnest(
  '{00000000-0000-4000-8000-000000000003,00000000-0000-4000-8000-000000000006}'::text[]
) id;
select is(public.get_saved_search_count(), 2::bigint, 'count: only their own');
select is(
  public.get_saved_search_categories(), '{night,ops}', 'categories: of visible searches, each once'
);
select is(
  to_jsonb(f), '{"enabled": true, "maxCount": 10, "currentCount": 5}',
  'the plan counts all of the tenant, also private ones'
)
from public.check_plan_feature('saved_searches') f;

select is(
  (public.get_saved_search('00000000-0000-4000-8000-000000000004')).name, 'bob shared',
  'a colleague''s shared search can be read'
);
select throws_ok(
  format('select public.%s(%L)', o, '00000000-0000-4000-8000-000000000004'),
  'PT403', 'Only its creator may change or delete a saved search', 'but not with ' || o
)
from unnest('{update_saved_search,delete_saved_search}'::text[]) o;
select throws_ok(
  format('select public.%s(%L)', o, i),
  'PT404', 'Saved search not found', format('invisible: %s %s', o, right(i, 1))
)
from unnest('{get_saved_search,update_saved_search,delete_saved_search}'::text[]) o,
  unnest('{00000000-0000-4000-8000-000000000003,00000000-0000-4000-8000-000000000006}'::text[]) i;
select is(
  (public.update_saved_search(
    '00000000-0000-4000-8000-000000000002', p_is_shared => false
  )).is_shared,
  false, 'sharing can be undone'
);
select pg_temp.act_as_user('acme', 'bob');
select is(
  array(select s.name from public.list_saved_searches() s),
  '{bob private,bob shared,bob shared too}', 'and then only the creator sees it'
);

select * from finish();
rollback;
