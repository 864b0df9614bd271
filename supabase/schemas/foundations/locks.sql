-- The order in which to take several locks: deletion, errors, writer, partitions, log_counts.
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
  'lane',
  'errors',
  'audit',
  'files'
);

comment on type logloom_private.lock_name is
  'The advisory locks of Logloom, and what the holder does. deletion: seals or deletes records of '
  'past days. writer: adds records or moves the queue. partitions: creates or drops a day. '
  'log_counts: adds up or deletes counts. queue: enqueues (shared) or switches the slot '
  '(exclusive). notifications, streams, archive: claims work. Only one claim is made at a time, so '
  'that limits hold. Some locks have a second key, a hash of the lane or the tenant. lane: one '
  'worker in a lane. alerts: one evaluator of a tenant''s rules. delete_logs: one new deletion of '
  'a tenant at a time. members: one change of a tenant''s members at a time. notifications: one '
  'test or confirmation of a tenant''s address at a time. errors: counts errors in their groups. A '
  'deletion that subtracts errors takes it after its own. audit: links audit events. files: one '
  'change of a tenant''s files at a time.';

-- Returns the key of a lock, for pg_advisory_xact_lock and similar functions.
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

-- Limits how long the transaction waits for a lock. Returns the previous limit, for
-- restore_lock_wait. If an exception block fails, PostgreSQL restores the limit itself.
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

create function logloom_private.restore_lock_wait(p_before text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform set_config('lock_timeout', p_before, true);
end;
$$;

-- Returns true at once while the search is shorter than search_free_time. After that, waits until
-- no other search of the tenant holds the same scan slot. Called every few hundred records.
-- Parallel safe although it takes a lock: the leader shares its worker's lock, and takes the lock
-- again when the worker has ended.
create function logloom_private.take_scan_slot(
  p_scan text default current_setting('logloom.scan', true)
)
returns boolean
language plpgsql
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  -- p_scan is empty outside a search, because jobs have their own budgets.
  if coalesce(p_scan, '') = ''
    or extract(epoch from clock_timestamp()) < split_part(p_scan, ' ', 1)::numeric
  then
    return true;
  end if;
  -- The statement's timeout ends this wait.
  while not pg_try_advisory_xact_lock(split_part(p_scan, ' ', 2)::bigint) loop
    perform pg_sleep(0.005);
  end loop;
  return true;
end;
$$;
