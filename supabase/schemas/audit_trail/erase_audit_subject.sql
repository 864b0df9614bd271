create function logloom_private.erase_subject(p_tenant_id text, p_subject text)
returns integer
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role changes audit events
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
  v_erased integer;
begin
  perform logloom_private.require_role(v_tenant_id, 'admin');
  -- Events without a subject, such as TRUNCATE, belong to nobody.
  perform logloom_private.require_parameter(
    'p_subject', coalesce(logloom_private.trim_space(p_subject), '') = ''
  );
  update logloom.audit_events e
  set actor = 'erased', subject = '', targets = '[]', details = '{}', client_id = null,
    salt = null, erased_at = clock_timestamp()
  where e.event_id in (
    select s.event_id
    from logloom.audit_events s
    where s.tenant_id = v_tenant_id and s.source = 'app' and s.erased_at is null
      and (
        s.actor = p_subject or s.subject = p_subject
        or s.targets @> jsonb_build_array(jsonb_build_object('id', p_subject))
      )
    limit 10000
  );
  get diagnostics v_erased = row_count;
  if v_erased > 0 then
    -- Does not name users who erase themselves, so that the next call finds nothing.
    insert into logloom.audit_events (tenant_id, source, actor, action, subject, details)
    values (
      v_tenant_id, 'app', coalesce(nullif(logloom_private.actor(), p_subject), 'erased'),
      'audit_subject.erased', '', jsonb_build_object('events', v_erased)
    );
  end if;
  return v_erased;
end;
$$;

create function public.erase_audit_subject(
  p_tenant_id text default null, p_subject text default null
)
returns integer
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
set statement_timeout = '15s'
as $$
begin
  return logloom_private.erase_subject(p_tenant_id, p_subject);
end;
$$;

comment on function public.erase_audit_subject(text, text) is
  'Erases the content of the project''s own events whose actor or target is p_subject. Erases at '
  'most 10000 a call and returns their number: call it until it returns 0. Time, action and place '
  'in the chain stay. Requires the role admin. Errors: PT400, PT401, PT403.';
