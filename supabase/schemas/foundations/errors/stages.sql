-- The query language: stages, which follow a bar.
create function logloom_private.stages_errors()
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
      'Write count(), rate(), count_distinct(field), or sum, avg, min, max, p50, p95, p99 or p99.9 '
        'of an attribute. min and max also take ts. After it may follow: by field, field. Other '
        'stages are where, sort, limit, fields, json, logfmt, extract, extract_regexp, math and '
        'patterns.'
    ),
    e.explanation
  from (
    values
    ('stages.bracket_is_missing', 400, 'A bracket is missing after %s', 'Write | %1$s(…).', null),
    ('stages.or_is_a_word', 400, '|| is not an operator',
      'Write OR between two terms, in upper case. One | begins a stage, such as | count().', null),
    ('stages.comma_is_missing', 400, 'Nothing may follow %s here: %s',
      'Separate names by commas: service, host. A stage ends at the next | or at the end.', null),
    ('stages.field_is_unknown', 400, 'Unknown field %s', '%2$sThe fields are %3$s.', null),
    ('stages.width_is_a_bracket', 400, 'Unknown field %s',
      'A width of time is written (%2$s): | count() by (%2$s)', null),
    ('stages.aggregate_is_not_closed', 400, 'A closing bracket is missing', null, null),
    ('stages.width_is_not_closed', 400, 'A closing bracket is missing', 'Write by (5m), service.',
      null),
    ('stages.aggregate_is_missing', 400, 'An aggregate is missing after |', null, null),
    ('stages.aggregate_is_unknown', 400, 'Unknown aggregate %s', null, null),
    ('stages.takes_an_attribute', 400, '%s takes an attribute',
      'Write an attribute that holds numbers, such as @duration_ms.', null),
    ('stages.takes_no_field', 400, '%s takes no field',
      'Write %1$s(). count_distinct(user_id) counts different values.', null),
    ('stages.stage_is_unknown', 400, 'Unknown stage %s', null, null),
    ('stages.name_is_missing', 400, 'A name is missing after "as"',
      'A name is letters, digits and _: count() as n', null),
    ('stages.width_is_missing', 400, 'A width of time is missing after "by ("',
      'Write by (5m), with s, m, h, d or w.', null),
    ('stages.condition_is_missing', 400, 'A condition is missing after "if"',
      'Write count() if (level:error).', null),
    ('stages.math_needs_an_aggregate', 400, 'math needs an aggregate before it',
      'Write | count() if (level:error) as errors, count() as all | math errors / all as share',
      null),
    ('stages.math_ends_early', 400, 'A number is missing at the end',
      'math computes with numbers and with %2$s.', null),
    ('stages.math_result_is_unknown', 400, 'No number to compute with: %s',
      'math computes with numbers and with %2$s.', null),
    ('stages.math_needs_a_name', 400, '"as" is missing before %s',
      'Write math errors / all * 100 as share.', null),
    ('stages.extract_needs_a_pattern', 400, '%s needs a pattern in quotes',
      'Write extract "<method> <path>" from msg, or extract_regexp "took (?P<ms>[0-9]+)ms".', null),
    ('stages.extract_names_nothing', 400, 'The pattern of %s names nothing', 'Write %s %2$s', null),
    ('stages.extract_names_twice', 400, 'The pattern of %s gives two parts the same name',
      'Rename one of them.', null),
    ('stages.extract_name_is_wrong', 400, 'Invalid name between < and >: %s',
      'A name has at most 60 letters, digits and _, and begins with no digit. For a text that has '
        '< and >, use extract_regexp.', null),
    ('stages.extract_names_touch', 400, 'Two names have no text between them',
      'Write the text that separates them, such as "<method> <path>".', null),
    ('stages.two_widths', 400, '"by" has two widths of time', 'Leave one out.', null),
    ('stages.two_columns_of_one_name', 400, 'Two columns are called %s',
      'Leave one out, or name an aggregate: p95(@duration_ms) as slow', null),
    ('stages.too_many_aggregates', 400, 'More than 8 aggregates', 'Leave some out.', null),
    ('stages.too_many_fields', 400, 'More than 50 fields', 'Leave some out.', null),
    ('stages.sort_needs_by', 400, '"by" is missing after "sort"', 'Write | sort by count desc.',
      null),
    ('stages.sort_column_is_missing', 400, 'A name to sort by is missing', 'The columns are %2$s.',
      null),
    ('stages.sort_ts_is_missing', 400, 'A name to sort by is missing',
      'Write sort by ts or sort by ts desc.', null),
    ('stages.sort_column_is_unknown', 400, 'No column to sort by: %s', 'The columns are %2$s.',
      null),
    ('stages.records_are_sorted_by_ts', 400, 'Records are sorted by ts only',
      'Write sort by ts or sort by ts desc; an aggregate before it makes rows.', null),
    ('stages.where_is_empty', 400, 'A comparison is missing after "where"',
      'The numbers are %2$s. Write where %3$s > 10.', null),
    ('stages.where_column_is_unknown', 400, 'No number to compare: %s',
      'The numbers are %2$s. Write where %3$s > 10.', null),
    ('stages.comparison_is_missing', 400, 'A comparison is missing after %s',
      'Write >, >=, <, <=, = or != and a number.', null),
    ('stages.number_is_missing', 400, 'A number is missing after %s',
      'Write a number such as 10, -0.5 or 1e3.', null),
    ('stages.limit_is_out_of_range', 400, 'limit takes a whole number from 1 to 999999',
      'Write limit 10.', null),
    ('stages.any_is_for_filters', 400, 'any is only allowed in a filter',
      'Name a field, such as service or @status.', null),
    ('stages.order_is_wrong', 400, '%s is not allowed after %s',
      'The order is json, logfmt, extract and where, then an aggregate or patterns, then math and '
        'where, then sort and limit. Without an aggregate, sort, limit and fields follow where, '
        'each once.', null),
    ('stages.too_many', 400, 'The query has more than 10 stages', 'Join them, or leave some out.',
      null),
    ('stages.takes_a_text', 400, '%s takes a field that holds a text',
      'Write %s msg, or an attribute that holds a text.', null),
    ('stages.something_follows', 400, 'Nothing may follow %s here: %s',
      'A stage ends at the next | or at the end of the query.', null),
    ('stages.aggregate_needs_a_field', 400, '%s needs a field', null, null),
    ('stages.by_needs_a_field', 400, 'A field is missing after "by"', null, null),
    ('stages.fields_needs_a_field', 400, 'A field is missing after "fields"',
      'Write, for example: fields ts, msg, @status.', null),
    ('stages.needs_a_field', 400, '%s needs a field',
      'Write %s msg, or an attribute that holds a text.', null)
  ) e (name, status, message, hint, explanation);
end;
$$;
