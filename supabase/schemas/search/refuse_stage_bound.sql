-- PT400: a stage would need more records or groups than it may.
create function logloom_private.refuse_stage_bound(p_stage text, p_bound integer, p_what text)
returns boolean
language plpgsql
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  perform logloom_private.refuse('search.stage_met_its_bound', p_stage, p_bound::text, p_what);
  return null;
end;
$$;
