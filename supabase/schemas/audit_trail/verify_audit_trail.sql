-- Does verify_audit_trail: verifies the days of a tenant in order. Stops at a fault, or when a day
-- reaches 100,000 events.
create function logloom_private.verify_trail(p_tenant_id text, p_day_from date, p_day_to date)
returns public.logloom_audit_verdict
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role reads the salt
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
  v_to constant date := coalesce(p_day_to, logloom_private.utc_day(now()));
  v_from date := coalesce(p_day_from, v_to - 30);
  v_verdict public.logloom_audit_verdict;
  v_day logloom.audit_digests;
  v_event logloom.audit_events;
  -- The last link that was verified: the digest of a day, or the link of an event.
  v_link bytea;
  v_seen bigint;
begin
  if v_to - v_from not between 0 and 365 then
    perform logloom_private.refuse('audit.days_are_invalid');
  end if;
  v_from := greatest(v_from, logloom_private.audit_kept_from(v_tenant_id));
  select d.digest into v_link
  from logloom.audit_digests d
  where d.tenant_id = v_tenant_id and d.day < v_from
  order by d.day desc
  limit 1;
  -- Only the tenant's first day has no digest before it.
  v_link := coalesce(v_link, '');
  v_verdict.events := 0;
  v_verdict.erased := 0;
  for v_n in 0..v_to - v_from loop
    v_seen := 0;
    select d.* into v_day
    from logloom.audit_digests d
    where d.tenant_id = v_tenant_id and d.day = v_from + v_n;
    if v_day.previous_digest <> v_link or v_day.day is null and exists (
      select from logloom.audit_events e
      where e.tenant_id = v_tenant_id and e.day = v_from + v_n
    ) then
      v_verdict.fault := 'day_missing';
    elsif v_day.day is null then
      continue;
    elsif v_verdict.events >= 100000 then
      v_verdict.next_day := v_day.day;
      return v_verdict;
    end if;
    v_link := v_day.previous_digest;
    for v_event in
      select e.*
      from logloom.audit_events e
      where e.tenant_id = v_tenant_id and e.day = v_day.day and v_verdict.fault is null
      order by e.position
    loop
      v_seen := v_seen + 1;
      v_link := sha256(v_link || v_event.digest);
      v_verdict.fault := case
        when v_event.position <> v_seen then 'event_missing'
        -- An event that was erased before it was linked has a salt.
        when (v_event.erased_at is null or v_event.salt is not null)
          and logloom_private.audit_event_digest(v_event) is distinct from v_event.digest
          or v_event.erased_at is not null and row(
            v_event.actor, v_event.subject, v_event.targets, v_event.details, v_event.client_id
          ) is distinct from row('erased', '', '[]'::jsonb, '{}'::jsonb, null)
          then 'event_changed'
        when v_event.link is distinct from v_link then 'link_changed'
      end;
      exit when v_verdict.fault is not null;
      v_verdict.events := v_verdict.events + 1;
      v_verdict.erased := v_verdict.erased + (v_event.erased_at is not null)::integer;
    end loop;
    if v_verdict.fault is not null then
      v_verdict.fault_event_id := case when v_event.position = v_seen then v_event.event_id end;
    elsif v_seen < v_day.events then
      v_verdict.fault := 'event_missing';
      v_seen := v_seen + 1;
    elsif v_link is distinct from v_day.digest or v_seen > v_day.events then
      v_verdict.fault := 'digest_changed';
    end if;
    if v_verdict.fault is not null then
      v_verdict.fault_day := v_from + v_n;
      v_verdict.fault_position := nullif(v_seen, 0);
      return v_verdict;
    end if;
    v_verdict.day_from := coalesce(v_verdict.day_from, v_day.day);
    v_verdict.day_to := v_day.day;
    v_verdict.digest := encode(v_link, 'hex');
  end loop;
  return v_verdict;
exception when query_canceled then
  perform logloom_private.refuse('search.took_too_long');
  return null;
end;
$$;

create function public.verify_audit_trail(
  p_tenant_id text default null, p_day_from date default null, p_day_to date default null
)
returns public.logloom_audit_verdict
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
set statement_timeout = '15s'
as $$
begin
  return logloom_private.verify_trail(p_tenant_id, p_day_from, p_day_to);
end;
$$;

comment on function public.verify_audit_trail(text, date, date) is
  'Checks the chain of the tenant''s audit trail (source app), and names the first fault. '
  'p_day_from, p_day_to: UTC days, both inclusive, at most 366 (default: the last 31). Go on at '
  'next_day if it is not null. Errors: PT400, PT401, PT403, PT408.';
