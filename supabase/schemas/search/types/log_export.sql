create type public.logloom_log_export as (
  text text,
  records integer,
  cursor text,
  next_cursor text,
  logs json
);

comment on type public.logloom_log_export is
  'A page of an export: text, its lines, each with its end, or logs, its records; records, how '
  'many they are. cursor: of its beginning; next_cursor: of the page after it, null where there '
  'is none.';
