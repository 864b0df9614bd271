-- Of each event how many bytes the JSON text of its record will have, the most of them, and between
-- which times they happened: p_received_at where they do not say it.
create function logloom_private.measured_events(
  p_tenant_id text,
  p_received_at timestamptz,
  p_request logloom_private.ingest_request,
  out record_bytes integer[],
  out longest integer,
  out ts_min timestamptz,
  out ts_max timestamptz
)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
set datestyle = 'ISO'
as $$
declare
  v_bare constant integer := logloom_private.bare_record_bytes(p_tenant_id, p_received_at);
begin
  -- In one pass over the events. As JSON a time has two quotes more than as a text, and the zone's
  -- minutes; the texts as one have two quotes, and each of them its own, or is null.
  select array_agg(m.bytes), max(m.bytes), min(m.ts), max(m.ts)
  into record_bytes, longest, ts_min, ts_max
  from (
    select
      t.ts,
      v_bare + octet_length(t.ts::text) + 5
        + octet_length(
          to_json(concat(
            -- fields text joined: t.{name}
            t.level, t.msg, t.service, t.env, t.req_id, t.user_id, t.route, t.host
            -- fields end
          ))::text
        ) - 2 + 2 * num_nonnulls(
          -- fields text joined: t.{name}
          t.level, t.msg, t.service, t.env, t.req_id, t.user_id, t.route, t.host
          -- fields end
        ) + 4 * num_nulls(
          -- fields text joined: t.{name}
          t.level, t.msg, t.service, t.env, t.req_id, t.user_id, t.route, t.host
          -- fields end
        )
        + coalesce(octet_length(t.attrs::text), 4) as bytes
    from (
      select
        coalesce(e.ts, p_received_at) as ts,
        -- fields sent but ts joined: e.{name}
        e.level, e.msg, e.service, e.env, e.req_id, e.user_id, e.route, e.host, e.attrs
        -- fields end
      from (
        select
          -- fields sent joined: unnest(p_request.p_{name}) as {name}
          unnest(p_request.p_ts) as ts, unnest(p_request.p_level) as level,
          unnest(p_request.p_msg) as msg, unnest(p_request.p_service) as service,
          unnest(p_request.p_env) as env, unnest(p_request.p_req_id) as req_id,
          unnest(p_request.p_user_id) as user_id, unnest(p_request.p_route) as route,
          unnest(p_request.p_host) as host, unnest(p_request.p_attrs) as attrs
          -- fields end
      ) e
    ) t
    -- Made once an event, not once for each of what is asked of it.
    offset 0
  ) m;
end;
$$;
