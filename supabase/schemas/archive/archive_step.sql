-- Begins passes for the next tenants that have records to archive. A new round over all tenants
-- begins every settings.archive_plan_every. Returns true if tenants of this round are left.
create function logloom_private.plan_archive(p_now timestamptz)
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_bucket logloom_private.archive_bucket;
  v_tenants text[];
begin
  select b.* into v_bucket from logloom_private.archive_bucket b;
  if v_bucket.planned_through is null and v_bucket.planned_at > p_now - (
    select s.archive_plan_every from logloom_private.settings s
  ) then
    return false;
  end if;
  v_tenants := array(
    select t
    from logloom_private.tenants_to_archive() t
    where t > coalesce(v_bucket.planned_through, '')
    order by t
    limit 100
  );
  perform logloom_private.plan_archive_pass(t.tenant_id, p_now)
  from unnest(v_tenants) t (tenant_id);
  update logloom_private.archive_bucket b
  set planned_through = v_tenants[100],
    planned_at = case when v_tenants[100] is null then p_now else b.planned_at end
  where b.singleton;
  return v_tenants[100] is not null;
end;
$$;

-- If all days of a file are older than archive_days of its tenant's plan, the file becomes garbage:
-- at most 1000 files at a time. If the plan no longer has an archive, files stay. Also deletes old
-- rows about erasures and restores.
create function logloom_private.expire_archive(p_now timestamptz)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  with gone as (
    delete from logloom.archive_parts p
    where p.part_id = any (array(
      select x.part_id
      from logloom.archive_parts x
      join logloom.tenants t on t.tenant_id = x.tenant_id
      join logloom.plans l on l.plan_id = t.plan_id
      where l.archive_days > 0 and x.status <> 'draft'
        and x.last_day < logloom_private.utc_day(p_now) - l.archive_days
        and not exists (
          select from logloom_private.archive_claims c where c.part_id = x.part_id
        )
      limit 1000
    ))
    returning p.tenant_id, p.object_key
  )
  insert into logloom_private.archive_garbage (tenant_id, object_key, reason)
  select g.tenant_id, g.object_key, 'expired' from gone g
  on conflict (object_key) do nothing;
  -- Every claim that still exists began after these erasures finished.
  delete from logloom_private.archive_erasures e where e.finished_at < p_now - interval '1 day';
  delete from logloom_private.kept_longer k where k.kept_until < p_now;
end;
$$;

create function logloom_private.archive_has_work()
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_settings logloom_private.settings;
  v_bucket logloom_private.archive_bucket;
begin
  select s.* into v_settings from logloom_private.settings s;
  select b.* into v_bucket from logloom_private.archive_bucket b;
  if (v_bucket.bucket, v_bucket.prefix)
    is distinct from (v_settings.archive_bucket, v_settings.archive_prefix)
    or v_bucket.problem is not null or v_bucket.checked_at is null
  then
    return v_bucket.checked_at is null or v_bucket.problem is null
      or v_bucket.checked_at < now() - interval '1 minute';
  end if;
  return v_bucket.checked_at < now() - interval '1 day'
    or v_bucket.compared_at is null or v_bucket.compared_through is not null
    or v_bucket.compared_at < now() - logloom_private.archive_compare_every()
    or exists (
      select from logloom_private.archive_garbage g where g.next_attempt_at <= clock_timestamp()
    )
    or exists (select from logloom.archive_parts p where p.newer_key is not null)
    or exists (select from logloom_private.archive_notes n where not n.is_read)
    or exists (
      select from logloom_private.archive_passes p where p.next_attempt_at <= clock_timestamp()
    )
    or exists (
      select
      from logloom_private.archive_erasures e
      where e.finished_at is null and (e.parts_through is not null or e.noted_at is null)
        and e.next_attempt_at <= clock_timestamp()
    )
    or exists (
      select
      from logloom.archive_restores r
      where r.status in ('queued', 'running') and r.next_attempt_at <= clock_timestamp()
    );
end;
$$;

-- Runs a step of the job archive_logs: plans passes, expires files, and calls the function
-- logloom-archive if it has work. If the step is killed, nothing is lost.
create function logloom_private.archive_step()
returns interval
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_endpoint logloom_private.archive_endpoint;
begin
  if logloom_private.archive_is_idle() is not null then
    return null;
  elsif logloom_private.plan_archive(clock_timestamp()) then
    return interval '0';
  end if;
  perform logloom_private.expire_archive(clock_timestamp());
  if logloom_private.archive_has_work() then
    select e.* into v_endpoint from logloom_private.archive_endpoint e;
    if v_endpoint.url is null or v_endpoint.secret is null then
      raise exception 'logloom_private.archive_endpoint lacks the url or the secret: set both';
    end if;
    perform logloom_private.call_function(
      v_endpoint.url, 'X-Logloom-Archive-Secret', v_endpoint.secret
    );
  end if;
  return null;
end;
$$;
