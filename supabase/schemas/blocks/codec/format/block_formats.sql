-- The formats of blocks that this version reads, ascending; it writes the last one. A release that
-- changes what tables/blocks.sql says adds a number, reads both, and makes
-- blocks_older_format_idx anew; rewrite_step brings older blocks to it.
create function logloom_private.block_formats()
returns smallint[]
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return '{1}';
end;
$$;

-- True: this version reads blocks of the format. What reads blocks asks it of each.
create function logloom_private.can_read(p_format smallint)
returns boolean
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_format = any(logloom_private.block_formats()) then
    return true;
  end if;
  perform logloom_private.refuse('search.block_format_is_unknown', p_format::text);
  return false;
end;
$$;
