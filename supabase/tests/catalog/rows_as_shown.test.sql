-- Operations show each column of a row under its own name.
begin;
select plan(4);

insert into logloom.tenants (tenant_id, plan_id) values ('acme', 'free');
insert into logloom.alert_rules (
  tenant_id, name, description, query_dsl, threshold, comparison, window_minutes, cooldown_minutes,
  enabled, notification_destinations, notification_config, created_by, created_at, updated_at,
  last_evaluated_at, last_value, last_error, for_minutes, group_wait_seconds, baseline_days
)
values (
  'acme', 'a name', 'a description', 'level:error', 3.5, 'gte', 7, 8, true, '{email}',
  '{"email": "ops@example.com"}', 'u1', '2026-01-01T00:00Z', '2026-01-02T00:00Z',
  '2026-01-03T00:00Z', 9.5, 'an error', 5, 6, 7
);
insert into logloom.saved_searches (
  tenant_id, created_by, name, query_dsl, description, category, is_shared, tags, created_at,
  updated_at, last_run_at, run_count, display
)
values (
  'acme', 'u1', 'a name', 'level:error', 'a description', 'a category', true, '{a,b}',
  '2026-01-01T00:00Z', '2026-01-02T00:00Z', '2026-01-03T00:00Z', 5, '{"cols": "host"}'
);

select is(
  (
    select to_jsonb(r) @> to_jsonb(o) - '{late_seconds,baseline,customer}'::text[]
    from logloom.alert_rules r, logloom_private.alert_rule_of(r) o
  ),
  true, 'an alert rule'
);
select is(
  (
    select to_jsonb(s) @> to_jsonb(o)
    from logloom.saved_searches s, logloom_private.saved_search_of(s) o
  ),
  true, 'a saved search'
);
-- All values differ, so that the tests above can tell columns apart.
select is(
  (
    select count(*) - count(distinct v)
    from logloom.alert_rules r, logloom_private.alert_rule_of(r) o,
      jsonb_each(to_jsonb(o) - '{customer,held_at,paused_at}'::text[]) e (k, v)
  ),
  0::bigint, 'all members of the rule differ'
);
select is(
  (
    select count(*) - count(distinct v)
    from logloom.saved_searches s, logloom_private.saved_search_of(s) o,
      jsonb_each(to_jsonb(o)) e (k, v)
  ),
  0::bigint, 'all members of the saved search differ'
);

select * from finish();
rollback;
