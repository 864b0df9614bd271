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
