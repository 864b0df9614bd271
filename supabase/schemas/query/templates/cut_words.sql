-- A text in lower case, cut at all that stands in ASCII beside letters; an end is empty where it is
-- cut there. Digits cut, too: a template's ids have few letters that follow one another.
create function logloom_private.cut_words(p_text text)
returns text[]
language sql
immutable
return regexp_split_to_array(
  lower(p_text collate pg_c_utf8) collate "C", '[\u0001-@[-`{-\u007f]+'
);
