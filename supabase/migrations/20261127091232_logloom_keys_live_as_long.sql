-- A key made in place of another lives as long as that was to live, however often it is rotated; a
-- run is no success whose step has failed; no job is silent while the server is down.

set local check_function_bodies = off;

do $$
begin
  -- Jobs and requests read the settings first: those under way end, and no other begins.
  perform set_config('lock_timeout', '30s', true);
  lock table logloom_private.settings, logloom.plans in access exclusive mode;
  alter table logloom.api_keys add column lifetime interval;
  alter table logloom_private.retention_place add column failing_since timestamptz;
  perform set_config('lock_timeout', '0', true);
end;
$$;

update logloom.api_keys k
set lifetime = k.expires_at - k.created_at
where k.expires_at is not null;

CREATE OR REPLACE FUNCTION logloom_private.begin_canary_round (
  OUT round_id uuid,
  OUT key_value text
)
  RETURNS record
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_tenant_id constant text := logloom_private.canary_tenant();
  v_key public.logloom_created_api_key;
begin
  if (select s.canary_url from logloom_private.settings s) is null then
    return;
  end if;
  if exists (select from logloom.tenant_members m where m.tenant_id = v_tenant_id) then
    raise exception 'The tenant % has members: the canary needs it for itself', v_tenant_id;
  end if;
  delete from logloom_private.canary_rounds r where r.sent_at < now() - interval '1 day';
  -- Of rounds before, also those that were cut off.
  delete from logloom.api_keys k where k.tenant_id = v_tenant_id and k.name = 'canary';
  insert into logloom.tenants (tenant_id, plan_id)
  select v_tenant_id, p.plan_id from logloom.plans p where p.is_default
  on conflict do nothing;
  v_key := logloom_private.issue_api_key(
    v_tenant_id, 'canary', clock_timestamp() + interval '5 minutes', '{ingest,read}', null
  );
  insert into logloom_private.canary_rounds as r (key_id)
  values (v_key.key_id)
  returning r.round_id into round_id;
  key_value := v_key.key_value;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.count_canaries (
  p_round_id uuid,
  p_key      text
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_to constant timestamptz := clock_timestamp();
  v_from constant timestamptz := v_to - interval '1 hour';
  v_watermark constant timestamptz :=
    logloom_private.watermark((logloom_private.queue_state()).oldest_received_at);
  v_counted bigint;
begin
  v_counted := logloom_private.canary_call(
    'logloom-read/v1/log_stats', p_key, jsonb_build_object(
      'p_query_dsl', 'service:canary | count()',
      'p_ts_from', to_char(v_from at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
      'p_ts_to', to_char(v_to at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
    )
  ) #>> '{0,value}';
  -- One without an answer may have been stored all the same.
  update logloom_private.canary_rounds u
  set counted_at = clock_timestamp(), missing = greatest(n.acknowledged - v_counted, 0),
    doubled = greatest(v_counted - n.sent, 0)
  from (
    select
      count(r.acknowledged_at) filter (
        where r.searched_at is not null or r.acknowledged_at < v_watermark
      ) as acknowledged,
      count(*) as sent
    from logloom_private.canary_rounds r
    where r.sent_at >= v_from and r.sent_at < v_to
  ) n
  where u.round_id = p_round_id;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.end_retention (
  p_error text
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  update logloom_private.retention_place p
  set finished_at = clock_timestamp(),
    failing_since = case when p_error is not null then coalesce(p.failing_since, now()) end
  where p.singleton;
  if p_error is not null then
    perform logloom_private.record_job('run_retention', clock_timestamp(), p_error);
    return;
  end if;
  update logloom.retention_runs r
  set status = 'done', finished_at = clock_timestamp()
  where r.kind = 'retention' and r.status = 'running';
  delete from logloom.retention_runs r
  using logloom_private.settings s
  where r.requested_at < now() - s.audit_lifetime and r.status not in ('queued', 'running');
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.found_tenant (
  p_tenant_id text
)
  RETURNS public.logloom_tenant
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because no API role may insert tenants or members
declare
  v_user_id text;
begin
  if logloom_private.is_service_role() then
    perform logloom_private.refuse('tenants.made_by_a_user');
  end if;
  if not logloom_private.token_is_valid(logloom_private.claims()) then
    perform logloom_private.refuse('callers.not_known');
  end if;
  v_user_id := logloom_private.require_user_id();
  if not (select s.tenants_by_users from logloom_private.settings s) then
    perform logloom_private.refuse('tenants.not_made_by_users');
  end if;
  perform logloom_private.require_writing_client(logloom_private.claims());
  if logloom_private.is_viewer(
    logloom_private.tenant_of_claims(logloom_private.claims()), logloom_private.claims()
  ) then
    perform logloom_private.refuse('callers.viewer_may_only_read');
  end if;
  perform logloom_private.require_lasting_user(logloom_private.claims());
  perform logloom_private.require_parameter('p_tenant_id', p_tenant_id is null);
  if logloom_private.usable_id(p_tenant_id) is null then
    perform logloom_private.refuse('tenants.id_is_invalid');
  end if;
  -- One at a time for a user, so that each has one at most.
  perform logloom_private.lock_members('user ' || v_user_id);
  if logloom_private.claims() ? 'tenant_id'
    or exists (select from logloom.tenant_members m where m.user_id = v_user_id)
  then
    perform logloom_private.refuse('tenants.caller_has_one');
  end if;
  -- Ids that begin so are for ourselves: the canary's tenant has one.
  if p_tenant_id like 'logloom-%' or logloom_private.is_being_deleted(p_tenant_id) then
    perform logloom_private.refuse('tenants.id_is_taken');
  end if;
  insert into logloom.tenants (tenant_id, plan_id)
  select p_tenant_id, p.plan_id from logloom.plans p where p.is_default
  on conflict do nothing;
  if not found then
    perform logloom_private.refuse('tenants.id_is_taken');
  end if;
  insert into logloom.tenant_members (tenant_id, user_id, role)
  values (p_tenant_id, v_user_id, 'owner');
  return logloom_private.tenant_with_plan(p_tenant_id);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.issue_api_key (
  p_tenant_id  text,
  p_name       text,
  p_expires_at timestamp with time zone,
  p_scopes     text[],
  p_view_id    uuid
)
  RETURNS public.logloom_created_api_key
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_key_value constant text := logloom_private.new_api_key();
  v_result public.logloom_created_api_key;
begin
  insert into logloom.api_keys (
    tenant_id, name, key_prefix, key_digest, scopes, created_by, expires_at, view_id, lifetime
  )
  values (
    p_tenant_id, p_name, left(v_key_value, 11), sha256(convert_to(v_key_value, 'UTF8')),
    array(select distinct unnest(p_scopes)), logloom_private.current_user_id(), p_expires_at,
    p_view_id, p_expires_at - now()
  )
  returning
    key_id, tenant_id, name, key_prefix, v_key_value, scopes,
    logloom_private.api_key_status(revoked_at, expires_at), created_at, expires_at,
    view_id
  into v_result;
  return v_result;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.job_health (
  p_now timestamp with time zone
)
  RETURNS jsonb
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return (
    select jsonb_object_agg(
      l.job,
      logloom_private.health_grade(
        null,
        concat_ws(
          '; ',
          case when g.silence > l.silence
            -- One that is due runs at least once an hour.
            and p_now - logloom_private.up_since()
              not between interval '0' and least(l.silence, interval '2 hours')
          then
            logloom_private.silence_reason('No run of the job', g.silence, l.silence)
          end,
          case when h.failures >= l.failures then
            format('%s runs failed in a row', h.failures)
          end,
          case when l.job = 'run_retention' and p_now - r.failing_since > l.silence then
            logloom_private.silence_reason(
              'No day''s retention', p_now - r.failing_since, l.silence
            )
          end
        )
      ) || jsonb_build_object(
        'last_success', h.last_succeeded_at,
        'last_failure', h.last_failed_at,
        'failures', coalesce(h.failures, 0),
        -- Never the message: it may have a tenant's words, and health is open to all.
        'error_code', case when h.failures > 0 then
          substring(h.last_error from '^[0-9A-Z]{5}')
        end
      )
    )
    from logloom_private.job_limits l
    left join logloom_private.job_heartbeats h on h.job = l.job
    left join logloom_private.retention_place r on r.singleton
    cross join logloom_private.silence_since(
      coalesce(h.last_succeeded_at, l.watched_since), p_now
    ) g (silence)
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.record_job (
  p_job        text,
  p_started_at timestamp with time zone,
  p_error      text                     DEFAULT NULL::text
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_now constant timestamptz := clock_timestamp();
  v_has_failed constant boolean := p_error is not null or exists (
    select
    from logloom_private.job_heartbeats h
    where h.job = p_job and h.last_failed_at between p_started_at and v_now
  );
begin
  insert into logloom_private.job_heartbeats as h (
    job, last_started_at, last_succeeded_at, last_duration_ms, last_failed_at, last_error,
    failures
  )
  values (
    p_job,
    p_started_at,
    case when p_error is null then v_now end,
    extract(epoch from v_now - p_started_at) * 1000,
    case when p_error is not null then v_now end,
    p_error,
    (p_error is not null)::integer
  )
  on conflict (job) do update set
    last_started_at = excluded.last_started_at,
    last_succeeded_at = case
      when v_has_failed then h.last_succeeded_at else v_now
    end,
    last_duration_ms = excluded.last_duration_ms,
    last_failed_at = coalesce(excluded.last_failed_at, h.last_failed_at),
    last_error = coalesce(excluded.last_error, h.last_error),
    failures = case
      when p_error is not null then h.failures + 1 when v_has_failed then h.failures else 0
    end;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.up_since()
  RETURNS timestamp WITH time zone
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return pg_postmaster_start_time();
end;
$function$;

CREATE OR REPLACE FUNCTION public.rotate_api_key (
  p_tenant_id       text    DEFAULT NULL::text,
  p_key_id          uuid    DEFAULT NULL::uuid,
  p_overlap_minutes integer DEFAULT NULL::integer,
  p_view_id         uuid    DEFAULT NULL::uuid
)
  RETURNS public.logloom_created_api_key
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET "TimeZone" TO 'UTC'
  AS $function$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
  v_overlap constant integer := coalesce(p_overlap_minutes, 60);
  v_old record;
  v_result public.logloom_created_api_key;
begin
  perform logloom_private.require_role(v_tenant_id, 'admin');
  perform logloom_private.require_parameter('p_key_id', p_key_id is null);
  if v_overlap not between 0 and 10080 then
    perform logloom_private.refuse('api_keys.overlap_is_out_of_range');
  end if;
  select k.name, k.scopes, k.expires_at, k.lifetime, k.revoked_at, k.view_id into v_old
  from logloom.api_keys k
  where k.tenant_id = v_tenant_id and k.key_id = p_key_id
  for no key update;
  if not found then
    perform logloom_private.refuse('api_keys.not_found');
  end if;
  if logloom_private.api_key_status(v_old.revoked_at, v_old.expires_at) <> 'active' then
    perform logloom_private.refuse('api_keys.not_active');
  end if;
  perform logloom_private.require_view_for_key(p_tenant_id, p_view_id, v_old.scopes);

  -- A key that was to live for a time is followed by one that lives as long.
  -- Both are alive for a while, also where the plan has no room for one more.
  perform logloom_private.require_room_for_api_key(p_tenant_id, 2);
  v_result := logloom_private.issue_api_key(
    v_tenant_id, v_old.name, now() + v_old.lifetime, v_old.scopes,
    coalesce(p_view_id, v_old.view_id)
  );
  update logloom.api_keys k
  set expires_at = least(k.expires_at, now() + make_interval(mins => v_overlap))
  where k.tenant_id = v_tenant_id and k.key_id = p_key_id;
  return v_result;
end;
$function$;

comment on column logloom.api_keys.lifetime is
  'How long it was to live when it was made, whatever a rotation left of that. Null: for ever.';

comment on column logloom_private.retention_place.failing_since is
  'Since when no day''s retention has ended without an error. Null: the last one did.';

grant insert (lifetime), select (lifetime) on logloom.api_keys to authenticated, service_role;

select logloom_private.finish_migration();
