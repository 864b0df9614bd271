begin;
\ir ../actors.psql
select plan(39);

select pg_temp.act_as_user('acme', 'alice');
create temp table created as
select public.create_saved_search(
  p_name => E' errors\n', p_query_dsl => 'level:error', p_description => 'All of them',
  p_category => ' ops ', p_is_shared => true, p_tags => '{a,b}',
  p_display => '{"cols": "host"}'
) as id;
create temp table bare as
select public.create_saved_search(
  p_name => 'all', p_query_dsl => 'ts:*', p_is_shared => null
) as id;
grant select on created, bare to public;

select is(
  to_jsonb(s) - '{id,created_at,updated_at,view_id}'::text[],
  '{
    "name": "errors", "description": "All of them", "query_dsl": "level:error",
    "category": "ops", "is_shared": true, "tags": ["a", "b"], "created_by": "alice",
    "last_run_at": null, "run_count": 0, "display": {"cols": "host"}
  }',
  'a saved search as it was created'
)
from created c, public.get_saved_search(c.id) s;
select is(array[s.created_at, s.updated_at], array[now(), now()], 'with its times')
from created c, public.get_saved_search(c.id) s;
select is(
  to_jsonb(s) - '{id,created_at,updated_at,view_id}'::text[],
  '{
    "name": "all", "description": null, "query_dsl": "ts:*", "category": null,
    "is_shared": false, "tags": [], "created_by": "alice", "last_run_at": null, "run_count": 0,
    "display": {}
  }',
  'omitted members get defaults'
)
from bare b, public.get_saved_search(b.id) s;
select lives_ok(
  $$select public.create_saved_search(
    p_name => repeat('ä', 200), p_query_dsl => '| count()',
    p_tags => array(select repeat('t', 50) from generate_series(1, 20))
  )$$,
  'values at the limits are allowed'
);

create temp table wrong as
select w.message, unnest(w.arguments) as argument
from (
  values
    ('Invalid p_name: 1 to 200 characters after trimming',
      array[$$p_name => ''$$, $$p_name => E' \n'$$, $$p_name => repeat('n', 201)$$]),
    ('Invalid p_description: at most 2000 characters',
      array[$$p_description => repeat('d', 2001)$$]),
    ('Invalid p_display: an object of at most 4000 bytes',
      array[$$p_display => '[]'$$, $$p_display => jsonb_build_object('a', repeat('d', 4000))$$]),
    ('Invalid p_category: at most 100 characters', array[$$p_category => repeat('c', 101)$$]),
    ('Invalid p_tags: at most 20 tags of 1 to 50 characters each', array[
      $$p_tags => array_fill('t'::text, array[21])$$, $$p_tags => '{""}'$$,
      $$p_tags => array[repeat('t', 51)]$$, $$p_tags => array[null]::text[]$$,
      $$p_tags => '{{a},{b}}'$$
    ]),
    ('Invalid p_query_dsl: it is blank',
      array[$$p_query_dsl => ''$$, $$p_query_dsl => E' \t\r\n\u00a0'$$])
) w (message, arguments);

select throws_ok(
  format('select public.create_saved_search(%s)', concat_ws(
    ', ',
    case when w.argument not like 'p_name %' then 'p_name => ''n''' end,
    case when w.argument not like 'p_query_dsl %' then 'p_query_dsl => ''ts:*''' end,
    w.argument
  )),
  'PT400', w.message, 'create: ' || w.argument
)
from wrong w;
select throws_ok(
  format('select public.update_saved_search(p_id => %L, %s)', c.id, w.argument),
  'PT400', w.message, 'update: ' || w.argument
)
from wrong w, created c;
select throws_ok(
  $$select public.create_saved_search(p_name => 'n', p_query_dsl => 'level:loud')$$,
  'PT400', null, 'create: a query that does not compile'
);
select throws_ok(
  $$select public.create_saved_search(p_query_dsl => 'ts:*')$$,
  'PT400', 'Missing required parameter: p_name', 'create: no name'
);
select throws_ok(
  $$select public.create_saved_search(p_name => 'n')$$,
  'PT400', 'Missing required parameter: p_query_dsl', 'create: no query'
);

select pg_temp.act_as_postgres();
update logloom.saved_searches
set created_at = now() - interval '1 day', updated_at = now() - interval '1 day';
select pg_temp.act_as_user('acme', 'alice');
select is(
  to_jsonb(s) - '{id,created_at,updated_at,view_id}'::text[],
  '{
    "name": "errors", "description": null, "query_dsl": "level:error", "category": "night",
    "is_shared": true, "tags": [], "created_by": "alice", "last_run_at": null, "run_count": 0,
    "display": {"cols": "host"}
  }',
  'update: given members change, an empty text removes one, others stay'
)
from created c,
  public.update_saved_search(c.id, p_description => '', p_category => 'night', p_tags => '{}') s;
select is(
  array[s.created_at, s.updated_at], array[now() - interval '1 day', now()],
  'update: with its times'
)
from created c, public.get_saved_search(c.id) s;

select is(to_jsonb(d), '{"success": true}', 'delete')
from created c, public.delete_saved_search(c.id) d;
select throws_ok(
  format('select public.delete_saved_search(%L)', c.id),
  'PT404', 'Saved search not found', 'delete: again'
)
from created c;

select * from finish();
rollback;
