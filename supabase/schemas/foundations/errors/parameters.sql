-- Parameters that many operations have.
create function logloom_private.parameters_errors()
returns setof logloom_private.error
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query values
    ('parameters.missing', 400, 'Missing required parameter: %s',
      'It has no default: give %s a value.', null),
    ('parameters.audit_action_is_unknown', 400, 'Unknown p_action: %s', 'Send one of: %2$s.',
      null),
    ('parameters.list_limit_is_out_of_range', 400, 'Invalid p_limit: 1 to %s',
      'For more, send p_after.', 'A page has 1 to 1000 items.'),
    ('parameters.no_such_place', 400, 'Invalid p_after: no such %s',
      'Send the %2$s of the last item of the page before.',
      '`p_after` is not the id of an item of this list: send the id of the last item of the page '
        'before.'),
    ('parameters.not_a_time', 400, 'Invalid %s: not a time',
      'Send ISO 8601, such as 2026-11-21T10:00:00Z, or now, now-15m, now-24h (s, m, h, d or w; '
        'at most 100 years).',
      'The parameter is neither ISO 8601 nor a time such as `now-24h`.'),
    ('parameters.secrets_are_invalid', 400,
      'Invalid p_secrets: an object of names and sealed texts',
      'Send {"name": "lls1...."}. POST /functions/v1/logloom-stream/v1/seal seals the secrets of a '
        'log stream, logloom-notify/v1/seal those of an alert rule. null removes a secret.', null),
    ('parameters.secret_is_unknown', 400, 'Invalid p_secrets: there is no secret %s',
      'Allowed: %2$s.',
      'This kind of receiver does not use it, or it is a header that every batch sets.'),
    ('parameters.secret_is_not_sealed', 400, 'Invalid p_secrets: %s is not sealed',
      'Seal it with POST /functions/v1/logloom-stream/v1/seal for a log stream, '
        'logloom-notify/v1/seal for an alert rule. If you sent the secret itself, replace it: '
        'logs of the database may contain it now.',
      'The database accepts no secret in plain text.');
end;
$$;
