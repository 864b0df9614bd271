-- Takes the first of the owner's slots that is free, until the transaction's end, and gives its
-- number; null where none is.
create function logloom_private.free_search_slot(p_owner text, p_slots integer)
returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  for v_slot in 1..p_slots loop
    if pg_try_advisory_xact_lock(logloom_private.search_slot_key(p_owner, v_slot)) then
      return v_slot;
    end if;
  end loop;
  return null;
end;
$$;
