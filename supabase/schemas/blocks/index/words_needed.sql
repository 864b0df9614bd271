-- Texts that words_of a text holds, where it is not null, if the text holds a literal in any letter
-- case.
create function logloom_private.words_needed(p_literal text)
returns text[]
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_pieces constant text[] := logloom_private.cut_words(p_literal);
begin
  return array(
    -- A word may begin before what the literal has of it, and end after it.
    select case when p.n > 1 then ' ' else '' end || p.piece
      || case when p.n < cardinality(v_pieces) then ' ' else '' end
    from unnest(v_pieces) with ordinality p (piece, n)
    where p.piece <> ''
    order by p.n
  );
end;
$$;
