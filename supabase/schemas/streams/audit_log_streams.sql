-- Returns a stream as audit events show it: only the host of its address, only the names of its
-- secrets.
create function logloom_private.audited_stream(p_row logloom.log_streams)
returns jsonb
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return jsonb_strip_nulls(jsonb_build_object(
    'name', p_row.name, 'kind', p_row.kind, 'source', nullif(p_row.source, 'logs'),
    'query_dsl', p_row.query_dsl, 'enabled', p_row.enabled, 'view_id', p_row.view_id,
    'maker', p_row.maker,
    'host', substring(
      coalesce(p_row.config ->> 'url', p_row.config ->> 'endpoint') from '^\w+://([^/?#]+)'
    ),
    'secrets', (select jsonb_agg(n order by n) from jsonb_object_keys(p_row.secrets) n),
    'pause_reason', p_row.pause_reason, 'held', nullif(p_row.held_at is not null, false)
  ));
end;
$$;

-- Writes an audit event for each change of a stream. An update that changes nothing writes none.
create function logloom_private.audit_log_streams()
returns trigger
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role writes audit events
declare
  v_stream constant logloom.log_streams := coalesce(new, old);
begin
  if tg_op = 'UPDATE' and (
    logloom_private.audited_stream(old), old.config, old.secrets
  ) = (logloom_private.audited_stream(new), new.config, new.secrets) then
    return null;
  end if;
  insert into logloom.audit_events (tenant_id, actor, action, subject, details)
  values (
    v_stream.tenant_id,
    logloom_private.actor(),
    case tg_op
      when 'INSERT' then 'log_stream.created'
      when 'DELETE' then 'log_stream.deleted'
      else 'log_stream.changed'
    end,
    v_stream.stream_id::text,
    case
      when tg_op = 'UPDATE' then jsonb_build_object('name', v_stream.name)
        || logloom_private.changed_members(
          logloom_private.audited_stream(old), logloom_private.audited_stream(new)
        )
        || jsonb_build_object(
          'config_changed', old.config <> new.config, 'secrets_changed', old.secrets <> new.secrets
        )
      else logloom_private.audited_stream(v_stream)
    end || jsonb_strip_nulls(jsonb_build_object(
      'customer', logloom_private.customer_of_view(v_stream.view_id)
    ))
  );
  return null;
end;
$$;

create trigger audit_log_streams
after insert or delete
or update of name, query_dsl, config, enabled, view_id, paused_at on logloom.log_streams
for each row execute function logloom_private.audit_log_streams();
