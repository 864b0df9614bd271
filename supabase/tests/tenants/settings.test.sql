begin;
\ir ../actors.psql
select plan(28);

select pg_temp.act_as_user('acme', 'alice');
select is(
  to_jsonb(s) - array['stored', 'retention_rules'],
  '{
    "tenant_id": "acme",
    "pipeline_config": {"retention_days": 7, "compression": true},
    "notification_preferences": {"email_enabled": true, "webhook_enabled": true}
  }',
  'an empty update creates the tenant and returns the defaults of its plan'
)
from public.update_tenant_settings() s;
select is(
  to_jsonb(s) - array['stored', 'retention_rules'],
  '{
    "tenant_id": "acme",
    "pipeline_config": {"retention_days": 3, "compression": true},
    "notification_preferences": {"email_enabled": false, "webhook_enabled": true}
  }',
  'given members are set'
)
from public.update_tenant_settings(
  pipeline_config => '{"retention_days": 3}',
  notification_preferences => '{"email_enabled": false}'
) s;
select is(
  to_jsonb(s) - array['stored', 'retention_rules'],
  '{
    "tenant_id": "acme",
    "pipeline_config": {"retention_days": 3, "compression": false},
    "notification_preferences": {"email_enabled": false, "webhook_enabled": true}
  }',
  'other members stay'
)
from public.update_tenant_settings('acme', '{"compression": false}', 'null') s;
select is(
  to_jsonb(s) -> 'pipeline_config', '{"retention_days": 3, "compression": false}',
  'get_tenant_settings returns the same'
)
from public.get_tenant_settings() s;
select is(
  (select (s.pipeline_config).retention_days
    from public.update_tenant_settings(pipeline_config => '{"retention_days": 5.0}') s),
  5, '5.0 is a whole number'
);

select throws_ok(
  format('select public.update_tenant_settings(null, %L, %L)', c.pipeline, c.notification),
  'PT400', 'Invalid settings data: ' || c.message, c.message
)
from (
  values
    ('[]'::jsonb, null::jsonb, 'pipeline_config must be an object'),
    ('"x"', null, 'pipeline_config must be an object'),
    ('5', null, 'pipeline_config must be an object'),
    (null, 'true', 'notification_preferences must be an object'),
    ('{"retention": 3}', null, 'pipeline_config has an unknown member "retention"'),
    ('{"email_enabled": true}', null, 'pipeline_config has an unknown member "email_enabled"'),
    (null, '{"compression": true}', 'notification_preferences has an unknown member "compression"'),
    (null, '{"": true}', 'notification_preferences has an unknown member ""'),
    ('{"retention_days": 0}', null, 'pipeline_config.retention_days must be from 1 to 7'),
    ('{"retention_days": -1}', null, 'pipeline_config.retention_days must be from 1 to 7'),
    ('{"retention_days": 8}', null, 'pipeline_config.retention_days must be from 1 to 7'),
    ('{"retention_days": 1e999}', null, 'pipeline_config.retention_days must be from 1 to 7'),
    ('{"retention_days": 1.5}', null, 'pipeline_config.retention_days must be a whole number'),
    ('{"retention_days": "3"}', null, 'pipeline_config.retention_days must be a whole number'),
    ('{"retention_days": null}', null, 'pipeline_config.retention_days must be a whole number'),
    ('{"compression": 1}', null, 'pipeline_config.compression must be true or false'),
    ('{"compression": null}', null, 'pipeline_config.compression must be true or false'),
    (null, '{"email_enabled": "yes"}',
      'notification_preferences.email_enabled must be true or false'),
    (null, '{"webhook_enabled": []}',
      'notification_preferences.webhook_enabled must be true or false'),
    ('{"retention_days": 1, "compression": 1}', null,
      'pipeline_config.compression must be true or false')
) c (pipeline, notification, message);
select is(
  (select (s.pipeline_config).retention_days from public.get_tenant_settings() s), 5,
  'a refused update changes no other member'
);

select pg_temp.act_as_postgres();
update logloom.plans set retention_days_max = 4, retention_days_default = 4 where plan_id = 'free';
select pg_temp.act_as_user('acme', 'alice');
select is(
  (select (s.pipeline_config).retention_days from public.get_tenant_settings() s), 4,
  'a smaller plan limits the retention'
);
select pg_temp.act_as_postgres();
select is(
  (select t.retention_days from logloom.tenant_settings t where t.tenant_id = 'acme'), 5,
  'but the setting stays'
);

select * from finish();
rollback;
