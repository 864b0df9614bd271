-- Counts the errors of a source and fires the rules that watch for them. p_source: as for
-- grouped_errors.
create function logloom_private.count_error_source(p_source text, p_now timestamptz)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform logloom_private.fire_error_rules(
    logloom_private.count_errors(logloom_private.grouped_errors(p_source), p_now), p_now
  );
end;
$$;

-- Runs a step of the job group_errors. Counts the errors since the last step in their groups, and
-- fires rules for new and regressed groups. Follows the writer by write sequence, so late records
-- are counted once, too.
create function logloom_private.group_errors_at(p_now timestamptz)
returns interval
language plpgsql
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
set datestyle = 'ISO'
set enable_seqscan = off
as $$
declare
  v_progress logloom_private.error_progress;
  v_to bigint;
  v_end bigint;
  v_range tstzrange;
  v_source text;
  v_tenant_id text;
begin
  -- A deletion waits for this lock, so that it knows which records are counted.
  if not pg_try_advisory_xact_lock(logloom_private.lock_key('errors')) then
    return interval '1 second';
  end if;
  select p.* into v_progress from logloom_private.error_progress p;
  select
    max(w.write_seq),
    tstzrange(logloom_private.day_start(min(w.day)), logloom_private.day_start(max(w.day) + 1))
  into v_to, v_range
  from logloom_private.log_writes w
  where w.write_seq > v_progress.write_seq;
  if v_to is null then
    return null;
  end if;
  v_end := logloom_private.error_step_end(v_progress.write_seq, v_to, v_range);
  v_source := format(
    'select l.* from logloom.logs l where l.write_seq > %s and l.write_seq <= %s '
      'and l.ts >= %L::timestamptz and l.ts < %L::timestamptz and l.level = ''error''',
    v_progress.write_seq, v_end, lower(v_range), upper(v_range)
  );
  begin
    perform logloom_private.count_error_source(v_source, p_now);
  exception
    when lock_not_available or disk_full or query_canceled then
      raise;
    when others then
      -- Counts one tenant at a time, so that a failure stops only one tenant.
      for v_tenant_id in
        execute 'select distinct s.tenant_id from (' || v_source || ') s order by 1'
      loop
        begin
          perform logloom_private.count_error_source(
            v_source || format(' and l.tenant_id = %L', v_tenant_id), p_now
          );
        exception
          when lock_not_available or disk_full or query_canceled then
            raise;
          when others then
            perform logloom_private.record_job_error('group_errors', sqlstate, sqlerrm);
        end;
      end loop;
  end;
  update logloom_private.error_progress p set write_seq = v_end where p.singleton;
  return case when v_end < v_to then interval '0' end;
end;
$$;

create function logloom_private.group_errors()
returns interval
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  return logloom_private.group_errors_at(clock_timestamp());
end;
$$;

-- Subtracts, from the counts of groups, the records that a deletion is about to remove. A group
-- whose records are all gone loses its title and its users. p_source: SQL of a select with the
-- columns of logloom.logs.
create function logloom_private.uncount_errors(p_tenant_id text, p_source text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_progress logloom_private.error_progress;
  v_arrivals logloom_private.error_arrival[];
begin
  perform pg_advisory_xact_lock(logloom_private.lock_key('errors'));
  if not exists (select from logloom.error_groups g where g.tenant_id = p_tenant_id) then
    return;
  end if;
  select p.* into v_progress from logloom_private.error_progress p;
  v_arrivals := logloom_private.grouped_errors(format(
    'select e.* from (%s) e where e.level = ''error'' and e.write_seq > %s and e.write_seq <= %s',
    p_source, v_progress.counted_from, v_progress.write_seq
  ));
  v_arrivals := array(
    select row(
      a.tenant_id, coalesce(g.merged_into, g.fingerprint, 'others'), null, null, null, a.hour, null,
      a.records, null, null, null, null, null
    )::logloom_private.error_arrival
    from unnest(v_arrivals) a
    left join logloom.error_groups g
      on g.tenant_id = a.tenant_id and g.fingerprint = a.fingerprint
  );
  perform logloom_private.change_error_counts(v_arrivals, -1, now());
  update logloom.error_groups g
  set records = greatest(g.records - s.records, 0)
  from (
    select a.fingerprint, sum(a.records) as records from unnest(v_arrivals) a group by 1
  ) s
  where g.tenant_id = p_tenant_id and g.fingerprint = s.fingerprint;
  perform logloom_private.forget_gone_errors(
    p_tenant_id, array(select distinct a.fingerprint from unnest(v_arrivals) a)
  );
end;
$$;

-- Removes title and users of groups whose records are all expired or deleted.
create function logloom_private.forget_gone_errors(
  p_tenant_id text,
  p_fingerprints text[] default null
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  update logloom.error_groups g
  set title = null, users = '{}'
  where g.tenant_id = p_tenant_id and g.title is not null and g.fingerprint <> 'others'
    and (p_fingerprints is null or g.fingerprint = any (p_fingerprints))
    and g.merged_into is null
    and not exists (
      select
      from logloom_private.error_counts c
      where c.tenant_id = g.tenant_id and c.fingerprint = g.fingerprint and c.is_day
        and c.records > 0
        and c.at >= date_trunc('day', logloom_private.kept_from(p_tenant_id), 'UTC')
    );
end;
$$;

-- Resolves groups not seen for 14 days. Removes title and users of groups without records.
create function logloom_private.resolve_quiet_errors(p_now timestamptz)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_quiet record;
begin
  for v_quiet in
    with quiet as (
      update logloom.error_groups g
      set state = 'resolved', resolved_at = p_now, is_regressed = false
      where g.state = 'open' and g.merged_into is null and g.fingerprint <> 'others'
        and greatest(g.last_seen, g.opened_at) < p_now - interval '14 days'
      returning g.tenant_id, g.fingerprint
    )
    select q.tenant_id, array_agg(q.fingerprint) as fingerprints from quiet q group by 1
  loop
    perform logloom_private.end_error_incidents(v_quiet.tenant_id, v_quiet.fingerprints, p_now);
  end loop;
  perform logloom_private.forget_gone_errors(t.tenant_id)
  from (
    select distinct g.tenant_id
    from logloom.error_groups g
    where g.title is not null and g.last_seen < p_now - interval '1 day'
  ) t;
end;
$$;
