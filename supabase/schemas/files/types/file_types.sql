create type logloom_private.file_type as (
  position integer,
  type text,
  name_member text,
  id_member text,
  lists text,
  creates text,
  changes text,
  deletes text,
  fields jsonb,
  fixed_fields text[],
  sent_fields text[]
);

comment on type logloom_private.file_type is
  'A type of things that files describe. position: a type only names things of types before it. '
  'name_member, id_member: members of what the operation in lists returns. creates, changes, '
  'deletes: operations; their parameters are p_ and a field. fields: each field with its default; '
  'null: no default, so a document without the field keeps it. fixed_fields: cannot be changed '
  'later. sent_fields: sent with every change. changes null: a thing that differs is deleted and '
  'created again. deletes null: one thing that every tenant has, named as the type.';

create type public.logloom_file_change as (
  action text,
  type text,
  name text,
  renamed_from text,
  fields jsonb
);

comment on type public.logloom_file_change is
  'A difference between the files and the tenant. action: create, update or delete. fields: '
  '{field: {"old": …, "new": …}}. Secrets show only which of them are set.';
