-- Pauses a stream at its position until an admin enables it again. Mails the owners.
create function logloom_private.pause_stream(p_stream logloom.log_streams, p_reason text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  update logloom.log_streams s
  set paused_at = now(),
    pause_reason = p_reason,
    claim_id = null, claimed_at = null, claimed_until = null
  where s.stream_id = p_stream.stream_id and s.paused_at is null;
  if found then
    perform logloom_private.mail_stream_owners(p_stream, 'stream.paused', p_reason);
  end if;
end;
$$;

-- Mails the owners of the tenant about a stream. If the stream belongs to a customer, mails only
-- when it lost its maker, because the customer is responsible for the receiver.
create function logloom_private.mail_stream_owners(
  p_stream logloom.log_streams,
  p_type text,
  p_reason text
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_reason <> 'maker' and logloom_private.customer_of_view(p_stream.view_id) is not null then
    return;
  end if;
  insert into logloom_private.notifications (
    tenant_id, rule_id, purpose, channel, address, body, expires_at
  )
  select
    p_stream.tenant_id, p_stream.stream_id, 'stream', 'email', u.email,
    jsonb_build_object(
      'type', p_type, 'timestamp', now(),
      'data', jsonb_build_object(
        'stream_id', p_stream.stream_id, 'name', p_stream.name, 'kind', p_stream.kind,
        'reason', p_reason, 'failing_since', p_stream.failing_since,
        'last_error', p_stream.last_error, 'answer', p_stream.last_answer
      )
    )::text,
    now() + logloom_private.notification_lifetime()
  from logloom_private.auth_users_by_id(
    array(
      select m.user_id from logloom.tenant_members m
      where m.tenant_id = p_stream.tenant_id and m.role = 'owner'
      order by m.created_at
      limit 20
    )
  ) u
  where u.email is not null;
end;
$$;

-- Runs when a member is removed or gets another role. Pauses the streams and the customers' rules
-- that read with the member's rights. They stay paused if the member returns.
create function logloom_private.pause_things_of_member()
returns trigger
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role writes streams
begin
  perform logloom_private.pause_stream(s, 'maker')
  from logloom.log_streams s
  join logloom.tenants t on t.tenant_id = s.tenant_id
  where s.tenant_id = old.tenant_id and s.maker = old.user_id
    and not logloom_private.is_being_deleted(s.tenant_id)
    and not logloom_private.stream_may_read(s);
  perform logloom_private.hold_rules_of_makers()
  where exists (
    select from logloom.alert_rules r
    where r.tenant_id = old.tenant_id and r.created_by = old.user_id and r.enabled
  );
  return null;
end;
$$;

create trigger pause_things_of_member
after delete or update of role on logloom.tenant_members
for each row execute function logloom_private.pause_things_of_member();
