create type public.logloom_log_export as (
  text text,
  records integer,
  cursor text,
  next_cursor text
);

comment on type public.logloom_log_export is
  'A page of an export: its lines, each with its end, and how many records they are. cursor: of '
  'its beginning; next_cursor: of the page after it, null where there is none.';
