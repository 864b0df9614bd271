-- Ends a silence of the caller's tenant.
create function logloom_private.end_alert_silence(p_tenant_id text, p_silence_id uuid)
returns public.logloom_alert_silence
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role writes silences, which keep others from being told
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
  v_row logloom.alert_silences;
begin
  perform logloom_private.require_parameter('p_silence_id', p_silence_id is null);
  select s.* into v_row
  from logloom.alert_silences s
  where s.tenant_id = v_tenant_id and s.silence_id = p_silence_id
  for update;
  if not found then
    perform logloom_private.refuse('alerts.silence_not_found');
  end if;
  -- One that is over stays as it ended.
  if v_row.expired_at is null and v_row.ends_at > now() then
    update logloom.alert_silences s
    set expired_at = now(), expired_by = logloom_private.actor()
    where s.silence_id = p_silence_id
    returning s.* into v_row;
    insert into logloom.audit_events (tenant_id, actor, action, subject, details)
    values (
      v_tenant_id, logloom_private.actor(), 'alert_silence.expired', p_silence_id::text,
      jsonb_build_object('rule_id', v_row.rule_id, 'ends_at', v_row.ends_at)
    );
  end if;
  return logloom_private.alert_silence_of(v_row);
end;
$$;

create function public.expire_alert_silence(
  p_silence_id uuid default null,
  p_tenant_id text default null
)
returns public.logloom_alert_silence
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return logloom_private.end_alert_silence(p_tenant_id, p_silence_id);
end;
$$;

comment on function public.expire_alert_silence(uuid, text) is
  'Ends a silence now and returns it; one that is over stays as it was. '
  'Errors: PT400, PT401, PT403, PT404.';
