-- What the words of a text have that holds a literal, in any letter case: SQL over the alias l of
-- words, which are words_of the text.
create function logloom_private.words_sql(p_literal text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_pieces constant text[] := logloom_private.cut_words(p_literal);
  v_tests text[] := '{}';
  v_piece text;
begin
  for v_at in 1..coalesce(cardinality(v_pieces), 0) loop
    v_piece := v_pieces[v_at];
    continue when v_piece = '';
    -- A word may begin before what the literal has of it, and end after it.
    if v_at > 1 then
      v_piece := ' ' || v_piece;
    end if;
    if v_at < cardinality(v_pieces) then
      v_piece := v_piece || ' ';
    end if;
    v_tests := v_tests || format('strpos(l.words, %L) > 0', v_piece);
  end loop;
  return case when v_tests = '{}' then 'true'
    else format('(l.words is null or %s)', array_to_string(v_tests, ' and ')) end;
end;
$$;
