-- Seam: when the last block was made; null where that is not known.
create function logloom_private.last_sealed()
returns timestamptz
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select c.sealed_at
    from logloom_private.blocks c
    order by c.block_id desc
    limit 1
  );
end;
$$;
