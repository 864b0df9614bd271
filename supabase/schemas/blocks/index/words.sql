-- Returns the words of a text, each once, between blanks. Null if they take more than a quarter of
-- the text.
create function logloom_private.words_of(p_text text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_words constant text := (
    select ' ' || string_agg(w.word, ' ' order by w.word collate "C") || ' '
    -- Groups before it sorts, because most words repeat.
    from (
      select x.word
      from (
        -- Removes repeated tokens before it cuts words: about a fifth of the text is left.
        select unnest(logloom_private.cut_words(
          (
            select string_agg(t.token, ' ')
            from (
              select b.token
              from (select unnest(string_to_array(p_text, ' ')) as token) b
              group by b.token
            ) t
          )
        )) as word
      ) x
      where x.word <> ''
      group by x.word
    ) w
  );
begin
  return case
    when v_words is null then ''
    when octet_length(v_words) * 4 <= octet_length(p_text) then v_words
  end;
end;
$$;

-- Builds SQL that tells whether a run may contain a match of the leaf. l.words is the run's
-- run_words.
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
          -- Stored words have both small forms of sigma.
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
