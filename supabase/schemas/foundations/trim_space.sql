-- The text without white space at its ends.
create function logloom_private.trim_space(p_text text)
returns text
language sql
immutable
return regexp_replace(p_text, '^[[:space:]]+|[[:space:]]+$', '', 'g');
