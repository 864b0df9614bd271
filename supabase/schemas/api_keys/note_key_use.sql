-- Records that a key is used, once a minute.
create function logloom_private.note_key_use(p_key logloom.api_keys)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_key.last_used_at >= date_trunc('minute', now()) then
    return;
  end if;
  -- Skips a locked row: requests must not wait for the lock, and a later request records the use.
  update logloom.api_keys k
  set last_used_at = now()
  where k.key_id = (
    select u.key_id
    from logloom.api_keys u
    where u.key_id = p_key.key_id
    for no key update skip locked
  );
end;
$$;
