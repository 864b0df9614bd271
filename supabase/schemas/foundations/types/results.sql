create type logloom_private.error as (
  name text,
  status integer,
  message text,
  hint text,
  explanation text
);

comment on type logloom_private.error is
  'An error of a register. message and hint are formats for format(). explanation replaces the '
  'hint in docs/reference/errors.md. The name begins with the register.';

create type public.logloom_success as (success boolean);

comment on type public.logloom_success is 'The answer of an operation that returns nothing else.';
