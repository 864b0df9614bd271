-- PT408.
create function logloom_private.refuse_slow_search()
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  perform logloom_private.refuse('search.took_too_long');
end;
$$;

grant execute on function logloom_private.refuse_slow_search()
to authenticated, service_role;

-- PT504, where records are spread and the node that has these does not answer: at a 503 PostgREST
-- would connect anew and read its schema again, for everybody. What the node said has its address
-- and is not for tenants.
create function logloom_private.refuse_search_away()
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  perform logloom_private.refuse_for_now(5, 'search.records_are_away');
end;
$$;

grant execute on function logloom_private.refuse_search_away()
to authenticated, service_role;

-- For who reads and met an error of the class XX000, in its handler, which then calls itself.
-- Whether a reading that failed is worth a second try: Citus moved or split the shard between plan
-- and execution, and has its new place by then. PT504 where the second met it again.
create function logloom_private.reads_again(p_error text)
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_setting constant text := 'logloom.reads_again';
begin
  if p_error not like 'could not find valid entry for shard%' then
    return false;
  elsif current_setting(v_setting, true) = 'yes' then
    perform logloom_private.refuse_search_away();
  end if;
  perform set_config(v_setting, 'yes', true);
  return true;
end;
$$;

grant execute on function logloom_private.reads_again(text)
to authenticated, service_role;
