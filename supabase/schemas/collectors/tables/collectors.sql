create table logloom_private.collectors (
  name text primary key,
  is_on boolean not null default false,
  every interval not null,
  read_to timestamptz,
  cursor jsonb not null default '{}',
  next_at timestamptz not null default now(),
  note text,
  refused_at timestamptz,
  failures integer not null default 0,
  last_error text,
  sources text[] not null default
    '{auth_logs,edge_logs,function_edge_logs,function_logs,postgres_logs,storage_logs}',
  constraint collectors_name_is_known check (
    name in ('auth', 'database', 'jobs', 'platform', 'statements')
  ),
  constraint collectors_every_is_within_bounds check (every between '1 minute' and '1 day'),
  -- The names become part of a query.
  constraint collectors_sources_are_names check (
    array_to_string(sources, ',') ~ '^[a-z_]{1,40}(,[a-z_]{1,40}){0,19}$'
  )
);

insert into logloom_private.collectors (name, every)
values
  ('auth', '1 minute'), ('database', '1 minute'), ('jobs', '1 minute'), ('platform', '1 minute'),
  ('statements', '1 hour');

comment on table logloom_private.collectors is
  'Collectors of the project''s own events. Those with is_on store them in '
  'settings.project_tenant_id. read_to: everything before was read, except rows that became '
  'visible more than two minutes late. cursor: what the next read needs, such as ids that it finds '
  'again. note: what the last read left out, and why. refused_at: when records were last refused. '
  'sources: the logs that platform reads.';

create type logloom_private.collected as (
  records logloom_private.own_record[],
  cursor jsonb,
  read_to timestamptz,
  is_complete boolean,
  note text
);

comment on type logloom_private.collected is
  'New records and the next state of a collector. is_complete: false if more can be read now.';
