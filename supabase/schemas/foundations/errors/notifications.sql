-- Deliveries of alerts, and their addresses.
create function logloom_private.notifications_errors()
returns setof logloom_private.error
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query values
    ('notifications.no_destination', 400,
      'The alert rule has no destination that notifications may go to',
      'Set notification_destinations of the rule, and check notification_preferences of the '
        'tenant.',
      '`test_alert_rule`: the rule has no destination, or the tenant''s preferences turn it off.'),
    ('notifications.tested_a_moment_ago', 429, 'This alert rule was tested a moment ago',
      'Wait a few seconds.', '`test_alert_rule`: once in 10 seconds.'),
    ('notifications.delivery_not_found', 404, 'Delivery not found',
      'Send a delivery_id from list_alert_deliveries.', null),
    ('notifications.delivery_arrived', 400, 'The delivery has already arrived',
      'test_alert_rule sends another notification.', null),
    ('notifications.claim_limit_is_out_of_range', 400, 'Invalid p_limit: 1 to 100',
      'Claim again for more.',
      '`claim_alert_notifications`, which only the function `logloom-notify` calls.'),
    ('notifications.outcome_is_unknown', 400, 'Invalid p_outcome: one of delivered, retry, failed',
      'retry is tried again later, failed is not.',
      '`settle_alert_notification`, which only the function `logloom-notify` calls.'),
    ('notifications.no_room_for_address', 400,
      'Plan limit exceeded: notification addresses (max %s)',
      'Remove a confirmed address from all alert rules, or choose a larger plan.',
      '`confirm_alert_address`: the plan''s `max_notification_addresses`, half for customers. '
        'Addresses that no rule uses do not count.'),
    ('notifications.code_is_malformed', 400, 'Invalid p_code: six digits',
      'Send the code from the email, as a text.', null),
    ('notifications.no_code_is_good', 400, 'There is no valid code for this address',
      'test_alert_rule mails a new code to the address of a rule.',
      'No code was mailed to it, or the code expired: `test_alert_rule` mails a new one.'),
    ('notifications.code_was_tried_too_often', 400, 'The code was tried too often',
      'test_alert_rule mails a new code to the address of the rule.',
      'Five wrong attempts: `test_alert_rule` mails a new code.'),
    ('notifications.code_is_wrong', 400, 'The code is wrong',
      'Only the last code that was mailed is valid, for five attempts.', null),
    ('notifications.code_is_not_mailed_twice', 400, 'A code is not mailed twice',
      'test_alert_rule mails a new code.',
      '`retry_alert_delivery`: `test_alert_rule` mails a new code.'),
    ('notifications.address_is_not_confirmed', 400, 'The address is not confirmed',
      'Confirm it with the code that was mailed to it; test_alert_rule mails a new code.', null),
    ('notifications.no_room_for_test', 429, 'The plan allows %s tests an hour by %s',
      'Wait, or choose a larger plan.',
      '`test_alert_rule`: the plan''s `emails_per_hour`, `webhooks_per_hour`.');
end;
$$;
