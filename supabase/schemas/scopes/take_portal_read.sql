-- Stores when a session was used, once a minute. Audits its first use.
create function logloom_private.note_session_use(p_session logloom.portal_sessions)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_first timestamptz;
begin
  if p_session.last_used_at >= date_trunc('minute', now()) then
    return;
  end if;
  -- Skips a locked row, so that requests do not wait for each other. A later request stores the
  -- time.
  update logloom.portal_sessions s
  set first_used_at = coalesce(s.first_used_at, now()), last_used_at = now()
  where s.session_id = (
    select u.session_id
    from logloom.portal_sessions u
    where u.session_id = p_session.session_id
    for no key update skip locked
  )
  returning s.first_used_at into v_first;
  if v_first = now() then
    insert into logloom.audit_events (tenant_id, actor, action, subject)
    values (
      p_session.tenant_id, 'portal ' || p_session.session_id, 'portal_session.first_used',
      p_session.session_id::text
    );
  end if;
exception when read_only_sql_transaction or disk_full then
  -- The request is answered all the same.
  null;
end;
$$;

-- Counts a request of a tenant's portal sessions, in an unlocked row or a new one. PT429 with
-- Retry-After if the plan's limit for this minute is reached.
create function logloom_private.take_portal_read(p_tenant_id text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_minute constant timestamptz := date_trunc('minute', now());
  v_limit constant integer := (logloom_private.plan_of(p_tenant_id)).portal_requests_per_minute;
begin
  if (
    select coalesce(sum(r.reads), 0)
    from logloom_private.portal_reads r
    where r.tenant_id = p_tenant_id and r.minute = v_minute
  ) >= v_limit
  then
    perform logloom_private.refuse_for_now(
      ceil(extract(epoch from v_minute + interval '1 minute' - now()))::integer,
      'portal.too_many_requests', v_limit::text
    );
  end if;
  update logloom_private.portal_reads r
  set reads = r.reads + 1
  where r.ctid = (
    select f.ctid
    from logloom_private.portal_reads f
    where f.tenant_id = p_tenant_id and f.minute = v_minute
    limit 1
    for no key update skip locked
  );
  if not found then
    insert into logloom_private.portal_reads (tenant_id, minute, reads)
    values (p_tenant_id, v_minute, 1);
  end if;
exception when read_only_sql_transaction or disk_full then
  -- The request is answered all the same.
  null;
end;
$$;
