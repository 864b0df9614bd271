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
