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
