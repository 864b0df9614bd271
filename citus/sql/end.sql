-- If records are already sharded, the functions of this version replace the core's in the same
-- transaction.
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
