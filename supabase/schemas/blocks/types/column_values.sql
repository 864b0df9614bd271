create type logloom_private.column_values as (texts text[]);

comment on type logloom_private.column_values is
  'The values of a column, as an element of an array of columns.';
