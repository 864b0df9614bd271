create function logloom_private.reading_errors()
returns setof logloom_private.error
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query values
    ('reading.operation_is_unknown', 404, 'No such reading operation: %s',
      'Call POST /v1/search_logs, log_stats, tail_logs and so on.', null),
    ('reading.parameters_are_no_object', 400, 'Invalid parameters: send a JSON object',
      'Send {} if there are none.', null),
    ('reading.parameter_is_unknown', 400, 'Unknown parameter: %s', 'The operation takes %2$s.',
      null),
    ('reading.parameter_is_invalid', 400, 'Invalid %s: not of the type %s', null, null);
end;
$$;
