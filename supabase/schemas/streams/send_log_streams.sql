-- Returns the highest write sequence up to which all records are visible.
create function logloom_private.last_write_seq()
returns bigint
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (select coalesce(max(a.write_seq), 0) from logloom_private.log_writes a);
end;
$$;

-- Marks idle streams whose tenants have new visible records. Looks for all streams at once, so that
-- no stream has to look for itself.
create function logloom_private.note_new_writes()
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set jit = off
set enable_seqscan = off
as $$
declare
  v_interval constant interval := (select s.stream_interval from logloom_private.settings s);
  v_from bigint;
  v_to bigint;
  v_days timestamptz[];
begin
  if not exists (select from logloom.log_streams) then
    return;
  end if;
  update logloom.log_streams s
  set pending_since = now(), next_attempt_at = now() + v_interval
  where s.source = 'audit' and s.pending_since is null and s.enabled and s.paused_at is null
    and logloom_private.stream_end(s) >= s.position_seq;
  -- Locked until the end, so that no stream becomes idle meanwhile.
  select r.noted_through into v_from from logloom_private.stream_round r for update;
  v_to := logloom_private.last_write_seq();
  if v_to <= v_from then
    return;
  end if;
  select array_agg(distinct logloom_private.day_start(a.day)) into v_days
  from logloom_private.log_writes a
  where a.write_seq > v_from;
  -- The days are constants in the SQL, so PostgreSQL opens only partitions with new records.
  execute format(
    'update logloom.log_streams s set pending_since = now(), position_seq = '
      'greatest(s.position_seq, %1$s), position_id = case when s.position_seq >= %1$s '
      'then s.position_id end, next_attempt_at = now() + case when n.records >= s.batch_limit '
      'then interval ''0'' else %3$L::interval end '
      'from (select l.tenant_id, count(*) as records from logloom.logs l '
      'where l.write_seq between %1$s and %2$s and (%4$s) and l.tenant_id in ('
      'select t.tenant_id from logloom.log_streams t where t.pending_since is null '
      'and t.source = ''logs'') group by l.tenant_id) n '
      'where s.tenant_id = n.tenant_id and s.pending_since is null and s.enabled '
      'and s.source = ''logs'' and s.paused_at is null',
    v_from + 1, v_to, v_interval,
    (
      select string_agg(
        format('l.ts >= %L::timestamptz and l.ts < %L::timestamptz', d, d + interval '24 hours'),
        ' or '
      )
      from unnest(v_days) d
    )
  );
  update logloom_private.stream_round set noted_through = v_to where singleton;
end;
$$;

-- Wakes the edge function logloom-stream when a stream has something to send.
create function logloom_private.send_log_streams()
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform logloom_private.note_new_writes();
  if cardinality(logloom_private.next_streams(1)) > 0 then
    perform logloom_private.wake_function('logloom-stream');
  end if;
end;
$$;
