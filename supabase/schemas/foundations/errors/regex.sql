-- The query language: regular expressions.
create function logloom_private.regex_errors()
returns setof logloom_private.error
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select
    e.name, e.status, e.message,
    coalesce(
      e.hint,
      'Allowed are literals, classes (also [:alpha:] …), groups, alternatives, * + ? and {m,n} up '
        'to 100 (also lazy). Also . \d \w \s \D \W \S \b \n \t \r, ^ and $, (?i) at the start, and '
        'a backslash before punctuation.'
    ),
    e.explanation
  from (
    values
    ('regex.bracket_closes_nothing', 400, 'Regular expression: ) has no opening bracket', null,
      null),
    ('regex.bracket_in_class', 400, 'Regular expression: [ inside a class is written \[', null,
      null),
    ('regex.class_is_empty', 400, 'Regular expression: a class is empty', null, null),
    ('regex.class_is_not_closed', 400, 'Regular expression: a class is not closed', null, null),
    ('regex.group_is_not_closed', 400, 'Regular expression: a group is not closed', null, null),
    ('regex.range_ends_in_no_character', 400,
      'Regular expression: a range in a class must end with a character', null, null),
    ('regex.range_runs_backwards', 400, 'Regular expression: a range of a class runs backwards',
      null, null),
    ('regex.repeat_is_out_of_range', 400,
      'Regular expression: a repeat is {m}, {m,} or {m,n} up to 100', null, null),
    ('regex.has_a_back_reference', 400, 'Regular expression: back-references are not allowed', null,
      null),
    ('regex.lazy_repeat_in_extract', 400,
      'Regular expression: extract_regexp takes no lazy repeat %s',
      'Write [^ ]* for a text up to a space.', null),
    ('regex.too_long', 400, 'Regular expression: it is longer than 256 characters', null, null),
    ('regex.has_lookaround', 400,
      'Regular expression: lookaround and options are not allowed; (?i) must be at the start', null,
      null),
    ('regex.repeat_runs_backwards', 400, 'Regular expression: the bounds of a repeat run backwards',
      null, null),
    ('regex.not_for_classes', 400, 'Regular expression: %s is not allowed in a class', null, null),
    ('regex.nothing_to_repeat', 400, 'Regular expression: %s has nothing to repeat', null, null),
    ('regex.not_an_escape', 400, 'Regular expression: %s is not an escape', null, null),
    ('regex.too_complex', 400,
      'Regular expression: it is too complex: its characters and their repeats come to more than '
        '1000', null, null),
    ('regex.all_are_too_complex', 400,
      'Regular expression: it is too complex: the characters and repeats of all regexes in the '
        'query come to more than 2000', null, null),
    ('regex.no_such_class', 400, 'Regular expression: %s is not a class of characters', null, null)
  ) e (name, status, message, hint, explanation);
end;
$$;
