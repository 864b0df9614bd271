-- Seam: returns the bytes of a relation with its indexes.
create function logloom_private.relation_bytes(p_relation regclass)
returns bigint
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return pg_total_relation_size(p_relation);
end;
$$;

-- Returns the stored bytes, and the bytes of Logloom's other tables. For blocks, counts the content
-- instead of the files: neither DELETE nor VACUUM shortens files, so days would be dropped until
-- none is left. Without p_with_rest, returns only the stored bytes, for a tenth of the work.
create function logloom_private.measure_storage(
  p_with_rest boolean,
  out bytes bigint,
  out reusable_bytes bigint
)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  -- Indexes, pages and TOAST add to blocks.bytes: the total is 1.08 times as large with 32,000
  -- records in a block, and 1.31 times with a hundred.
  v_factor constant numeric := 1.2;
  v_sealed constant bigint := (
    select coalesce(sum(c.bytes), 0) * v_factor from logloom_private.blocks c
  );
begin
  select
    coalesce(
      sum(b.bytes) filter (
        where i.inhparent in ('logloom.logs'::regclass, 'logloom_private.queue'::regclass)
      ),
      0
    ) + v_sealed,
    case when p_with_rest then sum(b.bytes) end
  into bytes, reusable_bytes
  from pg_catalog.pg_class c
  left join pg_catalog.pg_inherits i on i.inhrelid = c.oid
  cross join logloom_private.relation_bytes(c.oid) b (bytes)
  where c.relnamespace in ('logloom'::regnamespace, 'logloom_private'::regnamespace)
    and c.relkind = 'r'
    and (
      p_with_rest
      or i.inhparent in ('logloom.logs'::regclass, 'logloom_private.queue'::regclass)
    );
  reusable_bytes := reusable_bytes - least(bytes, reusable_bytes);
end;
$$;
