-- A page of the email addresses of the tenant's rules.
create function logloom_private.page_of_addresses(p_limit integer, p_after text)
returns setof public.logloom_notification_address
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role reads codes or the users of Auth
declare
  v_tenant_id constant text := logloom_private.resolve_tenant();
  v_limit constant integer := logloom_private.list_limit(p_limit);
begin
  return query
  with page as materialized (
    select distinct lower(r.notification_config ->> 'email') as mailbox
    from logloom.alert_rules r
    where r.tenant_id = v_tenant_id and 'email' = any(r.notification_destinations)
      and r.notification_config ->> 'email' is not null
      and (p_after is null or lower(r.notification_config ->> 'email') > lower(p_after))
    order by 1
    limit v_limit
  )
  select
    p.mailbox, logloom_private.address_is_confirmed(v_tenant_id, p.mailbox), a.confirmed_at,
    case when a.code_expires_at > now() then a.code_expires_at end,
    case when a.code_expires_at > now()
      then greatest(logloom_private.confirmation_tries() - a.tries, 0) end
  from page p
  left join logloom_private.notification_addresses a
    on a.tenant_id = v_tenant_id and a.mailbox = p.mailbox
  order by p.mailbox;
end;
$$;

create function public.list_alert_addresses(
  p_limit integer default null,
  p_after text default null
)
returns setof public.logloom_notification_address
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return query select a.* from logloom_private.page_of_addresses(p_limit, p_after) a;
end;
$$;

comment on function public.list_alert_addresses(integer, text) is
  'The email addresses of the tenant''s alert rules, in alphabetical order, and whether '
  'notifications may be sent there. p_limit: 1 to 1000 (default 100). p_after: email of the last '
  'item of the page before. Errors: PT400, PT401.';
