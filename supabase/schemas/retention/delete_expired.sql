create function logloom_private.note_deletion(
  p_tenant_id text,
  p_first_kept_day date,
  p_records bigint,
  p_partitions integer
)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  insert into logloom.retention_runs as r (
    tenant_id, kind, status, requested_by, ts_to, records, partitions
  )
  select
    t.tenant_id, 'retention', 'running', 'retention', logloom_private.day_start(p_first_kept_day),
    p_records, p_partitions
  from logloom.tenants t
  where t.tenant_id = p_tenant_id
  on conflict (tenant_id, ts_to) where kind = 'retention' and status = 'running' do update
  set records = r.records + excluded.records, partitions = r.partitions + excluded.partitions;
end;
$$;

revoke all on function logloom_private.note_deletion(text, date, bigint, integer)
from public;

comment on function logloom_private.note_deletion(text, date, bigint, integer) is
  'Adds to the tenant''s run of retention that is under way.';

create function logloom_private.forget_sealed_day(
  p_tenant_id text,
  p_day date,
  p_first_kept_day date
)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_from timestamptz;
  v_records bigint;
begin
  with gone as (
    delete from logloom_private.sealed_chunks c
    where c.tenant_id = p_tenant_id
      and c.last_ts >= logloom_private.day_start(p_day)
      and c.last_ts < logloom_private.day_start(p_day + 1)
    returning c.first_ts
  )
  select min(g.first_ts) into v_from from gone g;
  if v_from is null then
    return;
  end if;
  -- Without compact_log_counts no counts of these days come to be while they are forgotten.
  perform pg_advisory_xact_lock(logloom_private.lock_key('log_counts'));
  with forgotten as (
    delete from logloom_private.log_counts c
    where c.tenant_id = p_tenant_id
      and c.minute >= logloom_private.day_start(logloom_private.utc_day(v_from))
      and c.minute < logloom_private.day_start(p_day + 1)
    returning c.events
  )
  select coalesce(sum(f.events), 0) into v_records from forgotten f;
  perform logloom_private.note_deletion(p_tenant_id, p_first_kept_day, v_records, 0);
end;
$$;

revoke all on function logloom_private.forget_sealed_day(text, date, date) from public;

comment on function logloom_private.forget_sealed_day(text, date, date) is
  'Deletes the chunks whose last record is of a day that the tenant does not keep, and the counts '
  'of their days, of which no row is left. Until then nobody reads what in them is expired.';

create function logloom_private.delete_expired(p_tenant_id text, p_day date, p_today date)
returns integer
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_first_kept_day constant date := logloom_private.first_kept_day(p_tenant_id, p_today);
  v_rows text;
  v_last_ts timestamptz;
  v_last_id uuid;
  v_is_left boolean;
  v_deleted integer;
begin
  if p_day >= v_first_kept_day then
    return 0;
  end if;
  -- A page of keys, from the least on; constants, so that one partition is looked at.
  v_rows := logloom_private.tenant_rows_sql(
    p_tenant_id, logloom_private.day_start(p_day), logloom_private.day_start(p_day + 1), 'true',
    p_expired => true
  );
  execute format(
    'select p.ts, p.id from (select l.ts, l.id %s order by l.ts, l.id limit %s) p
     order by p.ts desc, p.id desc limit 1',
    v_rows, (select s.deletion_step_records from logloom_private.settings s)
  )
  into v_last_ts, v_last_id;
  if v_last_ts is null then
    -- Without the writer, which notes a day only where it is not noted yet.
    perform pg_advisory_xact_lock(logloom_private.lock_key('writer'));
    execute format('select exists (select %s)', v_rows) into v_is_left;
    if not v_is_left then
      perform logloom_private.forget_sealed_day(p_tenant_id, p_day, v_first_kept_day);
      delete from logloom_private.log_days d where d.tenant_id = p_tenant_id and d.day = p_day;
    end if;
    return 0;
  end if;
  execute logloom_private.removed_records_sql(format(
    'delete %s and l.ts <= %L::timestamptz and (l.ts, l.id) <= (%L::timestamptz, %L::uuid)',
    v_rows, v_last_ts, v_last_ts, v_last_id
  ))
  into v_deleted;
  if v_deleted > 0 then
    perform logloom_private.note_deletion(p_tenant_id, v_first_kept_day, v_deleted, 0);
  end if;
  return v_deleted;
end;
$$;

revoke all on function logloom_private.delete_expired(text, date, date) from public;

comment on function logloom_private.delete_expired(text, date, date) is
  'Deletes some records of a day that the tenant does not keep. How many; 0 when none is left.';
