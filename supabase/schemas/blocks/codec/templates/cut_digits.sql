-- The digits of texts, four bits each. p_joined: for each template its texts, joined by
-- p_separator.
create function logloom_private.cut_digits(p_templates text[], p_joined text[], p_separator text)
returns bytea
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_parts text[] := p_joined;
  v_text text;
  v_piece text;
  v_template text;
  v_group integer := 0;
begin
  foreach v_template in array p_templates loop
    v_group := v_group + 1;
    if strpos(v_template, '0') = 0 then
      v_parts[v_group] := '';
      continue;
    end if;
    v_text := v_parts[v_group];
    -- One text alone, or a template of many pieces: all that is no digit at once.
    if octet_length(v_text) < 2 * octet_length(v_template) or length(v_template) > 2000 then
      v_parts[v_group] := regexp_replace(v_text, '[^0-9]+', '', 'g');
      continue;
    end if;
    -- All that stands between digits, the longest first where one piece holds another: else some
    -- of it is left, and the slow way finishes.
    foreach v_piece in array
      string_to_array(
        replace(replace(replace(v_template, '0000', '0'), '000', '0'), '00', '0'), '0'
      )
    loop
      if v_piece <> '' then
        v_text := replace(v_text, v_piece, '');
      end if;
    end loop;
    v_text := replace(v_text, p_separator, '');
    if v_text ~ '[^0-9]' then
      v_text := regexp_replace(v_text, '[^0-9]+', '', 'g');
    end if;
    v_parts[v_group] := v_text;
  end loop;
  v_text := array_to_string(v_parts, '');
  return decode(v_text || case when length(v_text) % 2 = 1 then '0' else '' end, 'hex');
end;
$$;
