-- Returns a query warning if ingest rules sampled events of p_range, otherwise []. Rules are
-- counted by the hour of receipt. Events that come more than an hour late are not noticed.
create function logloom_private.sampling_warnings(p_tenant_id text, p_range tstzrange)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  perform
  from logloom.ingest_rule_hours h
  where h.tenant_id = p_tenant_id and h.sampled > 0
    and h.hour > lower(p_range) - interval '1 hour' and h.hour < upper(p_range) + interval '1 hour'
  limit 1;
  return case
    when found then jsonb_build_array(jsonb_build_object(
      'position', null,
      'message', '≈ ingest rules sampled events in this range: to estimate all events, count() by '
        '@sample_rate and divide each count by its rate',
      'suggestion', ''
    ))
    else '[]'
  end;
end;
$$;
