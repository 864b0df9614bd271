-- Who takes several takes them in this order: deletion, writer, partitions, log_counts.
create type logloom_private.lock_name as enum (
  'deletion',
  'writer',
  'partitions',
  'log_counts',
  'queue',
  'alerts',
  'delete_logs',
  'members',
  'notifications',
  'streams',
  'archive',
  'lane'
);

comment on type logloom_private.lock_name is
  'The advisory locks of Logloom. deletion: one that seals or deletes records of days that are '
  'over. writer: whoever adds records or moves the queue. partitions: whoever makes or drops a '
  'day. log_counts: whoever sums up or forgets counts. queue: shared by enqueues, exclusive for '
  'the flip. notifications and streams: one claim at a time, so that a limit holds. '
  'archive: one claim of its work at a time. With a hash of a lane as '
  'second key: lane, one worker. With a tenant''s hash as second key: alerts, one evaluator of its '
  'rules; delete_logs, one order of a deletion at a time; members, one change of who belongs to '
  'it; notifications, one test or confirmation of an address.';

-- The key of a lock for pg_advisory_xact_lock and its like.
create function logloom_private.lock_key(p_name logloom_private.lock_name)
returns integer
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return hashtext('logloom:' || p_name::text);
end;
$$;

-- From now on the transaction waits for a lock no longer than p_wait. Returns the limit that it
-- had, for restore_lock_wait. A block that fails restores it by itself.
create function logloom_private.limit_lock_wait(p_wait interval)
returns text
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_before constant text := current_setting('lock_timeout');
begin
  perform set_config('lock_timeout', extract(epoch from p_wait) * 1000 || 'ms', true);
  return v_before;
end;
$$;

-- Puts back what limit_lock_wait returned.
create function logloom_private.restore_lock_wait(p_before text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform set_config('lock_timeout', p_before, true);
end;
$$;
