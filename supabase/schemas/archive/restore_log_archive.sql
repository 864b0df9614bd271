create function logloom_private.request_restore(
  p_from text,
  p_to text,
  p_query_dsl text,
  p_keep_days integer,
  p_tenant_id text
)
returns public.logloom_archive_restore
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because the API roles cannot compile queries or write restores
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
  v_max constant integer := (logloom_private.plan_of(v_tenant_id)).max_restored_days;
  v_range tstzrange;
  v_query logloom_private.compiled_query;
  v_found record;
  v_days integer;
  v_restore logloom.archive_restores;
begin
  perform logloom_private.require_role(v_tenant_id, 'admin');
  if p_keep_days not between 1 and 90 then
    perform logloom_private.refuse('archive.keep_days_are_out_of_range');
  end if;
  v_range := logloom_private.search_range(p_from, p_to);
  v_query := logloom_private.search_query(null, p_query_dsl, now(), 'filter');
  perform logloom_private.refuse_warnings(v_query);
  select
    count(*)::integer as parts,
    greatest(logloom_private.utc_day(min(p.first_ts)), logloom_private.utc_day(lower(v_range)))
      as first_day,
    least(
      logloom_private.utc_day(max(p.last_ts)),
      logloom_private.utc_day(upper(v_range) - interval '1 microsecond')
    ) as last_day
  into v_found
  from logloom.archive_parts p
  where p.tenant_id = v_tenant_id and p.status <> 'draft'
    and p.last_ts >= lower(v_range) and p.first_ts < upper(v_range);
  if v_found.parts = 0 then
    perform logloom_private.refuse('archive.nothing_in_range');
  end if;
  -- Concurrent requests wait here: each counts the restores before it.
  perform pg_advisory_xact_lock(logloom_private.lock_key('archive'), hashtext(v_tenant_id));
  v_days := v_found.last_day - v_found.first_day + 1 + (
    select coalesce(sum(k.last_day - k.first_day + 1), 0)
    from logloom_private.kept_longer k
    where k.tenant_id = v_tenant_id and k.kept_until > now()
  );
  if v_days > v_max then
    perform logloom_private.refuse('archive.too_many_days', v_max::text, v_days::text);
  end if;
  insert into logloom.archive_restores (
    tenant_id, requested_by, first_day, last_day, ts_from, ts_to, query_dsl, kept_until, parts
  )
  values (
    v_tenant_id, logloom_private.actor(), v_found.first_day, v_found.last_day, lower(v_range),
    upper(v_range), coalesce(p_query_dsl, ''), now() + make_interval(days => p_keep_days),
    v_found.parts
  )
  returning * into v_restore;
  insert into logloom_private.kept_longer (kept_id, tenant_id, first_day, last_day, kept_until)
  values (
    v_restore.restore_id, v_tenant_id, v_restore.first_day, v_restore.last_day,
    v_restore.kept_until
  );
  insert into logloom.audit_events (tenant_id, actor, action, subject, details)
  values (
    v_tenant_id, v_restore.requested_by, 'logs.restore_requested',
    v_restore.restore_id::text,
    jsonb_build_object(
      'query_dsl', v_restore.query_dsl, 'ts_from', v_restore.ts_from, 'ts_to', v_restore.ts_to,
      'kept_until', v_restore.kept_until
    )
  );
  return row(
    v_restore.restore_id, v_restore.tenant_id, v_restore.requested_by, v_restore.requested_at,
    v_restore.ts_from, v_restore.ts_to, v_restore.query_dsl, v_restore.kept_until,
    v_restore.status, v_restore.parts, v_restore.parts_done, v_restore.records, v_restore.bytes,
    v_restore.finished_at, v_restore.error
  )::public.logloom_archive_restore;
end;
$$;

create function public.restore_log_archive(
  p_from text default null,
  p_to text default null,
  p_query_dsl text default null,
  p_keep_days integer default null,
  p_tenant_id text default null
)
returns public.logloom_archive_restore
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  perform logloom_private.resolve_tenant_to_change(p_tenant_id);
  perform logloom_private.require_parameter('p_from', p_from is null);
  perform logloom_private.require_parameter('p_to', p_to is null);
  return logloom_private.request_restore(
    p_from, p_to, p_query_dsl, coalesce(p_keep_days, 7), p_tenant_id
  );
end;
$$;

comment on function public.restore_log_archive(text, text, text, integer, text) is
  'Restores archived records from p_from (inclusive) to p_to (exclusive) for p_keep_days (default '
  '7). With p_query_dsl, only records that match it. For admins. list_log_archive_restores shows '
  'the progress. Records that still exist are not stored twice. Errors: PT400 (max_restored_days '
  'of the plan), PT401, PT403, PT404 (nothing is archived in the range).';
