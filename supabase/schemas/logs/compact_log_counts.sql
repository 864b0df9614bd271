-- Brings the index by write sequence of a day's partition up to date, for which autovacuum takes a
-- minute and more: what is not summarized is read by every live tail.
create function logloom_private.summarize_writes(p_day date)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set lock_timeout = '100ms'
as $$
begin
  perform brin_summarize_new_values(i.indexrelid)
  from pg_catalog.pg_index i
  join pg_catalog.pg_class c on c.oid = i.indexrelid
  join pg_catalog.pg_am a on a.oid = c.relam
  where a.amname = 'brin'
    and i.indrelid = to_regclass(format('logloom.%I', logloom_private.partition_name(p_day)));
exception when lock_not_available then
  -- Vacuum is at it, which does the same.
  null;
end;
$$;

-- Sums up the rows of minutes that changed, packs those of small tenants, and keeps the latest
-- write sequence of a day only: one step of a job.
create function logloom_private.compact_log_counts()
returns interval
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_settings logloom_private.settings;
  v_rows integer;
  v_arrived_days date[];
  v_days integer := 0;
begin
  if not pg_try_advisory_xact_lock(logloom_private.lock_key('log_counts')) then
    return null;
  end if;
  select s.* into v_settings from logloom_private.settings s;

  v_rows := logloom_private.sum_counts(v_settings.count_compact_rows);
  with superseded as (
    delete from logloom_private.log_writes a
    where exists (
      select from logloom_private.log_writes l where l.day = a.day and l.write_seq > a.write_seq
    )
    returning a.day
  )
  select array_agg(distinct s.day) into v_arrived_days from superseded s;
  perform logloom_private.summarize_writes(d.day) from unnest(v_arrived_days) d (day);
  if v_rows < v_settings.count_compact_rows then
    v_days := logloom_private.pack_log_counts();
  end if;
  return case
    when v_rows >= v_settings.count_compact_rows or v_days >= v_settings.count_pack_days
      then interval '0'
  end;
end;
$$;
