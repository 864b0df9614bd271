-- The words of a text, each once, between blanks. Null where they are more than a quarter of the
-- text.
create function logloom_private.words_of(p_text text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_words constant text := (
    select ' ' || string_agg(w.word, ' ' order by w.word collate "C") || ' '
    -- Grouped before they are sorted: few are different.
    from (
      select x.word
      from (
        -- What stands between blanks, each once, is a fifth of the text: less to cut.
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
