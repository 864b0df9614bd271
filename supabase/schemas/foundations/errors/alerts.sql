-- Alert rules and their history. What a check constraint of alert_rules refuses has the name of
-- the constraint.
create function logloom_private.alerts_errors()
returns setof logloom_private.error
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select e.*
  from (
    values
    ('alerts.query_reads_what_is_hidden', 400, 'The query asks for what the view %s hides',
      'Ask for other fields, or bind the rule to another view.',
      'A rule that is evaluated in a view names one of its hidden fields, or an attribute beside '
        'one, or looks through any text.'),
    ('alerts.range_is_empty', 400, 'Invalid range: p_ts_from must be before p_ts_to',
      'p_ts_from is inclusive, p_ts_to is not.', null),
    ('alerts.alert_rules_name_is_valid', 400, 'Invalid p_name: 1 to 200 characters after trimming',
      'Name the rule after what it watches.', null),
    ('alerts.alert_rules_description_is_valid', 400,
      'Invalid p_description: at most 2000 characters', 'Shorten it.', null),
    ('alerts.alert_rules_threshold_is_finite', 400, 'Invalid p_threshold: a finite number',
      'Send a JSON number.', null),
    ('alerts.alert_rules_comparison_is_known', 400,
      'Invalid p_comparison: one of gt, gte, lt, lte, eq, neq',
      'The value of the query stands at the left: gt fires when it is above p_threshold.', null),
    ('alerts.alert_rules_window_is_valid', 400, 'Invalid p_window_minutes: 1 to 1440',
      'A day is the longest window.', null),
    ('alerts.alert_rules_cooldown_is_valid', 400, 'Invalid p_cooldown_minutes: 0 to 10080',
      'Seven days is the longest cooldown.', null),
    ('alerts.alert_rules_destinations_are_known', 400,
      'Invalid p_notification_destinations: any of email, webhook',
      'Send a flat array of these texts.', null),
    ('alerts.alert_rules_config_is_object', 400,
      'Invalid p_notification_config: an object of at most 8192 bytes',
      'Send a JSON object with email and webhook_url.', null),
    ('alerts.alert_rules_email_is_valid', 400,
      'Invalid p_notification_config: email is no email address',
      'Send one address, without a name or angle brackets.', null),
    ('alerts.alert_rules_webhook_url_is_valid', 400,
      'Invalid p_notification_config: webhook_url is no https URL',
      'Send an https URL without user name and password.', null),
    ('alerts.alert_rules_destinations_have_addresses', 400,
      'Invalid p_notification_config: an enabled rule needs the address of each destination',
      'Send email for the destination email, webhook_url for webhook, or disable the rule.', null),
    ('alerts.rule_not_found', 404, 'Alert rule not found',
      'list_alert_rules shows the rules of this tenant.', null),
    ('alerts.alert_not_found', 404, 'Alert not found', 'Send an alert_id of list_alert_history.',
      null),
    ('alerts.incident_not_found', 404, 'Incident not found',
      'Send an incident_id of list_alert_incidents.', null),
    ('alerts.incident_state_is_unknown', 400,
      'Invalid p_state: one of open, acknowledged, resolved',
      'Leave it out for all incidents.', null),
    ('alerts.too_many_incidents', 400, 'Invalid p_incident_ids: 1 to 1000 ids',
      'Acknowledge further ones in another call.', null),
    ('alerts.query_gives_no_number', 400,
      'Invalid p_query_dsl: an alert rule compares one number, so it takes one aggregate',
      'Leave the other stages out; the filter may stand before the bar.', null),
    ('alerts.preview_names_now', 400, 'A query that names now has no preview',
      'Leave ts out: the window says which time is meant.',
      '`preview_alert_rule`: `now` differs from window to window.'),
    ('alerts.preview_took_too_long', 408, 'The preview took too long',
      'Narrow the query, by service or level say.',
      '`preview_alert_rule`: 15 seconds. Narrow the query.')
  ) e (name, status, message, hint, explanation);
end;
$$;
