-- What a delivery says that is not made because nobody confirmed its address. It asks for no code
-- that was not mailed.
create function logloom_private.unconfirmed_address(p_tenant_id text, p_address text)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return coalesce(
    (
      select 'The address is not confirmed, and the mail with its code failed: ' || n.last_error
      from logloom_private.notifications n
      where n.tenant_id = p_tenant_id and n.purpose = 'confirmation'
        and lower(n.address) = lower(p_address)
      order by n.created_at desc
      limit 1
    ),
    'The address is not confirmed: confirm_alert_address takes the code that was mailed to it, '
      'test_alert_rule mails a new one'
  );
end;
$$;
