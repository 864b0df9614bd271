-- Requests of senders.
create function logloom_private.ingest_errors()
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
    ('ingest.idempotency_key_has_another_body', 409, 'Idempotency-Key was used with another body',
      'Send a new key with a new body; repeat a key only with the same body.',
      'A key repeats a request, body and all, for 24 hours.'),
    ('ingest.monthly_events_are_used_up', 429, 'Monthly event limit reached: %s events',
      'The limit is the plan''s, and starts anew with the next month (UTC).',
      'The plan''s events of this UTC month are used up.'),
    ('ingest.monthly_bytes_are_used_up', 429, 'Monthly byte limit reached: %s bytes',
      'The limit is the plan''s, and starts anew with the next month (UTC).',
      'The plan''s bytes of this UTC month are used up.'),
    ('ingest.too_many_events', 429, 'Rate limit reached: %s events per second',
      'The rate is the plan''s. Retry-After says when the next request can be accepted.',
      'The plan allows no more for now.'),
    ('ingest.too_many_requests', 429, 'Rate limit reached: %s requests per second',
      'The rate is the plan''s. Retry-After says when the next request can be accepted.',
      'The plan allows no more for now.'),
    ('ingest.tenant_is_not_known', 404, 'There is no tenant %s',
      'Make it with add_tenant_member or create_api_key, or set provision_by_secret_key in '
        'logloom_private.settings.',
      'A request with the project''s secret key names a tenant that there is not, or that is being '
        'deleted.'),
    ('ingest.queue_is_full', 503, 'The queue is full, try again',
      'The writer is behind: the endpoint health/queue tells how far.',
      'The writer is far behind; `health/queue` says how far.'),
    ('ingest.storage_is_full', 503, 'Storage is full, try again later',
      'An operator can raise max_storage_bytes in logloom_private.settings; the endpoint '
        'health/detailed tells how much is stored.',
      'What is stored has reached `max_storage_bytes`; `health/detailed` says how far.'),
    ('ingest.request_is_too_large', 413, 'Batch too large (max %s events, %s bytes)',
      'Send it in parts. The function ingest does; the limits are in logloom_private.settings.',
      null),
    ('ingest.record_is_too_long', 413, 'A record is longer than %s bytes',
      'Cut what is longest in it. The function ingest does; the limit is in '
        'logloom_private.settings.',
      null),
    ('ingest.record_has_too_many_values', 413, 'A record has more than %s values',
      'Shorten its largest arrays and objects. The function ingest does; the limit is in '
        'logloom_private.settings.',
      null)
  ) e (name, status, message, hint, explanation);
end;
$$;
