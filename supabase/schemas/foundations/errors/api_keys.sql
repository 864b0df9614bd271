create function logloom_private.api_keys_errors()
returns setof logloom_private.error
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query values
    ('api_keys.no_room', 400, 'Plan limit exceeded: API keys (max %s)',
      'Revoke a key that is no longer needed, or choose a larger plan.',
      'The plan''s `max_api_keys`.'),
    ('api_keys.name_is_invalid', 400, 'Invalid API key name: 1 to 100 characters after trimming',
      'Name the key after the server that will use it.', null),
    ('api_keys.expires_in_the_past', 400, 'Invalid p_expires_at: it is in the past',
      'Send a later time, or leave it out for a key that does not expire.', null),
    ('api_keys.scope_is_unknown', 400, 'Invalid p_scopes: ingest, read, audit',
      'Without p_scopes a key gets ["ingest"].', null),
    ('api_keys.view_is_for_reading', 400, 'p_view_id is for API keys that only read',
      'A view limits what is read. Send p_scopes ["read"], and create another key for the rest.',
      'A view together with the scope `ingest` or `audit`.'),
    ('api_keys.overlap_is_out_of_range', 400, 'Invalid p_overlap_minutes: 0 to 10080',
      'Both keys work during the overlap; 10080 minutes are a week.', null),
    ('api_keys.not_active', 400, 'Invalid p_key_id: the API key is revoked or expired',
      'Create a new key.', null),
    ('api_keys.token_service_is_invalid', 400,
      'Invalid p_service: 1 to 200 characters after trimming',
      'The token can only send events of this service.', null),
    ('api_keys.token_lifetime_is_out_of_range', 400, 'Invalid p_expires_in: 1 to %s seconds',
      'Create another token when this one has expired.',
      '`create_ingest_token`: at most 900 seconds.'),
    ('api_keys.too_many_tokens', 429, 'Plan limit exceeded: ingest tokens (max %s)',
      'Retry-After says when the next one expires. One token can serve many pages.',
      'The plan''s `max_ingest_tokens`.'),
    ('api_keys.too_many_new_tokens', 429, 'Plan limit exceeded: ingest tokens (max %s per minute)',
      'Use a token until it expires. One token can serve many pages.',
      'The plan''s `ingest_tokens_per_minute`.'),
    ('api_keys.not_found', 404, 'API key not found', 'list_api_keys shows the keys of this tenant.',
      null);
end;
$$;
