-- Returns the values for which p_is_kept is true. Null if none is left.
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

-- Turns guessed times that are out of range back into attributes. Their events get the time of
-- receipt, so a second request with the same body may be new events. Therefore an idempotency key
-- made from the body is removed. A key from the sender stays.
create function logloom_private.without_wrong_guesses(
  p_request logloom_private.ingest_request,
  p_state logloom_private.ingest_state
)
returns logloom_private.ingest_request
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_is_wrong boolean;
begin
  select
    array_agg(case when g.member is null then e.ts end order by e.i),
    array_agg(
      case when g.member is null then e.attrs else g.member || coalesce(e.attrs, '{}') end
      order by e.i
    ),
    bool_or(g.member is not null)
  into p_request.p_ts, p_request.p_attrs, v_is_wrong
  from unnest(p_request.p_ts, p_request.p_attrs) with ordinality e (ts, attrs, i)
  left join jsonb_each(p_request.p_guessed) g (place, member)
    on g.place::bigint = e.i and e.ts not between p_state.keeps_from and p_state.takes_to;
  if v_is_wrong and p_request.p_idempotency_key = 'sha256:' || p_request.p_body_digest then
    p_request.p_idempotency_key := null;
  end if;
  return p_request;
end;
$$;

-- Whether an event is a span or an event of a span: max_span_share limits both.
create function logloom_private.is_of_span(p_attrs jsonb)
returns boolean
language sql
immutable
return coalesce(p_attrs ->> 'kind' in ('span', 'span_event'), false);

-- Removes events whose ts is out of range, events of a service that the sender may not send for,
-- and spans above max_span_share. Counts them in p_rejected, and lists them in p_errors by index:
-- the first 100, or all if p_all_errors.
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
  -- Made once: a request may have thousands of events.
  v_of_another constant text :=
    format('The token may only send for the service %s', p_state.service);
  v_ahead constant text := (
    select format(
      'ts is more than %s h ahead', (extract(epoch from s.ingest_future_limit) / 3600)::real
    )
    from logloom_private.settings s
  );
  v_old constant text := format(
    'ts is older than the retention of %s days', logloom_private.longest_days(p_state.tenant_id)
  );
  v_share constant text := format(
    'Plan limit exceeded: spans are %s %% of the month''s events',
    round((100 * (p_state.plan).max_span_share)::numeric)
  );
  v_is_kept boolean[];
begin
  if p_request.p_guessed is not null then
    p_request := logloom_private.without_wrong_guesses(p_request, p_state);
  end if;
  v_is_kept := array(
    select e.is_allowed and (
      not e.is_of_span
      or count(*) filter (where e.is_allowed and e.is_of_span) over (order by e.i)
        <= p_state.spans_left
    ) is not false
    from (
      select
        u.i, logloom_private.is_of_span(u.attrs) as is_of_span,
        (u.ts between p_state.keeps_from and p_state.takes_to) is not false
        and (u.service = p_state.service) is not false as is_allowed
      from unnest(p_request.p_ts, p_request.p_service, p_request.p_attrs)
        with ordinality u (ts, service, attrs, i)
    ) e
    order by e.i
  );
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
            when o.is_of_another then 'service_is_another'
            when o.is_in_range then 'span_limit_reached'
            else 'ts_out_of_range'
          end,
          'message', case
            when o.is_of_another then v_of_another
            when o.is_in_range then v_share
            when o.ts > p_state.takes_to then v_ahead
            else v_old
          end
        ),
        o.index
      from (
        select
          e.ts, (e.service <> p_state.service) is true as is_of_another,
          (e.ts between p_state.keeps_from and p_state.takes_to) is not false as is_in_range,
          coalesce(p_request.p_positions[e.i], e.i - 1)::integer as index
        from unnest(p_request.p_ts, p_request.p_service, v_is_kept)
          with ordinality e (ts, service, is_kept, i)
        where not e.is_kept
      ) o
      order by index
      limit case when p_request.p_all_errors then null else 100 end
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
