-- The query compiler: text -> tokens -> checked tree -> SQL over one alias of logloom.logs.
--
-- The tree is jsonb. A node is one of:
--   {"type": "all"}, {"type": "none"}, {"type": "not", "item": node},
--   {"type": "and" | "or", "items": [node, …]},
--   {"type": "leaf", "field": …, "name": as written, "test": …, …}
-- query_leaf makes a leaf. Some of its members:
--   field       a field. "any" means every text of the record: its text columns
--               (query_text_columns) and the scalars of its attributes at any depth.
--   path        only if the field is attrs (query_field); likewise joined
--   test        the name of a test. Its file in query/tests describes values or bounds, and builds
--               SQL. query/templates and blocks/scan say how blocks answer the test.
--   folds_case  true: compare with folded_text
--   hidden      fields that a leaf over any skips
-- A leaf is never true for a field without a value.
--
-- A caller's text reaches the SQL only through quote_literal. No record makes an expression fail.
-- No role may call these functions. Only functions of the owner do.

-- The parser's state. Every rule of the grammar takes and returns one.
--   texts       the tokens as written, without white space; the last one is the empty text at the
--               end
--   positions   where each token begins (1-based, code points)
--   at          the current token
--   depth       brackets and NOTs around the current token
--   leaves      how much of a limit is used; likewise searched and steps
--   now         the time that "now" in the query means
--   names_now   true if the query uses "now"
--   warnings    [{position, message, suggestion}]
--   node        the last result
create type logloom_private.query_state as (
  texts text[],
  positions integer[],
  "at" integer,
  depth integer,
  leaves integer,
  searched integer,
  steps integer,
  "now" timestamptz,
  names_now boolean,
  warnings jsonb,
  node jsonb
);

-- The time span [starts, ends) of a literal: a microsecond for an instant, a UTC day for a date.
-- names_now: true if it is relative to now.
create type logloom_private.query_span as (
  starts timestamptz,
  ends timestamptz,
  names_now boolean
);

-- A comparison or a range, as written. A null token means no bound.
create type logloom_private.query_range as (
  lower_token text,
  lower_position integer,
  lower_open boolean,
  upper_token text,
  upper_position integer,
  upper_open boolean
);

-- A query as SQL over the alias l of logloom.logs.
--   blank            true if it has only white space
--   tree             the filter as a tree
--   filter           the filter as a boolean SQL expression (null until built)
--   ts_from, ts_to   the range of ts that every match lies in, ts_to excluded
--   aggregate        the name of the first aggregate, or null
--   aggregate_field  its field as written
--   aggregate_sql    its SQL, of type double precision; for rate the count, which the caller
--                    divides by the minutes of its range
--   by_fields        the fields to group by, as written; empty without "by"
--   by_sql           the fields to group by, as expressions
--   names_now        true if the query is relative to now
--   plan             the stages after the filter, {} for none (parse_stage.sql)
--   warnings         [{position, message, suggestion}]
--   steps            the steps of compiling
--   hidden_fields    fields that the reader does not get; null: none
create type logloom_private.compiled_query as (
  blank boolean,
  tree jsonb,
  filter text,
  ts_from timestamptz,
  ts_to timestamptz,
  aggregate text,
  aggregate_field text,
  aggregate_sql text,
  by_fields text[],
  by_sql text[],
  names_now boolean,
  plan jsonb,
  warnings jsonb,
  steps integer,
  hidden_fields text[]
);

-- The source of a select: the SQL after "from" (mostly with the alias l), "where" and "order by",
-- and the number after "limit". The SQL after "order by" and the number may be null. source_sql
-- builds the whole SQL.
create type logloom_private.sql_source as (
  from_sql text,
  where_sql text,
  order_sql text,
  max_rows bigint
);

create type logloom_private.translation as (
  texts text[],
  glued boolean[],
  "at" integer,
  depth integer,
  meant text,
  terms text,
  stages text,
  counts text[],
  keys text[],
  width text,
  columns text[],
  evals text[],
  extracted text[],
  rest text,
  said text[],
  left_out text[]
);

comment on type logloom_private.translation is
  'A query of another language while it is translated. texts: its tokens, "" at the end. glued: '
  'no white space before the token. at: the token to read next. meant: what was read last. terms, '
  'stages, counts, keys, width, columns, rest: the parts of the translation. evals: name and '
  'formula, in turn. extracted: names that a stage takes out of a text. said: words that the '
  'translation says in another way. left_out: what has no translation.';
