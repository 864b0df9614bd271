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
      'Invalid p_notification_destinations: any of email, webhook, slack, '
        'discord, teams, pagerduty',
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
      'Send email for the destination email, webhook_url for webhook, and of p_secrets slack_url, '
        'discord_url, teams_url or pagerduty_key for the others; or disable the rule.', null),
    ('alerts.alert_rules_webhook_template_is_valid', 400,
      'Invalid p_notification_config: webhook_template is a text of 1 to 4000 characters, '
        'webhook_template_type is json or text',
      'Leave both out for the usual payload.', null),
    ('alerts.alert_rules_for_minutes_are_valid', 400, 'Invalid p_for_minutes: 0 to 1440',
      'A day is the longest.', null),
    ('alerts.alert_rules_on_absent_is_known', 400, 'Invalid p_on_absent: ignore or fire',
      'fire tells when a group stops that sent before.', null),
    ('alerts.alert_rules_group_wait_is_valid', 400, 'Invalid p_group_wait_seconds: 0 to 3600',
      'An hour is the longest.', null),
    ('alerts.absent_needs_groups', 400, 'p_on_absent fire needs a query with by',
      'Group by the field whose values are to go on sending, or compare count() with lt.', null),
    ('alerts.rule_not_found', 404, 'Alert rule not found',
      'list_alert_rules shows the rules of this tenant.', null),
    ('alerts.alert_not_found', 404, 'Alert not found', 'Send an alert_id of list_alert_history.',
      null),
    ('alerts.matcher_is_invalid', 400,
      'Invalid p_matcher: an object of rule_id (a UUID) and group (an object of texts)',
      'Send {} for all alerts of the tenant.', null),
    ('alerts.silence_ends_too_early', 400,
      'Invalid p_to: after p_from, and in the future', 'Send when alerts are to be sent again.',
      null),
    ('alerts.silence_comment_is_too_long', 400, 'Invalid p_comment: at most 2000 characters',
      'Shorten it.', null),
    ('alerts.no_room_for_silence', 400, 'Plan limit exceeded: alert silences (max %s)',
      'Expire one that nobody needs; or choose a larger plan.',
      '`create_alert_silence`: the plan''s `max_alert_silences`.'),
    ('alerts.silence_not_found', 404, 'Silence not found',
      'Send a silence_id of list_alert_silences.', null),
    ('alerts.incident_not_found', 404, 'Incident not found',
      'Send an incident_id of list_alert_incidents.', null),
    ('alerts.incident_state_is_unknown', 400,
      'Invalid p_state: one of open, acknowledged, resolved',
      'Leave it out for all incidents.', null),
    ('alerts.too_many_incidents', 400, 'Invalid p_incident_ids: 1 to 1000 ids',
      'Change further ones in another call.', null),
    ('alerts.no_change_of_incident', 400,
      'Nothing to change: send p_acknowledged, p_assigned_to or p_note',
      'An empty p_assigned_to or p_note takes it away.', null),
    ('alerts.assignee_is_unknown', 400,
      'Invalid p_assigned_to: not the user_id or email address of one member',
      'list_tenant_members shows who can have an incident: all but viewers. '
        'Without members, only you.', null),
    ('alerts.incident_note_is_too_long', 400, 'Invalid p_note: at most 2000 characters',
      'Shorten it.', null),
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
