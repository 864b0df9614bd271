-- The text without white space at its ends.
create function logloom_private.trim_space(p_text text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return regexp_replace(p_text, '^[[:space:]]+|[[:space:]]+$', '', 'g');
end;
$$;
