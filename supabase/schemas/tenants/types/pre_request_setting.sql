create type logloom_private.pre_request_setting as (function text, of_database boolean);

comment on type logloom_private.pre_request_setting is
  'A pre-request function by its name as PostgREST reads it (not quoted), and whether it is set '
  'for this database alone.';
