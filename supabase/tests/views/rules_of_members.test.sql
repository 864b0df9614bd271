-- Rules in a view are paused when their creator leaves, and their results are hidden when the view
-- changes.
begin;
\ir ../actors.psql
\ir ../by.psql
select plan(17);

insert into logloom.tenants (tenant_id, plan_id) values ('acme', 'pro');
insert into logloom.log_views (tenant_id, name, query_dsl, operations, created_by, shows_since)
select
  'acme', n, 'service:shop', '{list_alert_rules,list_alert_history}', 'ann',
  now() - interval '1 day'
from unnest(array['shop', 'other']) n;
create temp table views as select v.name, v.view_id from logloom.log_views v;
insert into logloom.tenant_members (tenant_id, user_id, role)
values
  ('acme', 'ann', 'owner'), ('acme', 'adam', 'admin'), ('acme', 'eve', 'admin'),
  ('acme', 'mia', 'member');
insert into logloom.tenant_members (tenant_id, user_id, role, view_id)
select 'acme', 'vic', 'viewer', v.view_id from views v where v.name = 'shop';
insert into logloom.alert_rules (
  tenant_id, name, query_dsl, threshold, comparison, window_minutes, cooldown_minutes, enabled,
  created_by, view_id, asked_at, last_evaluated_at, last_value
)
select
  'acme', r.name, '| count() by service', 1, 'gt', 5, 5, r.name <> 'adam off', r.maker,
  (select v.view_id from views v where v.name = 'shop' and r.is_bound),
  now() - interval '1 day', now() - interval '1 minute', 7
from (
  values
    ('ann', 'ann', true), ('adam', 'adam', true), ('adam off', 'adam', true),
    ('adam all', 'adam', false), ('eve', 'eve', true)
) r (name, maker, is_bound);
insert into logloom.alert_history (
  tenant_id, rule_id, value, threshold, view_id, triggered_at, "group"
)
select 'acme', r.rule_id, 2, 1, r.view_id, now() - interval '1 hour', '{"service": "shop"}'
from logloom.alert_rules r where r.name = 'ann';

create function pg_temp.set_role(p_user_id text, p_role text, p_view text default null)
returns text
language sql
as $$
  select pg_temp.by('ann', format(
    '(select r.role from public.set_tenant_member_role(%L, %L, p_view_id => %L) r)', p_user_id,
    p_role, (select v.view_id from views v where v.name = p_view)
  ))
$$;
create function pg_temp.enabled()
returns text
language sql
as $$
  select string_agg(r.name, ', ' order by r.name) from logloom.alert_rules r where r.enabled
$$;

select is(pg_temp.enabled(), 'adam, adam all, ann, eve', 'the enabled rules');
select is(pg_temp.set_role('adam', 'member'), 'member', 'a creator of rules becomes a member');
select is(pg_temp.enabled(), 'adam, adam all, ann, eve', 'and may keep rules');
select is(
  pg_temp.by('ann', 'public.remove_tenant_member(''adam'')'), '(t)', 'the creator is removed'
);
select is(
  pg_temp.enabled(), 'adam all, ann, eve', 'their rules in a view are paused, others not'
);
select is(pg_temp.set_role('eve', 'viewer', 'other'), 'viewer', 'a creator becomes a viewer');
select is(pg_temp.enabled(), 'adam all, ann', 'their rules are paused, too');
select is(
  (
    select json_agg(
      json_build_array(e.actor, e.details ->> 'name', e.details ->> 'created_by')
      order by e.details ->> 'name'
    )::text
    from logloom.audit_events e
    where e.action = 'alert_rule.paused'
  ),
  '[["ann", "adam", "adam"], ["ann", "eve", "eve"]]', 'pausing is audited'
);
select is(
  pg_temp.by('mia', format(
    '(select r.enabled from public.update_alert_rule(%L, p_enabled => true) r)',
    (select r.rule_id from logloom.alert_rules r where r.name = 'adam')
  )),
  'true', 'a member can enable a paused rule'
);
select is(pg_temp.set_role('eve', 'viewer', 'shop'), 'viewer', 'a viewer moves to another view');
select is(pg_temp.enabled(), 'adam, adam all, ann', 'which pauses nothing');

-- Results from before a change of the view are hidden.
create function pg_temp.seen()
returns text
language sql
as $$
  select pg_temp.by('vic', $call$(
    select json_build_array(
      (select json_agg(h."group") from public.list_alert_history() h),
      (select max(r.last_value) from public.list_alert_rules() r where r.name = 'ann')
    )
  )$call$)
$$;
create function pg_temp.change(p_changes text)
returns text
language sql
as $$
  select pg_temp.by('ann', format(
    '(select u.name from public.update_log_view(%L, %s) u)',
    (select v.view_id from views v where v.name = 'shop'), p_changes
  ))
$$;
select is(pg_temp.seen(), '[[{"service": "shop"}], 7]', 'a viewer sees the results in the view');
select is(pg_temp.change('p_name => ''store'''), 'store', 'the view is renamed');
select is(pg_temp.seen(), '[[{"service": "shop"}], 7]', 'results stay');
select is(
  pg_temp.change('p_query_dsl => ''service:shop'', p_hidden_fields => ''{}'''), 'store',
  'the view is updated to the same values'
);
select is(pg_temp.seen(), '[[{"service": "shop"}], 7]', 'results stay');
select pg_temp.change('p_hidden_fields => ''{service}''') \g /dev/null
select is(pg_temp.seen(), '[null, null]', 'hiding a field hides earlier results');

select * from finish();
rollback;
