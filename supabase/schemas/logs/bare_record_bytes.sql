-- Bytes of a record's JSON text without the values of its event: names, quotes of texts, commas,
-- and what all events of a batch share.
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
