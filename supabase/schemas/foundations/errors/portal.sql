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
    ('portal.part_is_unknown', 400, 'Invalid p_parts: some of %s', 'Null means search and exports.',
      null),
    ('portal.customer_is_missing', 400, 'p_parts beyond search and exports need p_customer',
      'Send your own id of the customer: 1 to 255 characters, no control characters.', null),
    ('portal.customer_is_invalid', 400, 'Invalid p_customer: 1 to 255 characters, not all blank',
      'Send your own id of the customer, as create_log_portal_session got it.', null),
    ('portal.usage_is_of_tenant', 400,
      'The part usage counts the whole tenant: leave out p_view_id and p_query_dsl',
      'A session that shows only some records has the other parts.', null),
    ('portal.limits_are_invalid', 400,
      'Invalid p_limits: monthly_events, monthly_bytes, streams, rules: whole numbers 1 to 10^15',
      'The usage part shows the first two. The others limit what the customer makes.', null),
    ('portal.limit_is_reached', 400, 'Your limit is reached: %s (max %s)',
      'Delete one that is no longer needed.',
      'A customer has as many log streams or alert rules as `p_limits` of the session allows.'),
    ('portal.plan_is_full', 400, 'There is no room for another %s',
      'Your provider can make room for it.',
      'A customer''s log stream or alert rule counts against the plan of the tenant, too.'),
    ('portal.not_for_customers', 400, 'Portal sessions take no %s',
      'Leave it out: the session says which records are read.',
      'A customer sent a parameter that only users of the tenant may send.'),
    ('portal.thing_is_held', 403, 'Your provider has stopped this %s',
      'Only your provider can start it again.',
      'An admin disabled it, or it is paused because its maker is no longer an admin.'),
    ('portal.thing_is_of_customer', 403, 'This %s belongs to a customer',
      'You can enable, disable, test and delete it. Only the customer changes the rest.', null),
    ('portal.variables_are_invalid', 400,
      'Invalid p_variables: at most 20 names with texts of at most 200 characters',
      'A name has 1 to 60 of A-Z, a-z, 0-9 and _, as after $ in a panel''s query.', null),
    ('portal.session_not_found', 404, 'Portal session not found',
      'list_log_portal_sessions shows the sessions of this tenant.', null),
    ('portal.too_many_requests', 429, 'Rate limit exceeded: %s portal requests per minute',
      'Wait as long as Retry-After says.', 'The plan''s `portal_requests_per_minute`.');
end;
$$;
