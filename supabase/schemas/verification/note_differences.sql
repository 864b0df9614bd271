-- Keeps what a step of a verification found: all of it is counted, a thousand are kept.
create function logloom_private.note_differences(
  p_verification_id bigint,
  p_tenant_id text,
  p_day date,
  p_block_id bigint,
  p_kinds text[],
  p_details text[]
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  update logloom_private.verifications v
  set differences = v.differences + cardinality(p_details)
  where v.verification_id = p_verification_id;
  insert into logloom_private.verification_differences (
    verification_id, kind, tenant_id, day, block_id, detail
  )
  select p_verification_id, u.kind, p_tenant_id, p_day, p_block_id, left(u.detail, 1000)
  from unnest(p_kinds, p_details) u (kind, detail)
  where (
    select count(*)
    from logloom_private.verification_differences d
    where d.verification_id = p_verification_id
  ) < 1000;
end;
$$;
