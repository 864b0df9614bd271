-- Returns the digest of an event: SHA-256 of its salt and content. The content includes the place
-- in the chain, so no event can take the place of another.
create function logloom_private.audit_event_digest(p_event logloom.audit_events)
returns bytea
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return sha256(p_event.salt || convert_to(
    jsonb_build_array(
      p_event.tenant_id, p_event.day, p_event.position, p_event.event_id,
      extract(epoch from p_event.occurred_at), p_event.source, p_event.actor, p_event.client_id,
      p_event.action, p_event.subject, p_event.targets, p_event.details
    )::text,
    'UTF8'
  ));
end;
$$;

-- Applies the tenant's masks to the details of events. To a mask's condition, an event is a record
-- of the service audit: msg is the action, user_id the actor.
create function logloom_private.masked_details(p_tenant_id text, p_events logloom.audit_events[])
returns jsonb[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  return array(
    select m.attrs
    from unnest(logloom_private.masked_records(p_tenant_id, array(
      select row(
        e.occurred_at, null, e.action, 'audit', null, null, e.actor, null, null, e.details
      )::logloom_private.own_record
      from unnest(p_events) e
    ))) m
  );
end;
$$;

-- Masks at most p_limit waiting events of a tenant, the oldest first, and links them to today's
-- chain. Returns their number. The chain begins with the digest of the tenant's previous day. A
-- closed day gets no more events, even if the clock is set back.
create function logloom_private.link_events_of(p_tenant_id text, p_limit integer)
returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_day logloom.audit_digests;
  v_linked integer := 0;
  v_event logloom.audit_events;
  v_events logloom.audit_events[];
  v_details jsonb[];
begin
  select d.* into v_day
  from logloom.audit_digests d
  where d.tenant_id = p_tenant_id
  order by d.day desc
  limit 1;
  insert into logloom.audit_digests as d (tenant_id, day, digest, previous_digest)
  values (
    p_tenant_id,
    greatest(logloom_private.utc_day(now()), v_day.day + (v_day.closed_at is not null)::integer),
    coalesce(v_day.digest, ''), coalesce(v_day.digest, '')
  )
  on conflict (tenant_id, day) do update set events = d.events
  returning * into v_day;
  v_events := array(
    select e
    from logloom.audit_events e
    where e.tenant_id = p_tenant_id and e.source = 'app' and e.position is null
    order by e.occurred_at, e.event_id
    limit p_limit
    for no key update
  );
  v_details := logloom_private.masked_details(p_tenant_id, v_events);
  foreach v_event in array v_events loop
    v_linked := v_linked + 1;
    v_event.details := v_details[v_linked];
    v_event.day := v_day.day;
    v_event.position := v_day.events + v_linked;
    v_event.salt := uuid_send(gen_random_uuid());
    v_event.digest := logloom_private.audit_event_digest(v_event);
    v_day.digest := sha256(v_day.digest || v_event.digest);
    update logloom.audit_events e
    set day = v_event.day, position = v_event.position, details = v_event.details,
      salt = v_event.salt, digest = v_event.digest, link = v_day.digest
    where e.event_id = v_event.event_id;
  end loop;
  update logloom.audit_digests d
  set events = d.events + v_linked, digest = v_day.digest
  where d.tenant_id = v_day.tenant_id and d.day = v_day.day;
  return v_linked;
end;
$$;

-- The attributes of the log record that carries a day's digest out of the database.
create function logloom_private.audit_digest_attrs(p_day logloom.audit_digests)
returns jsonb
language sql
stable
return jsonb_build_object(
  'kind', 'audit_digest', 'day', p_day.day, 'events', p_day.events,
  'digest', encode(p_day.digest, 'hex'),
  'previous_digest', encode(p_day.previous_digest, 'hex')
);

-- The step of the job link_audit_events. Links committed events, the tenants in turn. An event that
-- is not committed yet is linked later, so writers never wait for the chain. Then closes days that
-- are over. The digest of a day becomes a log record of its tenant. Streams, the archive and alerts
-- carry it out of the database.
create function logloom_private.link_audit_events()
returns interval
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id text := '';
  v_linked integer := 0;
  v_closed integer := 0;
  v_day logloom.audit_digests;
  v_record logloom_private.own_record;
begin
  perform pg_advisory_xact_lock(logloom_private.lock_key('audit'));
  while v_linked < 5000 loop
    select min(e.tenant_id) into v_tenant_id
    from logloom.audit_events e
    where e.source = 'app' and e.position is null and e.tenant_id > v_tenant_id;
    exit when v_tenant_id is null;
    begin
      v_linked := v_linked + logloom_private.link_events_of(v_tenant_id, 1000);
    exception when others then
      -- Errors of the server concern all tenants. Other errors delay only this tenant's events.
      if left(sqlstate, 2) in ('25', '53', '57', '58') then
        raise;
      end if;
      perform logloom_private.record_job_error('link_audit_events', sqlstate, sqlerrm);
    end;
  end loop;
  for v_day in
    select d.*
    from logloom.audit_digests d
    where d.closed_at is null and d.day < logloom_private.utc_day(now())
    order by d.day, d.tenant_id
    limit 100
  loop
    v_record := row(
      null, 'info', format('Audit trail of %s: %s events', v_day.day, v_day.events), 'audit',
      null, null, null, null, null, logloom_private.audit_digest_attrs(v_day)
    );
    begin
      update logloom.audit_digests d
      set closed_at = clock_timestamp(),
        record_error = (logloom_private.ingest_own(v_day.tenant_id, array[v_record])).error
      where d.tenant_id = v_day.tenant_id and d.day = v_day.day;
      v_closed := v_closed + 1;
    exception when others then
      -- For example a full queue: the day is closed later, and the links stay.
      perform logloom_private.record_job_error('link_audit_events', sqlstate, sqlerrm);
    end;
  end loop;
  return case when v_linked >= 1000 or v_closed > 0 then interval '0' end;
end;
$$;

-- Returns the UTC day from which on a tenant keeps the project's own events.
create function logloom_private.audit_kept_from(p_tenant_id text)
returns date
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return logloom_private.utc_day(now())
    - (logloom_private.plan_of(p_tenant_id)).audit_retention_days;
end;
$$;
