-- Usage, settings and deletion.
create function logloom_private.usage_errors()
returns setof logloom_private.error
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query values
    ('usage.settings_are_no_object', 400, 'Invalid settings data: %s must be an object',
      'Send a JSON object with the members to change.',
      '`pipeline_config` and `notification_preferences` are JSON objects.'),
    ('usage.setting_is_unknown', 400, 'Invalid settings data: %s has an unknown member "%s"',
      'pipeline_config has retention_days and compression, notification_preferences has '
        'email_enabled and webhook_enabled.', null),
    ('usage.setting_is_no_whole_number', 400, 'Invalid settings data: %s must be a whole number',
      'Send a number from 1 to %2$s.', '`retention_days`.'),
    ('usage.setting_is_out_of_range', 400, 'Invalid settings data: %s must be from 1 to %s',
      'The plan sets the highest retention_days.', null),
    ('usage.setting_is_no_boolean', 400, 'Invalid settings data: %s must be true or false',
      'Send a JSON boolean.', null),
    ('usage.rules_are_no_list', 400, 'Invalid p_rules: it must be an array of objects',
      'Send [{"level": "debug", "days": 3}], or [] for no rules.', null),
    ('usage.rule_is_wrong', 400, 'Invalid p_rules: rule %s %s',
      'A rule has level, service or both, and days. The plan sets the highest number of days.',
      null),
    ('usage.not_in_views', 403, 'The usage of a tenant is not in views or portal sessions',
      'Read it as a member, with an API key without a view, or in a portal session (part '
        'usage).', null),
    ('usage.months_are_out_of_range', 400, 'Invalid p_months: 1 to 24',
      'Without p_months you get the current month.', null),
    ('usage.services_are_out_of_range', 400, 'Invalid p_services: 1 to 50',
      'Without p_services you get no usage by service.', null),
    ('usage.services_take_three_months', 400, 'Invalid p_months: at most 3 with p_services',
      'Leave out p_services for more months.', null),
    ('usage.too_many_deletions', 429, 'Too many deletions are open (max %s)',
      'list_log_retention_runs shows them. One deletion with OR can replace several.', null),
    ('usage.kind_is_unknown', 400, 'Invalid p_kind: one of retention, erasure, storage',
      'Leave it out for all deletions.', null),
    ('usage.deletion_query_is_blank', 400, 'Invalid p_query_dsl: it is blank',
      'Write * to delete every record of the range.', null);
end;
$$;
