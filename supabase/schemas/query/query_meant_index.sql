-- attrs["x"]:1, attrs["x"] >= 1: the term that is meant where the bracket is at p_at, or null.
create function logloom_private.query_meant_index(p_texts text[], p_at integer)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_name constant text := '@' || btrim(logloom_private.query_text(p_texts[p_at + 1]), '''');
  v_value constant text := p_texts[p_at + 3];
begin
  if p_texts[p_at - 1] !~ '^@?attrs$' or p_texts[p_at + 2] is distinct from ']'
    or v_name !~ '^@[[:alpha:]_][[:alnum:]_.@-]*$'
  then
    return null;
  elsif left(v_value, 1) = ':' then
    return v_name || v_value || case v_value when ':' then left(p_texts[p_at + 4], 60) else '' end;
  end if;
  return coalesce(
    logloom_private.query_meant_words(v_name || p_texts[p_at + 3:], 1),
    logloom_private.query_meant_comparison(v_name || v_value),
    v_name || ':*'
  );
end;
$$;
