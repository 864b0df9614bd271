-- Audits changes of views.
create function logloom_private.audit_log_views()
returns trigger
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role writes audit events
declare
  v_view constant logloom.log_views := coalesce(new, old);
begin
  -- A customer's view is a part of their log streams and alert rules, which are audited.
  if v_view.customer is not null then
    return null;
  end if;
  insert into logloom.audit_events (tenant_id, actor, action, subject, details)
  values (
    v_view.tenant_id,
    logloom_private.actor(),
    case tg_op
      when 'INSERT' then 'view.created'
      when 'DELETE' then 'view.deleted'
      else 'view.changed'
    end,
    v_view.view_id::text,
    jsonb_build_object('name', v_view.name)
    || case
      when tg_op = 'UPDATE' then logloom_private.changed_members(
        to_jsonb(old) - '{updated_at,shows_since}'::text[],
        to_jsonb(new) - '{updated_at,shows_since}'::text[]
      )
      else jsonb_strip_nulls(jsonb_build_object(
        'query_dsl', v_view.query_dsl, 'hidden_fields', v_view.hidden_fields,
        'operations', v_view.operations
      ))
    end
  );
  return null;
end;
$$;

create trigger audit_log_views
after insert or delete or update on logloom.log_views
for each row execute function logloom_private.audit_log_views();
