-- The query compiler: text -> tokens -> checked tree -> SQL over one alias of logloom.logs.
--
-- The tree is jsonb. A node is one of
--   {"type": "all"}, {"type": "none"}, {"type": "not", "item": node},
--   {"type": "and" | "or", "items": [node, …]},
--   {"type": "leaf", "field": …, "name": as written, "test": …, …}, with "path" and "joined" where
--   the field is attrs. The field any means every text of the record: its text columns
--   (logloom_private.query_text_columns) and the scalars of its attributes at any depth.
-- A leaf is a record that logloom_private.query_leaf makes once. The tests, what they compare with
-- (values or bounds) and their SQL: query/tests, a file each; how blocks answer them:
-- query/templates and blocks/scan.
-- With folds_case the text is compared as folded_text has it; with hidden a leaf over any looks
-- through none of these fields. A leaf is never true for a field without a value.
--
-- Nothing of a caller's text reaches the SQL but through quote_literal, and no expression in it
-- can raise on any record. No role is granted anything here: the functions that search, save
-- searches and evaluate alerts call these with their owner's rights.

-- Where the parser stands: every rule of the grammar takes one and answers one. texts, positions:
-- the tokens as written, white space left out, and where each begins (1-based, code points); the
-- last is the empty text, one past the end. at: the token that comes next. depth: brackets and NOTs
-- around it. leaves, searched, steps: what the query spent of its bounds. now, names_now: the
-- instant that now means, and whether it was named. warnings: [{position, message, suggestion}].
-- node: what was read last.
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

-- The span [starts, ends) of time that a literal names: a microsecond for an instant, a UTC day for
-- a date. names_now: it moves with now.
create type logloom_private.query_span as (
  starts timestamptz,
  ends timestamptz,
  names_now boolean
);

-- A comparison or a range as written. A null token is no bound.
create type logloom_private.query_range as (
  lower_token text,
  lower_position integer,
  lower_open boolean,
  upper_token text,
  upper_position integer,
  upper_open boolean
);

-- A query as SQL over the alias l of logloom.logs.
--   blank         nothing but white space
--   tree, filter  what is asked of a record, and as a boolean expression once that is written
--   ts_from (inclusive), ts_to (exclusive)  bounds of ts that hold for every match
--   aggregate     the name of the first, or null; aggregate_field: its field as written;
--                 aggregate_sql: of type double precision, for rate the count, which the caller
--                 divides by the minutes of its range
--   by_fields, by_sql  the fields to group by as written, and as expressions; both empty without by
--   names_now     the query means something else as time goes by
--   plan          what follows the filter, {} for nothing (stages.sql)
--   warnings      [{position, message, suggestion}]
--   steps         what compiling took
--   hidden_fields   the names that records are read without; null: none
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

-- What SQL selects from, with an alias, mostly l: what stands after "from", "where" and "order by",
-- and the number after "limit". The last two may be null. source_sql prints it.
create type logloom_private.sql_source as (
  from_sql text,
  where_sql text,
  order_sql text,
  max_rows bigint
);
