-- Stores the requested records of a file as blocks, except records that still exist. Returns how
-- many it stored.
create function logloom_private.store_restored(
  p_part logloom.archive_parts,
  p_restore logloom.archive_restores,
  p_records jsonb
)
returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
set work_mem = '48MB'
as $$
declare
  v_query constant logloom_private.compiled_query :=
    logloom_private.compile_query(p_restore.query_dsl, p_restore.requested_at);
  v_span constant integer :=
    logloom_private.block_days(logloom_private.shared_retention_days(p_part.tenant_id));
  v_records logloom.logs[] := logloom_private.archived_records(p_part, p_records);
  v_there uuid[];
  v_from date;
  v_stored integer := 0;
begin
  v_there := array(
    select r.id
    from logloom_private.blocks c,
      logloom_private.block_records(c.tenant_id, c.block_id, null, array['id']) r
    where c.tenant_id = p_part.tenant_id and c.last_ts >= p_part.first_ts
      and c.first_ts <= p_part.last_ts
  );
  execute format(
    $query$
      select array_agg(l.record order by (l.record).ts, (l.record).id)
      from (
        select l as record
        from unnest($1) l
        left join unnest($2) t (id) on t.id = l.id
        where t.id is null and l.ts >= %L::timestamptz and l.ts < %L::timestamptz and (%s)
      ) l
      where not exists (
        select
        from logloom.logs h
        where h.tenant_id = %L and h.ts >= %L::timestamptz and h.ts <= %L::timestamptz
          and h.ts = (l.record).ts and h.id = (l.record).id
      )
    $query$,
    p_restore.ts_from, p_restore.ts_to, v_query.filter, p_part.tenant_id, p_part.first_ts,
    p_part.last_ts
  )
  into v_records
  using v_records, v_there;
  for v_from in
    select distinct logloom_private.span_start(logloom_private.utc_day(r.ts), v_span)
    from unnest(v_records) r
    order by 1
  loop
    v_stored := v_stored + (
      logloom_private.write_block(
        p_part.tenant_id,
        logloom_private.read_records(
          format(
            'select r.* from unnest($1) r where r.ts >= %L::timestamptz and r.ts < %L::timestamptz',
            logloom_private.day_start(v_from), logloom_private.day_start(v_from + v_span)
          ),
          v_records
        ),
        true
      )
    ).records;
  end loop;
  return v_stored;
end;
$$;

-- Ends a restore: done, or failed with the error. If it failed, the next retention deletes the
-- records that were already restored.
create function logloom_private.end_restore(p_restore_id uuid, p_error text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_restore logloom.archive_restores;
begin
  update logloom.archive_restores r
  set status = case when p_error is null then 'done' else 'failed' end,
    error = p_error, finished_at = clock_timestamp()
  where r.restore_id = p_restore_id
  returning * into v_restore;
  if p_error is not null then
    delete from logloom_private.kept_longer k where k.kept_id = p_restore_id;
  end if;
  insert into logloom.audit_events (tenant_id, actor, action, subject, details)
  values (
    v_restore.tenant_id, v_restore.requested_by, 'logs.restore_finished',
    p_restore_id::text,
    jsonb_strip_nulls(jsonb_build_object(
      'status', v_restore.status, 'records', v_restore.records, 'error', p_error
    ))
  );
end;
$$;
