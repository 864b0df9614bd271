create function logloom_private.audit_errors()
returns setof logloom_private.error
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query values
    ('audit.action_is_invalid', 400, 'Invalid action: 1 to 200 characters, no control characters',
      'Name what happened, such as invoice.approved.', null),
    ('audit.targets_are_invalid', 400,
      'Invalid targets: objects with an id of 1 to 255 characters, at most 8000 bytes',
      'Such as [{"type": "invoice", "id": "42"}].', null),
    ('audit.context_is_invalid', 400, 'Invalid context: a JSON object of at most 16000 bytes',
      'Such as {"ip": "192.0.2.7"}.', null),
    ('audit.actor_is_invalid', 400, 'Invalid p_actor: an id, and only from service_role',
      'Leave it out: the user of the token is the actor.', null),
    ('audit.day_is_full', 429, 'Plan limit exceeded: audit events (max %s per day)',
      'Retry-After says when the next UTC day begins.', 'The plan''s `audit_events_per_day`.'),
    ('audit.source_is_unknown', 400, 'Invalid p_source: app or logloom',
      'Leave it out for the events of both.', null),
    ('audit.days_are_invalid', 400, 'Invalid p_day_from or p_day_to: in order, at most 366 days',
      'Verify longer ranges in parts.', null),
    ('audit.table_is_invalid', 400, 'Invalid p_table: a table',
      'Views have no changes of their own.', null),
    ('audit.column_is_unknown', 400, '%s has no column %s', 'Names are case-sensitive.', null),
    ('audit.not_in_views', 403, 'The audit trail is not in views or portal sessions',
      'Read it as a member, with an API key (scope audit, no view), or in a portal session (part '
        'audit).', null),
    ('audit.key_lacks_scope', 403, 'This API key does not read the audit trail',
      'create_api_key makes one that does: p_scopes ["audit"].', null),
    ('audit.key_lacks_read', 403, 'This API key only reads the audit trail',
      'create_api_key makes one that reads logs: p_scopes ["read"].', null);
end;
$$;
