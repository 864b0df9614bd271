begin;
\ir ../actors.psql
select plan(12);

insert into logloom.tenants (tenant_id, plan_id) values ('acme', 'pro');
select pg_temp.act_as_user('acme', 'alice');
create temp table made as
select (
  public.create_alert_rule(
    p_name => 'r', p_query_dsl => 'level:error', p_threshold => 5, p_comparison => 'lt',
    p_window_minutes => 5, p_cooldown_minutes => 5, p_enabled => true
  )
).rule_id;
grant select on made to public;
select is(
  (select r.asked_at from logloom.alert_rules r), now(),
  'a new rule evaluates windows from its creation on'
);

-- Returns whether a rule that is an hour old starts again after a change.
create function pg_temp.begins_anew(p_change text)
returns boolean
language plpgsql
as $$
declare
  v_asked_at timestamptz;
begin
  perform pg_temp.act_as_postgres();
  update logloom.alert_rules set asked_at = now() - interval '1 hour' where true;
  perform pg_temp.act_as_user('acme', 'alice');
  execute format(
    'select from public.update_alert_rule(p_rule_id => %L, %s)', (select m.rule_id from made m),
    p_change
  );
  select r.asked_at into v_asked_at from logloom.alert_rules r;
  return v_asked_at >= now();
end;
$$;

select is(pg_temp.begins_anew(c.change), c.anew, c.change)
from (
  values
    ('p_name => ''another''', false),
    ('p_enabled => true', false),
    ('p_query_dsl => ''level:error'', p_window_minutes => 5', false),
    ('p_query_dsl => ''level:warn''', true),
    ('p_window_minutes => 10', true),
    ('p_threshold => 4', true),
    ('p_comparison => ''lte''', true),
    ('p_for_minutes => 5', true),
    ('p_for_minutes => 5, p_cooldown_minutes => 1', false),
    ('p_enabled => false', false),
    ('p_enabled => true', true)
) c (change, anew);

select * from finish();
rollback;
