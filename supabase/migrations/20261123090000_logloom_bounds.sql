-- Columns of logloom.logs are added below.
select logloom_private.hold_writers();

-- With an empty search_path a type of pg_temp comes before pg_catalog's own: every function names
-- both, pg_temp last.
do $$
declare
  v_function regprocedure;
begin
  for v_function in
    select p.oid
    from pg_catalog.pg_proc p
    where (
        p.pronamespace = 'logloom_private'::regnamespace
        or p.pronamespace = 'public'::regnamespace
          and p.proname = any (logloom_private.operations())
      )
      and p.proconfig @> array['search_path=""']
  loop
    execute format('alter routine %s set search_path = pg_catalog, pg_temp', v_function);
  end loop;
end;
$$;

-- Names that a host's own functions may well have are given the prefix of their thing.
alter function public.add_member rename to add_tenant_member;
alter function public.list_members rename to list_tenant_members;
alter function public.remove_member rename to remove_tenant_member;
alter function public.set_member_role rename to set_tenant_member_role;
alter function public.claim_notifications rename to claim_alert_notifications;
alter function public.settle_notification rename to settle_alert_notification;
alter function public.list_notification_addresses rename to list_alert_addresses;
alter function public.confirm_notification_address rename to confirm_alert_address;
alter function public.get_usage rename to get_tenant_usage;
alter function public.list_audit_events rename to list_tenant_audit_events;
alter function public.rotate_webhook_secret rename to rotate_alert_webhook_secret;
alter function public.list_retention_runs rename to list_log_retention_runs;

-- The function of that name is deployed with this version: what is due waits for it.
update logloom_private.notify_endpoint
set url = regexp_replace(url, '/notify$', '/logloom-notify')
where url like '%/notify';

-- Each record has its size with it. Of those that are there already it is measured when it is asked
-- for, so nothing is written anew.
-- A forgotten transaction that has read them would keep everybody waiting: the migration fails instead,
-- longer after its beginning than any search takes.
do $$
begin
  perform set_config('lock_timeout', '30s', true);
  alter table logloom_private.queue add column record_bytes integer[] compression lz4;
  alter table logloom.logs add column record_bytes integer;
  alter table logloom_private.settings
    add column max_record_bytes integer not null default 1048576,
    add constraint settings_max_record_bytes_is_within_bounds check (
      max_record_bytes between 65536 and 8388608
    );
  alter type logloom_private.ingest_request add attribute p_cut integer cascade;
  alter type logloom_private.ingest_state add attribute max_record_bytes integer cascade;
  perform set_config('lock_timeout', '0', true);
end;
$$;

-- What a chunk weighs, of those that are made from now on; the bytes of a page.
do $$
begin
  perform set_config('lock_timeout', '30s', true);
  alter table logloom_private.sealed_chunks add column weight bigint;
  alter table logloom_private.settings
    add column max_page_bytes integer not null default 7340032;
  perform set_config('lock_timeout', '0', true);
end;
$$;
