create function logloom_private.ingest_errors()
returns setof logloom_private.error
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query values
    ('ingest.idempotency_key_has_another_body', 409, 'Idempotency-Key was used with another body',
      'Send a new key with a new body; repeat a key only with the same body.',
      'For 24 hours a key stands for one request with one body.'),
    ('ingest.monthly_events_are_used_up', 429, 'Monthly event limit reached: %s events',
      'The limit is the plan''s. The count starts again next month (UTC).', null),
    ('ingest.monthly_bytes_are_used_up', 429, 'Monthly byte limit reached: %s bytes',
      'The limit is the plan''s. The count starts again next month (UTC).', null),
    ('ingest.too_many_events', 429, 'Rate limit reached: %s events per second',
      'The rate is the plan''s. Retry-After says when the next request can be accepted.', null),
    ('ingest.too_many_requests', 429, 'Rate limit reached: %s requests per second',
      'The rate is the plan''s. Retry-After says when the next request can be accepted.', null),
    ('ingest.tenant_is_not_known', 404, 'There is no tenant %s',
      'Create it with add_tenant_member or create_api_key, or turn on provision_by_secret_key in '
        'logloom_private.settings.',
      'A request with the project''s secret key names a tenant that does not exist or is being '
        'deleted.'),
    ('ingest.queue_is_full', 503, 'The queue is full, try again',
      'The writer is behind: the endpoint health/queue shows how far.', null),
    ('ingest.storage_is_full', 503, 'Storage is full, try again later',
      'An operator can raise max_storage_bytes in logloom_private.settings; the endpoint '
        'health/detailed shows how much is stored.', null),
    ('ingest.request_is_too_large', 413, 'Batch too large (max %s events, %s bytes)',
      'Send it in parts, as the function ingest does.', null),
    ('ingest.record_is_too_long', 413, 'A record is longer than %s bytes',
      'Shorten its longest values, as the function ingest does. The limit is max_record_bytes in '
        'logloom_private.settings.', null),
    ('ingest.record_has_too_many_values', 413, 'A record has more than %s values',
      'Shorten its largest arrays and objects, as the function ingest does. The limit is '
        'max_record_values in logloom_private.settings.', null);
end;
$$;
