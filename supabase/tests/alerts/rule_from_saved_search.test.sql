-- A saved search becomes a rule in one step.
begin;
\ir ../actors.psql
select plan(9);

insert into logloom.tenants (tenant_id, plan_id) values ('acme', 'pro'), ('umbrella', 'pro');
insert into logloom.saved_searches (id, tenant_id, created_by, name, query_dsl, is_shared)
values
  ('00000000-0000-4000-8000-000000000001', 'acme', 'alice', 'mine', 'level:error', false),
  ('00000000-0000-4000-8000-000000000002', 'acme', 'alice', 'ours',
    'level:error | count() by service', true),
  ('00000000-0000-4000-8000-000000000003', 'acme', 'alice', 'rows', 'x | sort by ts', true);

create function pg_temp.make(p_search integer, p_more text default '')
returns text
language plpgsql
as $$
declare
  v_made text;
begin
  execute format(
    'select r.name || '': '' || r.query_dsl from public.create_alert_rule('
      'p_saved_search_id => %L, p_threshold => 1, p_comparison => ''gt'', p_window_minutes => 5, '
      'p_cooldown_minutes => 5, p_enabled => true%s) r',
    '00000000-0000-4000-8000-00000000000' || p_search, p_more
  )
  into v_made;
  return v_made;
exception when others then
  return sqlstate || ' ' || sqlerrm;
end;
$$;

select pg_temp.act_as_user('acme', 'alice');
select is(pg_temp.make(1), 'mine: level:error', 'name and query come from the search');
select is(
  pg_temp.make(1, ', p_name => ''other'', p_query_dsl => ''level:warn'''), 'other: level:warn',
  'unless they are sent'
);
select alike(pg_temp.make(3), 'PT400 %', 'a search without a number is refused');
select is(
  pg_temp.make(1, ', p_on_absent => ''fire'''),
  'PT400 p_on_absent "fire" needs a query with "by"', 'on_absent needs groups'
);
select is(
  pg_temp.make(2, ', p_on_absent => ''fire'''), 'ours: level:error | count() by service',
  'a search with groups has them'
);
select pg_temp.act_as_user('acme', 'bob');
select is(
  pg_temp.make(2), 'ours: level:error | count() by service',
  'a colleague''s shared search can be used'
);
select is(
  pg_temp.make(1), 'PT404 Saved search not found', 'a private search of a colleague is not found'
);
select pg_temp.act_as_user('umbrella', 'alice');
select is(pg_temp.make(2), 'PT404 Saved search not found', 'another tenant''s search is not found');
select pg_temp.act_as_user('acme', 'alice');
select throws_ok(
  $$select public.create_alert_rule(p_threshold => 1)$$,
  'PT400', 'Missing required parameter: p_name', 'without a search the rule needs a name'
);
select pg_temp.act_as_postgres();

select * from finish();
rollback;
