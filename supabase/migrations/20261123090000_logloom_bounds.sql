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

-- Names that a host's own functions may well have are given the prefix of their thing. Where
-- install-into wrote the migrations before, ours have the new names already.
do $$
declare
  v_operation record;
  v_taken text;
begin
  for v_operation in
    select p.oid::regprocedure as signature, r.name
    from (
      values
        ('add_member', 'add_tenant_member'),
        ('list_members', 'list_tenant_members'),
        ('remove_member', 'remove_tenant_member'),
        ('set_member_role', 'set_tenant_member_role'),
        ('claim_notifications', 'claim_alert_notifications'),
        ('settle_notification', 'settle_alert_notification'),
        ('list_notification_addresses', 'list_alert_addresses'),
        ('confirm_notification_address', 'confirm_alert_address'),
        ('get_usage', 'get_tenant_usage'),
        ('list_audit_events', 'list_tenant_audit_events'),
        ('rotate_webhook_secret', 'rotate_alert_webhook_secret'),
        ('list_retention_runs', 'list_log_retention_runs')
    ) r (former, name)
    join pg_catalog.pg_proc p
      on p.pronamespace = 'public'::regnamespace and p.proname = r.former
        and strpos(p.prosrc, 'logloom_private.') > 0
  loop
    select string_agg(p.oid::regprocedure::text, ', ') into v_taken
    from pg_catalog.pg_proc p
    where p.pronamespace = 'public'::regnamespace and p.proname = v_operation.name;
    if v_taken is not null then
      raise exception using
        errcode = 'duplicate_function',
        message = 'Logloom cannot be upgraded, public has a function of its name: ' || v_taken,
        hint = 'Rename it or move it to another schema, then upgrade again.';
    end if;
    execute pg_catalog.format(
      'alter function %s rename to %I', v_operation.signature, v_operation.name
    );
  end loop;
end;
$$;

-- The function of that name is deployed with this version: what is due waits for it.
update logloom_private.notify_endpoint
set url = regexp_replace(url, '/notify$', '/logloom-notify')
where url like '%/notify';

-- Each record has its size with it, each chunk what reading it takes. Of those that are there
-- already it is measured when it is asked for, so nothing is written anew. The tables come in the
-- order in which requests and searches take them, settings first.
-- A forgotten transaction that has read them would keep everybody waiting: the migration fails
-- instead, longer after its beginning than any search takes.
do $$
begin
  perform set_config('lock_timeout', '30s', true);
  alter table logloom_private.settings
    add column max_record_bytes integer not null default 1048576,
    add constraint settings_max_record_bytes_is_within_bounds check (
      max_record_bytes between 65536 and 8388608
    ),
    add column max_page_bytes integer not null default 7340032,
    add column notification_open_limit integer not null default 60,
    add constraint settings_notification_open_limit_is_positive check (
      notification_open_limit >= 1
    ),
    add column tenants_by_anonymous_users boolean not null default false,
    add column writing_clients text[] not null default '{}';
  alter table logloom_private.queue add column record_bytes integer[] compression lz4;
  alter table logloom.logs add column record_bytes integer;
  alter table logloom_private.sealed_chunks add column weight bigint;
  alter type logloom_private.ingest_request add attribute p_cut integer cascade;
  alter type logloom_private.ingest_state add attribute max_record_bytes integer cascade;
  alter type public.logloom_audit_event add attribute client_id text cascade;
  alter table logloom.audit_events add column client_id text;
  perform set_config('lock_timeout', '0', true);
end;
$$;

-- Who has how many deliveries under way is counted at each claim.
do $$
begin
  perform set_config('lock_timeout', '30s', true);
  create index notifications_tenant_id_idx on logloom_private.notifications (tenant_id)
  where claim_id is not null;
  perform set_config('lock_timeout', '0', true);
end;
$$;

-- Rules of before ask what they ask since they were last changed: none misses a window.
do $$
begin
  alter table logloom.alert_rules add column asked_at timestamptz not null default now();
  update logloom.alert_rules set asked_at = updated_at where true;
end;
$$;

select logloom_private.bring_to_nodes();
