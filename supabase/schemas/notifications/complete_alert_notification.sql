-- Returns the newest records that a rule counted in a window, within its view, shortened for a
-- message. Empty if they cannot be read in time.
create function logloom_private.newest_records(
  p_tenant_id text,
  p_view_id uuid,
  p_query_dsl text,
  p_from text,
  p_to text
)
returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
declare
  v_scope logloom_private.reading_scope;
begin
  v_scope := logloom_private.scope_of_view(p_tenant_id, p_view_id);
  -- The operations that the view allows do not matter here.
  v_scope.operations := null;
  return (
    select coalesce(jsonb_agg(
      (
        select jsonb_object_agg(
          m.key, case when length(m.value) > 500 then left(m.value, 499) || '…' else m.value end
        )
        from jsonb_each_text(
          jsonb_strip_nulls(l.record) - '{attrs,tenant_id,received_at}'::text[]
        ) m
      ) order by l.n
    ), '[]')
    from jsonb_array_elements(to_jsonb((
      logloom_private.read_log_page(v_scope, p_query_dsl, p_from, p_to, 3, null, 'desc')
    ).logs)) with ordinality l (record, n)
  );
exception when query_canceled or others then
  return '[]';
end;
$$;

-- Returns the body of a claimed notification with a link to the console and the newest records. The
-- records are read for each attempt and not stored, so that deleted records are not sent.
create function logloom_private.complete_notification(p_notification_id uuid, p_claim_id uuid)
returns text
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role reads the outbox
declare
  v_notification logloom_private.notifications;
  v_data jsonb;
  v_group jsonb;
  v_query text;
  v_view_id uuid;
  v_url text;
begin
  select n.* into v_notification
  from logloom_private.notifications n
  where n.notification_id = p_notification_id and n.claim_id = p_claim_id;
  if not found then
    return null;
  end if;
  -- A customer has no console.
  if v_notification.customer is null then
    v_url := (select s.console_url from logloom_private.settings s);
  end if;
  v_data := v_notification.body::jsonb -> 'data';
  if jsonb_array_length(v_data -> 'alerts') = 1 and v_data -> 'group' <> 'null' then
    v_group := v_data -> 'group';
  end if;
  -- No query finds exactly the records of an error group.
  if v_data ->> 'kind' is distinct from 'new_error' then
    v_query := logloom_private.records_query(v_data ->> 'query_dsl', v_group);
  end if;
  v_data := v_data || jsonb_build_object(
    'url', v_url || case
      when v_data ->> 'kind' = 'new_error'
        then '#/errors' || coalesce('?group=' || (v_group ->> 'fingerprint'), '')
      else '#q=' || logloom_private.percent_encoded(v_query)
        || '&from=' || logloom_private.percent_encoded(v_data ->> 'window_start')
        || '&to=' || logloom_private.percent_encoded(v_data ->> 'window_end')
    end,
    'logs', '[]'::jsonb
  );
  if v_notification.purpose = 'alert' and v_query is not null then
    select h.view_id into v_view_id
    from logloom.alert_history h where h.alert_id = v_notification.alert_id;
    v_data := jsonb_set(v_data, '{logs}', logloom_private.newest_records(
      v_notification.tenant_id, v_view_id, v_query, v_data ->> 'window_start',
      v_data ->> 'window_end'
    ));
  end if;
  return (v_notification.body::jsonb || jsonb_build_object('data', v_data))::text;
end;
$$;

create function public.complete_alert_notification(
  p_notification_id uuid default null,
  p_claim_id uuid default null
)
returns text
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
set statement_timeout = '5s'
as $$
begin
  perform logloom_private.require_parameter('p_notification_id', p_notification_id is null);
  perform logloom_private.require_parameter('p_claim_id', p_claim_id is null);
  return logloom_private.complete_notification(p_notification_id, p_claim_id);
end;
$$;

comment on function public.complete_alert_notification(uuid, uuid) is
  'The edge function logloom-notify calls it before each attempt. Returns the body of a claimed '
  'notification with the link to the console and the newest records. Null if the claim has ended. '
  'Errors: PT400.';
