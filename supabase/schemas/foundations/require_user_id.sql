-- The user of the request, where an operation cannot do without one. PT401 without the claim sub.
create function logloom_private.require_user_id()
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_user_id constant text := logloom_private.current_user_id();
begin
  if v_user_id is null or v_user_id !~ '[^[:space:]]' then
    perform logloom_private.refuse('callers.user_is_missing');
  end if;
  return v_user_id;
end;
$$;
