-- The elements whose place in the second array is true; null where none is left.
create function logloom_private.kept_values(p_values anyarray, p_is_kept boolean[])
returns anyarray
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_values is null then
    return null;
  end if;
  return (
    select array_agg(e.value order by e.i)
    from unnest(p_values, p_is_kept) with ordinality e (value, is_kept, i)
    where e.is_kept
  );
end;
$$;

-- The request without the events whose ts is given and out of range, or whose service is another
-- than the sender may send for: counted in p_rejected and, of the first 100, listed in p_errors by
-- their index in what was sent.
create function logloom_private.reject_events(
  p_request logloom_private.ingest_request,
  p_state logloom_private.ingest_state
)
returns logloom_private.ingest_request
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_is_kept constant boolean[] := array(
    select (e.ts between p_state.keeps_from and p_state.takes_to) is not false
      and (e.service = p_state.service) is not false
    from unnest(p_request.p_ts, p_request.p_service) with ordinality e (ts, service, i)
    order by e.i
  );
begin
  p_request.p_errors := (
    select json_agg(u.error)
    from (
      select j.error, (j.error ->> 'index')::integer as index
      from json_array_elements(coalesce(p_request.p_errors, '[]')) j (error)
      union all
      select
        json_build_object(
          'index', o.index,
          'code', case
            when o.is_of_another then 'service_is_another' else 'ts_out_of_range'
          end,
          'message', case
            when o.is_of_another then format(
              'The token sends for the service %s alone', p_state.service
            )
            when o.ts > p_state.takes_to then format(
              'ts lies more than %s h ahead',
              (
                select (extract(epoch from s.ingest_future_limit) / 3600)::real
                from logloom_private.settings s
              )
            )
            else format(
              'ts is older than what is kept: %s days',
              logloom_private.retention_days(p_state.tenant_id)
            )
          end
        ),
        o.index
      from (
        select
          e.ts, (e.service <> p_state.service) is true as is_of_another,
          coalesce(p_request.p_positions[e.i], e.i - 1)::integer as index
        from unnest(p_request.p_ts, p_request.p_service, v_is_kept)
          with ordinality e (ts, service, is_kept, i)
        where not e.is_kept
      ) o
      order by index
      limit 100
    ) u
  );
  p_request.p_rejected := coalesce(p_request.p_rejected, 0)
    + cardinality(array_positions(v_is_kept, false));
  -- fields sent: p_request.p_{name} := logloom_private.kept_values(p_request.p_{name}, v_is_kept);
  p_request.p_ts := logloom_private.kept_values(p_request.p_ts, v_is_kept);
  p_request.p_level := logloom_private.kept_values(p_request.p_level, v_is_kept);
  p_request.p_msg := logloom_private.kept_values(p_request.p_msg, v_is_kept);
  p_request.p_service := logloom_private.kept_values(p_request.p_service, v_is_kept);
  p_request.p_env := logloom_private.kept_values(p_request.p_env, v_is_kept);
  p_request.p_req_id := logloom_private.kept_values(p_request.p_req_id, v_is_kept);
  p_request.p_user_id := logloom_private.kept_values(p_request.p_user_id, v_is_kept);
  p_request.p_route := logloom_private.kept_values(p_request.p_route, v_is_kept);
  p_request.p_host := logloom_private.kept_values(p_request.p_host, v_is_kept);
  p_request.p_attrs := logloom_private.kept_values(p_request.p_attrs, v_is_kept);
  -- fields end
  return p_request;
end;
$$;
