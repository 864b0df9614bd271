-- Portal sessions.
create function logloom_private.portal_errors()
returns setof logloom_private.error
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query values
    ('portal.no_room', 400, 'Plan limit exceeded: portal sessions (max %s)',
      'Revoke a session that is no longer needed, create shorter ones, or choose a larger plan.',
      'The plan''s `max_portal_sessions`: only active sessions count.'),
    ('portal.lifetime_is_out_of_range', 400, 'Invalid p_expires_in: 60 to %s seconds',
      'Create another session when this one ends; the portal page asks for it by itself.', null),
    ('portal.label_is_too_long', 400, 'Invalid p_label: at most 200 characters',
      'Only list_log_portal_sessions shows it.', null),
    ('portal.origin_is_invalid', 400,
      'Invalid p_origins: at most 20 origins such as https://app.example.com',
      'Scheme, host and port, without a path. http is only for localhost.', null),
    ('portal.url_is_not_set', 400, 'p_link needs the address of the portal''s page',
      'Set portal_url in logloom_private.settings, such as https://logs.example.com/portal.html.',
      null),
    ('portal.session_not_found', 404, 'Portal session not found',
      'list_log_portal_sessions shows the sessions of this tenant.', null),
    ('portal.too_many_requests', 429, 'Rate limit exceeded: %s portal requests per minute',
      'Wait as long as Retry-After says.', 'The plan''s `portal_requests_per_minute`.');
end;
$$;
