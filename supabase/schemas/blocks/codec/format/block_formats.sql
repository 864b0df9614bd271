-- Lists the formats of blocks that this version can read, ascending. New blocks get the last one. A
-- release that changes tables/blocks.sql adds a number, reads the old and the new format, and
-- recreates blocks_older_format_idx. rewrite_step then converts the older blocks.
create function logloom_private.block_formats()
returns smallint[]
language sql
immutable
parallel safe
return '{1}'::smallint[];

-- True if this version can read a format; raises an error otherwise. Every reader of blocks calls
-- this function for each block.
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
