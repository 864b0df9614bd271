-- How many records the next piece has, by what the last one took: some 20 to 80 ms.
create function logloom_private.next_piece_size(p_records integer, p_milliseconds double precision)
returns integer
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return case
    when p_milliseconds < 20 then least(p_records * 4, 4096)
    when p_milliseconds > 80 then greatest(p_records / 4, 1)
    else p_records
  end;
end;
$$;
