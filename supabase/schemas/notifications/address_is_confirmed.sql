-- Whether notifications of the tenant may go to this email address: it was confirmed by a code, or
-- is that of a member.
create function logloom_private.address_is_confirmed(p_tenant_id text, p_address text)
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return exists (
    select
    from logloom_private.notification_addresses a
    where a.tenant_id = p_tenant_id and a.mailbox = lower(p_address)
      and a.confirmed_at is not null
  ) or logloom_private.is_address_of_member(p_tenant_id, p_address);
end;
$$;
