-- Adds an object to the list of objects to delete.
create function logloom_private.discard_object(
  p_tenant_id text,
  p_object_key text,
  p_reason text
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into logloom_private.archive_garbage (tenant_id, object_key, reason)
  values (p_tenant_id, p_object_key, p_reason)
  on conflict (object_key) do nothing;
end;
$$;

-- Returns the keys of the next objects to delete.
create function logloom_private.due_garbage()
returns text[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return array(
    select g.object_key
    from logloom_private.archive_garbage g
    where g.next_attempt_at <= clock_timestamp()
    order by g.next_attempt_at, g.object_key
    limit 50
  );
end;
$$;

-- Postpones objects that the bucket did not delete, for example because of a hold. The delay grows
-- with the time that the object has been in the list.
create function logloom_private.put_off_garbage(p_keys text[])
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now constant timestamptz := clock_timestamp();
begin
  update logloom_private.archive_garbage g
  set next_attempt_at =
    v_now + least(greatest(v_now - g.noted_at, interval '1 minute'), interval '1 hour')
  where g.object_key = any (p_keys);
end;
$$;
