-- The project's plans from documents: what changes, what is refused, and who may.
begin;
\ir ../actors.psql
select plan(15);
delete from logloom.tenants;
delete from logloom.plans;
insert into logloom.plans (
  plan_id, plan_name, is_default, monthly_events_limit, monthly_bytes_limit,
  retention_days_default, retention_days_max, saved_searches, max_saved_searches, alerts,
  max_alerts, concurrent_searches
)
values ('free', 'Free', true, 10, 10, 7, 7, true, 1, true, 1, 1);

create function pg_temp.plan(p_id text, p_fields jsonb = '{}')
returns jsonb
language sql
as $$
  select jsonb_build_object('type', 'plans', 'name', p_id, 'fields', '{
    "plan_name": "A", "monthly_events_limit": 10, "monthly_bytes_limit": 10,
    "retention_days_default": 7, "retention_days_max": 7, "saved_searches": true,
    "max_saved_searches": 1, "alerts": true, "max_alerts": 1, "concurrent_searches": 1
  }'::jsonb || p_fields)
$$;

-- Returns the changes as text, or the error.
create function pg_temp.set_plans(
  p_plans jsonb, p_deleted text[] = '{}', p_dry_run boolean = false
)
returns text
language plpgsql
as $$
declare
  v_answer text;
begin
  perform pg_temp.act_as_service_role();
  select string_agg(concat_ws(' ', c ->> 'action', c ->> 'name', c ->> 'fields'), E'\n')
  into v_answer
  from jsonb_array_elements(public.set_log_plans(p_plans, p_deleted, p_dry_run) -> 'changes') c;
  perform pg_temp.act_as_postgres();
  return coalesce(v_answer, '');
exception when others then
  return concat_ws(' ', sqlstate, sqlerrm);
end;
$$;

create temp table wanted as
select jsonb_build_array(
  pg_temp.plan('team', '{"is_default": true, "max_span_share": 0.3, "events_per_second": 9007,
    "events_burst": 9007}'),
  '{"type": "plans", "name": "free", "fields": {"is_default": false, "max_alerts": 2}}'::jsonb
) as plans;
select is(
  regexp_replace(pg_temp.set_plans(plans, p_dry_run => true), '(team {).*', '\1'),
  'update free {"is_default": {"new": false, "old": true}, "max_alerts": {"new": 2, "old": 1}}
create team {', 'a dry run tells the changes'
) from wanted;
select is((select count(*) from logloom.plans), 1::bigint, 'and makes none');
select matches(
  pg_temp.set_plans(plans), '^update free .*\ncreate team .*"max_span_share": {"new": 0.3}',
  'plans are created and changed, with a new default'
) from wanted;
select is(pg_temp.set_plans(plans), '', 'a second time nothing changes') from wanted;
select is(
  pg_temp.set_plans('[{"type": "plans", "name": "team", "fields": {"events_per_second": null,
    "events_burst": null}}]'),
  'update team {"events_burst": {"new": null, "old": 9007}, "events_per_second": {"new": null, '
    '"old": 9007}}', 'a limit is removed, and fields that are left out stay'
);
insert into logloom.tenants (tenant_id, plan_id) values ('globex', 'free'), ('acme', 'free');
select is(
  pg_temp.set_plans('[]', '{free}'),
  'PT409 Plans that tenants have cannot be deleted: acme (free), globex (free)',
  'the tenants of a plan that is to be deleted are named'
);
update logloom.tenants set plan_id = 'team' where true;
select is(
  pg_temp.set_plans('[]', '{free,gone}'), 'delete free {}', 'an unused plan is deleted'
);
select is(pg_temp.set_plans(d.plans, d.deleted), d.error, d.error)
from (
  values
    (jsonb_build_array(pg_temp.plan('a'), pg_temp.plan('b', '{"max_alert": 1}')), '{}'::text[],
      'PT400 Invalid plan b: there is no column max_alert'),
    (jsonb_build_array(pg_temp.plan('b', '{"max_alerts": "many"}')), '{}',
      'PT400 Invalid plan b: invalid input syntax for type integer: "many"'),
    (jsonb_build_array(pg_temp.plan('team', '{"is_default": false}')), '{}',
      'PT400 No plan has is_default'),
    (jsonb_build_array(pg_temp.plan('b', '{"is_default": true}')), '{}',
      'PT400 Invalid plan b: another plan has is_default'),
    ('[5]', '{}', 'PT400 A plan has a plan_id and an object of fields, and cannot be renamed'),
    (jsonb_build_array(pg_temp.plan('b'), pg_temp.plan('b')), '{}',
      'PT400 Two documents describe the same thing of the type plans'),
    (jsonb_build_array(pg_temp.plan('b') || '{"renamed_from": "team"}'), '{}',
      'PT400 A plan has a plan_id and an object of fields, and cannot be renamed')
) d (plans, deleted, error);
select pg_temp.act_as_user('acme', 'alice');
select throws_ok(
  'select public.set_log_plans()', '42501', null, 'a user may not read or change plans by it'
);
select * from finish();
rollback;
