-- Ends a pass, which has no records left: its days are archived. The tenant's next one begins.
create function logloom_private.end_archive_pass(p_pass logloom_private.archive_passes)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into logloom_private.archived_days as a (tenant_id, day, write_seq)
  select p_pass.tenant_id, p_pass.first_day + d.n, p_pass.write_seq
  from generate_series(0, p_pass.last_day - p_pass.first_day) d (n)
  on conflict (tenant_id, day) do update
  set write_seq = greatest(a.write_seq, excluded.write_seq);
  delete from logloom_private.archive_passes p where p.tenant_id = p_pass.tenant_id;
  if p_pass.tenant_id in (select a from logloom_private.tenants_to_archive() a) then
    perform logloom_private.plan_archive_pass(p_pass.tenant_id, now());
  end if;
end;
$$;

-- The tenants whose plan has an archive.
create function logloom_private.tenants_to_archive()
returns setof text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select t.tenant_id
  from logloom.tenants t
  join logloom.plans p on p.plan_id = t.plan_id
  where p.archive_days > 0
    and not exists (
      select
      from logloom_private.tenant_deletions d
      where d.tenant_id = t.tenant_id and d.finished_at is null
    );
end;
$$;
