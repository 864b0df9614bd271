-- What holds the word holds its text.
create function logloom_private.word_template(p_values jsonb)
returns jsonb
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return logloom_private.contains_template(p_values) || '{"decides": false}';
end;
$$;
