-- Writes down that a session is used, once a minute; its first use is audited.
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
  -- Skips a locked row: whoever holds it must not hold up requests, and another one will do.
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
  -- An answer is worth more than its note.
  null;
end;
$$;
