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

create type public.logloom_success as (success boolean);

comment on type public.logloom_success is
  'What an operation answers that has nothing else to tell.';
