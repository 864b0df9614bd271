-- Who is calling.
create function logloom_private.callers_errors()
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
    ('callers.authorization_is_missing', 400, 'Missing authorization header',
      'Send Authorization: Bearer <access token>.', 'There is no `Authorization` header.'),
    ('callers.not_known', 401, 'Invalid token, API key, or missing tenant_id', null,
      'The token cannot be used, or its tenant is being deleted.'),
    ('callers.key_is_unknown', 401, 'Invalid token, API key, or missing tenant_id',
      'No such API key or ingest token: perhaps it is one of another project.', null),
    ('callers.key_is_revoked', 401, 'Invalid token, API key, or missing tenant_id',
      'The API key was revoked: create_api_key makes another.', null),
    ('callers.key_is_expired', 401, 'Invalid token, API key, or missing tenant_id',
      'The API key has expired: rotate_api_key or create_api_key makes another.', null),
    ('callers.ingest_token_is_expired', 401, 'Invalid token, API key, or missing tenant_id',
      'The ingest token has expired: create_ingest_token makes another.', null),
    ('callers.ingest_token_is_revoked', 401, 'Invalid token, API key, or missing tenant_id',
      'Whoever made the ingest token may no longer send, or has signed out.', null),
    ('callers.not_signed_in', 401, 'Invalid token, API key, or missing tenant_id',
      'Sign in: the token needs role authenticated and a top-level tenant_id claim.',
      'The token is for `anon`, or has no usable `tenant_id`.'),
    ('callers.tenant_is_missing', 401, 'Invalid token, API key, or missing tenant_id',
      'The token needs a top-level tenant_id claim that is a non-blank string.', null),
    ('callers.user_is_missing', 401, 'Invalid token, API key, or missing tenant_id',
      'The token needs the claim sub, which names the user.', null),
    ('callers.tenant_is_another', 403, 'p_tenant_id is not the tenant of the token',
      'Leave p_tenant_id out: the tenant is taken from the token.',
      'A user names another tenant. Leave `p_tenant_id` out.'),
    ('callers.operation_is_internal', 403, '%s is only for service_role',
      'Logloom''s functions call it with the project''s secret key.',
      'Only the edge functions may call it.'),
    ('callers.client_may_only_read', 403, 'The client that this token was issued to may only read',
      'It has the operations that read logs, such as search_logs. For all others whoever runs the '
        'project lists its client_id in logloom_private.settings.writing_clients.',
      'The token was issued to an OAuth client (claim `client_id`) that is not listed '
        '([identity.md](../background/identity.md#oauth-clients)).'),
    ('callers.viewer_may_only_read', 403, 'A viewer may only read',
      'It has the operations that read logs, such as search_logs, within its view. For another '
        'role ask an owner of the tenant.',
      'The caller''s role is `viewer`.'),
    ('callers.view_is_missing', 403, 'What this reader is bound to is not there',
      'An owner or admin binds it to a view that list_log_views shows.',
      'The token names the role `viewer` and no view of the tenant (`app_metadata.logloom_view`).'),
    ('callers.view_is_broken', 403, 'The query of the view %s can no longer be read',
      'An owner or admin mends it by update_log_view.',
      'The view''s query was stored by another version and does not compile any more.'),
    ('callers.key_may_only_read', 403, 'This API key may only read',
      'create_api_key makes one that sends: p_scopes ["ingest"].', null),
    ('callers.portal_session_is_revoked', 401, 'Invalid token, API key, or missing tenant_id',
      'The portal session was revoked.', null),
    ('callers.portal_session_is_over', 401, 'Invalid token, API key, or missing tenant_id',
      'The portal session has ended: create_log_portal_session makes another.', null),
    ('callers.portal_code_is_spent', 401, 'This link has been used, or is too old',
      'A link is good for ten minutes and once: ask for another.', null),
    ('callers.portal_origin_is_unknown', 403, 'This session is not for pages of %s',
      'create_log_portal_session names the origins of its pages in p_origins.', null),
    ('callers.portal_query_is_broken', 403, 'The query of this session can no longer be read',
      'create_log_portal_session makes another session.', null),
    ('callers.key_may_only_send', 403, 'This API key may only send',
      'create_api_key makes one that reads: p_scopes ["read"].', null),
    ('callers.operation_is_outside', 403, '%s is not open to this caller',
      'What reads by it is limited to other operations.', null),
    ('callers.method_is_not_allowed', 405, 'Method %s is not allowed here',
      'Call operations by POST with a JSON object of parameters.',
      'An operation is called by another method than `POST`.'),
    ('callers.tenant_must_be_named', 400, 'Missing required parameter: p_tenant_id',
      'service_role belongs to no tenant: name one where the operation takes p_tenant_id.',
      '`service_role` belongs to no tenant and must name one; it cannot call operations without '
        '`p_tenant_id`.'),
    ('callers.tenant_is_invalid', 400, 'Invalid p_tenant_id: 1 to 255 characters, not all blank',
      null, 'It is not a valid tenant id.'),
    ('callers.project_is_another', 409,
      'This database is of the project %s and gives functions of %s no work',
      'If it is a copy: see A copy of the database in docs/guides/operations.md.',
      'What the functions that send and archive ask for. Until '
        '[`begin_anew()`](../guides/operations.md#a-copy-of-the-database) a copy sends nothing.'),
    ('callers.role_is_missing', 403, 'This requires the role %s',
      'Ask an owner of the tenant; list_tenant_members says who that is.',
      'The caller''s role in the tenant is too low: `member`, `admin`, `owner` '
        '([identity.md](../background/identity.md)).')
  ) e (name, status, message, hint, explanation);
end;
$$;
