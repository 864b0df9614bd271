create type logloom_private.error as (
  name text,
  status integer,
  message text,
  hint text,
  explanation text
);

comment on type logloom_private.error is
  'An error of the register. message and hint are formats for the values of a case, explanation '
  'is what docs/reference/errors.md says in place of the hint. The name begins with its register.';
