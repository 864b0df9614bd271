create type public.logloom_success as (success boolean);

comment on type public.logloom_success is
  'What an operation answers that has nothing else to tell.';
