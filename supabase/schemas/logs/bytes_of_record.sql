-- Returns the bytes that a record's JSON text adds to its event's values: names, quotes, commas,
-- id, and values of the batch.
create function logloom_private.bare_record_bytes(p_tenant_id text, p_received_at timestamptz)
returns integer
language sql
stable
return octet_length(
  '{"id":"00000000-0000-0000-0000-000000000000","tenant_id":,"ts":,"received_at":}'
  -- fields text: || ',"{name}":""'
  || ',"level":""'
  || ',"msg":""'
  || ',"service":""'
  || ',"env":""'
  || ',"req_id":""'
  || ',"user_id":""'
  || ',"route":""'
  || ',"host":""'
  -- fields end
  || ',"attrs":'
) + octet_length(to_json(p_tenant_id)::text) + octet_length(to_json(p_received_at)::text);

-- Returns the bytes of a record's JSON text, as measured when it was accepted. A record without
-- this measurement is measured now. All its fields must have been read.
create function logloom_private.bytes_of_record(p_log logloom.logs)
returns integer
language sql
stable
parallel safe
return coalesce(
  p_log.record_bytes,
  logloom_private.bare_record_bytes(p_log.tenant_id, p_log.received_at)
    + octet_length(to_json(p_log.ts)::text)
    -- In JSON, null has 4 bytes, like two characters in quotes.
    + octet_length(
      to_json(concat(
        -- fields text joined: coalesce(p_log.{name}, '--')
        coalesce(p_log.level, '--'), coalesce(p_log.msg, '--'), coalesce(p_log.service, '--'),
        coalesce(p_log.env, '--'), coalesce(p_log.req_id, '--'), coalesce(p_log.user_id, '--'),
        coalesce(p_log.route, '--'), coalesce(p_log.host, '--')
        -- fields end
      ))::text
    ) - 2
    + octet_length(coalesce(p_log.attrs, 'null')::text)
);
