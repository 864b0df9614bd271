-- LL001 where a block is not what was stored: what is made of it would replace it.
create function logloom_private.require_intact(p_block logloom_private.blocks)
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  perform logloom_private.can_read(p_block.format);
  if not logloom_private.block_is_intact(p_block) then
    raise sqlstate 'LL001' using
      message = format('Block %s is damaged: its checksum differs', p_block.block_id);
  end if;
end;
$$;
