-- A text to join others by: p_text, which is all of them, does not hold it, and it does not overlap
-- itself.
create function logloom_private.separator_for(p_text text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_separator text;
begin
  for v_code in reverse 31..1 loop
    v_separator := chr(v_code);
    continue when v_code between 9 and 13;
    if strpos(p_text, v_separator) = 0 then
      return v_separator;
    end if;
  end loop;
  -- Longer and longer ones: a text of n characters cannot hold all of them.
  v_separator := chr(30);
  loop
    v_separator := v_separator || chr(29);
    if strpos(p_text, v_separator) = 0 then
      return v_separator;
    end if;
  end loop;
end;
$$;
