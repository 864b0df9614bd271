-- Where records are sharded already, this version's functions come into place with the same commit,
-- or with the migration that brings functions of these parameters.
do $$
begin
  if logloom_citus.is_sharded() and not exists (
    select from unnest(logloom_citus.seams()) s (seam)
    where to_regprocedure('logloom_private.' || s.seam) is null
  ) then
    perform logloom_citus.after_migration();
  end if;
end;
$$;
