create type public.logloom_saved_search as (
  id uuid,
  name text,
  description text,
  query_dsl text,
  category text,
  is_shared boolean,
  tags text[],
  created_by text,
  created_at timestamptz,
  updated_at timestamptz,
  last_run_at timestamptz,
  run_count bigint,
  view_id uuid,
  display jsonb
);

comment on type public.logloom_saved_search is
  'A saved search. created_by: the claim sub of its creator. run_count: how often anybody ran it. '
  'view_id: readers of this view see it in their list. display: settings for the page that shows '
  'it, such as range and columns.';
