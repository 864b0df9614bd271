create function logloom_private.callers_errors()
returns setof logloom_private.error
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query values
    ('callers.authorization_is_missing', 400, 'Missing authorization header',
      'Send Authorization: Bearer <access token>.', null),
    ('callers.not_known', 401, 'Invalid token, API key, or missing tenant_id', null,
      'The token is not valid, or its tenant is being deleted.'),
    ('callers.key_is_unknown', 401, 'Invalid token, API key, or missing tenant_id',
      'There is no such API key or ingest token in this project.', null),
    ('callers.key_is_revoked', 401, 'Invalid token, API key, or missing tenant_id',
      'The API key was revoked: create_api_key makes another.', null),
    ('callers.key_is_expired', 401, 'Invalid token, API key, or missing tenant_id',
      'The API key has expired: create_api_key makes another.', null),
    ('callers.signature_is_wrong', 401, 'Invalid token, API key, or missing tenant_id',
      'The signature does not fit: key_id in the address names the key, and the secret of the '
        'webhook is the hex SHA-256 of that key.', null),
    ('callers.ingest_token_is_expired', 401, 'Invalid token, API key, or missing tenant_id',
      'The ingest token has expired: create_ingest_token makes another.', null),
    ('callers.ingest_token_is_revoked', 401, 'Invalid token, API key, or missing tenant_id',
      'The user who created the ingest token may no longer send, or has signed out.', null),
    ('callers.not_signed_in', 401, 'Invalid token, API key, or missing tenant_id',
      'Sign in: the token needs role authenticated and a top-level tenant_id claim.',
      'The token is for `anon`, or has no valid `tenant_id`.'),
    ('callers.tenant_is_missing', 401, 'Invalid token, API key, or missing tenant_id',
      'The token needs a top-level tenant_id claim that is a non-blank string.', null),
    ('callers.user_is_missing', 401, 'Invalid token, API key, or missing tenant_id',
      'The token needs the claim sub, which names the user.', null),
    ('callers.tenant_is_another', 403, 'p_tenant_id is not the tenant of the token',
      'Leave p_tenant_id out, or use the secret key: a token has one tenant.', null),
    ('callers.operation_is_internal', 403, '%s is only for service_role',
      'Logloom''s edge functions call it with the project''s secret key.', null),
    ('callers.client_may_only_read', 403, 'The OAuth client of this token may only read',
      'It may call the operations that read logs, such as search_logs. To allow the others, add '
        'its client_id to logloom_private.settings.writing_clients.',
      '`settings.writing_clients` does not list the token''s claim `client_id` '
        '([identity.md](../background/identity.md#oauth-clients)).'),
    ('callers.viewer_may_only_read', 403, 'A viewer may only read',
      'A viewer may call the operations that read logs, such as search_logs. Ask an owner of the '
        'tenant for another role.', 'The caller''s role is `viewer`.'),
    ('callers.view_is_missing', 403, 'The view of this reader does not exist',
      'An owner or admin chooses one of the views that list_log_views shows.',
      'The token has the role `viewer` but names no view of the tenant '
        '(`app_metadata.logloom_view`), or the view was deleted.'),
    ('callers.view_is_broken', 403, 'The query of the view %s is no longer valid',
      'An owner or admin corrects it with update_log_view.',
      'Another version stored the query, and it no longer compiles.'),
    ('callers.key_may_only_read', 403, 'This API key may only read',
      'create_api_key makes one that sends: p_scopes ["ingest"].', null),
    ('callers.portal_session_is_revoked', 401, 'Invalid token, API key, or missing tenant_id',
      'The portal session was revoked.', null),
    ('callers.portal_session_is_over', 401, 'Invalid token, API key, or missing tenant_id',
      'The portal session has ended: create_log_portal_session makes another.', null),
    ('callers.portal_code_is_spent', 401, 'This link has been used, or is too old',
      'A link works once, within ten minutes. Ask for another one.', null),
    ('callers.portal_origin_is_unknown', 403, 'This session is not for pages of %s',
      'p_origins of create_log_portal_session lists the origins that may use a session.', null),
    ('callers.portal_query_is_broken', 403, 'The query of this session is no longer valid',
      'Create another session with create_log_portal_session.', null),
    ('callers.key_may_only_send', 403, 'This API key may only send',
      'create_api_key makes one that reads: p_scopes ["read"].', null),
    ('callers.operation_is_outside', 403, 'This caller may not call %s',
      'Its view or session allows only other operations.', null),
    ('callers.method_is_not_allowed', 405, 'Method %s is not allowed here',
      'Call operations by POST, with a JSON object of parameters.', null),
    ('callers.tenant_must_be_named', 400, 'Missing required parameter: p_tenant_id',
      'service_role belongs to no tenant: send p_tenant_id, if the operation takes it.',
      '`service_role` belongs to no tenant. It cannot call operations without `p_tenant_id`.'),
    ('callers.tenant_is_invalid', 400, 'Invalid p_tenant_id: 1 to 255 characters, not all blank',
      null, 'It cannot be the id of a tenant.'),
    ('callers.project_is_another', 409,
      'This database belongs to the project %s, so functions of %s get no work from it',
      'If it is a copy: see A copy of the database in docs/guides/operations.md.',
      'The functions that send or archive asked a copy of the database for work. It gives none '
        'until you call [`begin_anew()`](../guides/operations.md#a-copy-of-the-database).'),
    ('callers.role_is_missing', 403, 'This requires the role %s',
      'Ask an owner of the tenant; list_tenant_members says who that is.',
      'The caller''s role in the tenant is too low ([identity.md](../background/identity.md)).');
end;
$$;
