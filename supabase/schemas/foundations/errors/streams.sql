create function logloom_private.streams_errors()
returns setof logloom_private.error
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query values
    ('streams.name_is_invalid', 400, 'Invalid p_name: 1 to 100 characters after trimming',
      'Name the stream after its destination.', null),
    ('streams.kind_is_unknown', 400, 'Invalid p_kind',
      'One of webhook, otlp, loki, elasticsearch, splunk_hec, datadog and s3.', null),
    ('streams.source_is_unknown', 400, 'Invalid p_source: logs or audit',
      'Leave it out for logs.', null),
    ('streams.query_has_stages', 400, 'A log stream takes a query without stages',
      'Remove the first bar and all that follows it.', null),
    ('streams.config_is_no_object', 400, 'Invalid p_config: not an object',
      'Send {"url": "https://..."}; docs/guides/streams.md says what each kind takes.', null),
    ('streams.config_is_incomplete', 400, 'Invalid p_config: %s is missing',
      'A stream of the kind %2$s needs it.', null),
    ('streams.config_is_unknown', 400, 'Invalid p_config: unknown member %s',
      'A stream of the kind %2$s takes %3$s. Secrets go into p_secrets.', null),
    ('streams.config_is_invalid', 400, 'Invalid p_config: %s',
      'Addresses are https, without user and password; see docs/guides/streams.md. Secrets go '
        'into p_secrets.', 'The member is malformed, or contains a key of Logloom.'),
    ('streams.address_needs_secrets', 400, 'Invalid p_secrets: missing: %s',
      'The scheme, host or port has changed. Send every secret again, sealed; null removes one.',
      '`update_log_stream` with another address. The stored secrets were meant for the old one.'),
    ('streams.leads_to_itself', 400, 'The log stream would send to its own tenant',
      'Use a key of another tenant.', 'A secret is an API key of the tenant itself.'),
    ('streams.no_room', 400, 'Plan limit exceeded: log streams (max %s)',
      'Delete a stream that is no longer needed, or choose a larger plan.',
      'The plan''s `max_log_streams`.'),
    ('streams.outcome_is_unknown', 400, 'Invalid p_outcome', 'One of delivered, retry and refused.',
      null),
    ('streams.not_found', 404, 'Log stream not found',
      'list_log_streams shows the streams of this tenant.', null),
    ('streams.name_is_taken', 409, 'The tenant has another log stream of this name',
      'Choose another name, or change that stream by update_log_stream.', null),
    ('streams.tested_just_now', 429, 'The log stream was tested just now',
      'Wait %s seconds between two tests.', 'One test in 10 seconds.');
end;
$$;
