-- level:error|warn: the term that is meant where the bar at p_position stands between values of
-- one field, or null.
create function logloom_private.query_meant_values(p_source text, p_position integer)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_term constant text[] := regexp_match(
    left(p_source, p_position - 1),
    '(?:^|[ (])(-?@?[[:alpha:]_][[:alnum:]_.@-]*):([[:alnum:]_.*-]+)$'
  );
  v_words constant text[] := string_to_array(
    substring(substr(p_source, p_position + 1) from '^[[:alnum:]_.*|-]+'), '|'
  );
  v_values text;
begin
  select string_agg(w.word, ' OR ' order by w.place) into v_values
  from unnest(v_words) with ordinality w (word, place)
  where w.place < coalesce(
    (
      select min(s.place)
      from unnest(v_words) with ordinality s (word, place)
      where s.word in ('', 'json', 'logfmt', 'fields', 'patterns')
        or logloom_private.query_meant_stage(array[s.word], '{}') is not null
    ),
    cardinality(v_words) + 1
  );
  return v_term[1] || ':(' || v_term[2] || ' OR ' || v_values || ')';
end;
$$;
