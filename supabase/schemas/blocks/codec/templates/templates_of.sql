-- The templates of texts, of which none holds the separator.
create function logloom_private.templates_of(p_texts text[], p_separator text)
returns text[]
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  -- Stands for null: a character that none of them has.
  v_null text;
begin
  if array_position(p_texts, null) is not null then
    v_null := logloom_private.separator_for(array_to_string(p_texts, p_separator, p_separator));
  end if;
  -- Of one empty text string_to_array() makes none, and a longer marker may hold the separator.
  if p_texts = array[''] or length(v_null) > 1 then
    return array(select logloom_private.template_of(unnest(p_texts)));
  end if;
  -- All in one text: nine calls, not nine a text.
  return string_to_array(
    logloom_private.template_of(array_to_string(p_texts, p_separator, v_null)), p_separator, v_null
  );
end;
$$;
