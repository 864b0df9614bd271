-- Returns an audit event's place: the position of a stream of the source audit that sends it. A
-- stream sends the events of a day, then the day's digest, which has position 0 of the next day.
create function logloom_private.audit_place(p_day date, p_position bigint)
returns bigint
language sql
immutable
return (p_day - '1970-01-01'::date) * 1000000000::bigint + p_position;

-- Returns the last position that a stream can send now. Events of later days wait until the oldest
-- open day is closed, so that its digest is sent before them.
create function logloom_private.stream_end(p_stream logloom.log_streams)
returns bigint
language plpgsql
stable
set search_path = pg_catalog, pg_temp
-- Planning takes longer than reading the one or two days of an idle stream.
set plan_cache_mode = 'force_generic_plan'
as $$
begin
  if p_stream.source = 'logs' then
    return logloom_private.last_write_seq();
  end if;
  return (
    select coalesce(
      min(logloom_private.audit_place(d.day, d.events)) filter (where d.closed_at is null),
      max(logloom_private.audit_place(d.day + 1, 0)), 0
    )
    from logloom.audit_digests d
    where d.tenant_id = p_stream.tenant_id
      -- The first digest that the stream may lack is the one of the day before its position.
      and d.day >= '1970-01-01'::date - 1
        + (coalesce(p_stream.position_seq, 0) / 1000000000)::integer
  );
end;
$$;

-- Reads the records after a stream's position: those of its current batch again, or a new batch.
-- Goes on until the query finds something, however rare it is.
create function logloom_private.cut_audit_batch(
  p_stream logloom.log_streams,
  p_query logloom_private.compiled_query
)
returns logloom_private.stream_batch
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set jit = off
as $$
declare
  v_deadline constant timestamptz := clock_timestamp() + (
    select s.search_page_time from logloom_private.settings s
  );
  v_is_again constant boolean := p_stream.batch_id is not null;
  v_last constant bigint := case when v_is_again then p_stream.batch_end_seq
    else logloom_private.stream_end(p_stream) end;
  v_first bigint := p_stream.position_seq;
  v_epoch constant date := '1970-01-01';
  v_read jsonb;
  v_found public.logloom_log_record[];
  v_batch logloom_private.stream_batch;
begin
  v_batch.records := '{}';
  while v_first <= v_last
    and (v_is_again or v_batch.records = '{}' and clock_timestamp() < v_deadline)
  loop
    with records as (
      (
        select logloom_private.audit_place(e.day, e.position) as place, e.event_id as id,
          e.occurred_at as ts, e.action as msg, jsonb_strip_nulls(jsonb_build_object(
            'kind', 'audit_event', 'actor', e.actor, 'client_id', e.client_id, 'day', e.day,
            'position', e.position, 'digest', encode(e.digest, 'hex'),
            'link', encode(e.link, 'hex'), 'erased_at', e.erased_at
          )) || jsonb_build_object('targets', e.targets, 'context', e.details) as attrs
        from logloom.audit_events e
        where e.tenant_id = p_stream.tenant_id and e.position is not null
          and (e.day, e.position)
            >= (v_epoch + (v_first / 1000000000)::integer, v_first % 1000000000)
          and (e.day, e.position)
            <= (v_epoch + (v_last / 1000000000)::integer, v_last % 1000000000)
        order by e.day, e.position
        limit p_stream.batch_limit
      )
      union all
      -- The id is the same in every attempt, so that receivers can drop a repeated record.
      select logloom_private.audit_place(d.day + 1, 0), md5(d.tenant_id || ' ' || d.day)::uuid,
        d.closed_at, format('Audit trail of %s: %s events', d.day, d.events),
        logloom_private.audit_digest_attrs(d)
      from logloom.audit_digests d
      where d.tenant_id = p_stream.tenant_id and d.closed_at is not null
        and logloom_private.audit_place(d.day + 1, 0) between v_first and v_last
      order by place
      limit p_stream.batch_limit
    ),
    sized as (
      select r.*, sum(octet_length(r.attrs::text) + 500) over (
        order by r.place rows between unbounded preceding and 1 preceding
      ) as bytes_before
      from records r
    )
    select
      max(s.place),
      jsonb_agg(to_jsonb(s) || '{"level": "info", "service": "audit"}' order by s.place)
    into v_batch.end_seq, v_read
    from sized s
    where coalesce(s.bytes_before, 0) < p_stream.batch_bytes;
    v_batch.end_seq := coalesce(v_batch.end_seq, v_last);
    execute 'select array(select l from jsonb_populate_recordset(null::public.logloom_log_record, '
      '$1) l where ' || p_query.filter || ')'
    into v_found
    using v_read;
    v_batch.records := v_batch.records || v_found;
    v_first := v_batch.end_seq + 1;
  end loop;
  return v_batch;
end;
$$;
