-- Bytes of a record's JSON text: what was measured when it was accepted, and for one of before that
-- was done, measured now, for which it has to be whole.
create function logloom_private.bytes_of_record(p_log logloom.logs)
returns integer
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_texts constant text[] := array[
    -- fields text joined: p_log.{name}
    p_log.level, p_log.msg, p_log.service, p_log.env, p_log.req_id, p_log.user_id, p_log.route,
    p_log.host
    -- fields end
  ];
begin
  -- As JSON an array has a bracket or comma for each of its texts, and one bracket more.
  return coalesce(
    p_log.record_bytes,
    logloom_private.bare_record_bytes(p_log.tenant_id, p_log.received_at)
      + octet_length(to_json(p_log.ts)::text)
      + octet_length(array_to_json(v_texts)::text) - cardinality(v_texts) - 1
      + coalesce(octet_length(p_log.attrs::text), 4)
  );
end;
$$;
