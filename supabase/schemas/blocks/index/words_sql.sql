-- Whether a run may have what a leaf looks for: SQL over the alias l of words, its run_words.
create function logloom_private.words_sql(p_leaf jsonb)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return coalesce(
    '(l.words is null or ' || (
      select string_agg(
        format(
          'strpos(%s, %L) > 0',
          -- Words are stored with both small letters of a sigma.
          case when strpos(w.word, 'σ') > 0 then 'replace(l.words, ''ς'', ''σ'')'
            else 'l.words' end,
          w.word
        ),
        ' and ' order by w.n
      )
      from jsonb_array_elements_text(p_leaf -> 'template' -> 'words')
        with ordinality w (word, n)
    ) || ')',
    'true'
  );
end;
$$;
