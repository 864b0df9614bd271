-- Parameters that many operations take.
create function logloom_private.parameters_errors()
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
    ('parameters.missing', 400, 'Missing required parameter: %s', 'Send %s in the JSON body.',
      'A required parameter is left out or null.'),
    ('parameters.list_limit_is_out_of_range', 400, 'Invalid p_limit: 1 to %s',
      'Page with p_after for more.', 'A page has 1 to 1000 items.'),
    ('parameters.no_such_place', 400, 'Invalid p_after: no such %s',
      'Send the %2$s of the last item of the page before.',
      'The list has no such item: `p_after` is the id of the last item of the page before.'),
    ('parameters.not_a_time', 400, 'Invalid %s: not a time',
      'Send ISO 8601, such as 2026-11-21T10:00:00Z, or now, now-15m, now-24h (s, m, h, d or w; '
        'at most 100 years).',
      '`p_ts_from` or `p_ts_to` is neither ISO 8601 nor `now-24h` or the like.'),
    ('parameters.secrets_are_invalid', 400,
      'Invalid p_secrets: an object of names and sealed texts',
      'Send {"name": "lls1...."} with what POST /functions/v1/logloom-stream/v1/seal answers for a '
        'log stream, logloom-notify/v1/seal for an alert rule, or null to take one away.', null),
    ('parameters.secret_is_unknown', 400, 'Invalid p_secrets: no secret is called %s here',
      'Allowed: %2$s.',
      'The receiver of this kind has no use for it, or it is a header that each batch has.'),
    ('parameters.secret_is_not_sealed', 400, 'Invalid p_secrets: %s is not sealed',
      'Seal it by POST /functions/v1/logloom-stream/v1/seal for a log stream, '
        'logloom-notify/v1/seal for an alert rule. If what you sent was the secret itself, '
        'replace it: logs of the database may hold it now.',
      'The database takes no secret in plain text.')
  ) e (name, status, message, hint, explanation);
end;
$$;
