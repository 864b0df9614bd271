create function logloom_private.ingest_rule_of(p_row logloom.ingest_rules)
returns public.logloom_ingest_rule
language sql
stable
return row(
  p_row.rule_id, p_row.tenant_id, p_row.position, p_row.name, p_row.condition, p_row.action,
  p_row.is_on, p_row.created_by, p_row.created_at, p_row.updated_at
);

-- Begins a change of rules: the caller must be an admin. Locks the tenant, applies p_secrets to
-- hash_key. Returns the tenant.
create function logloom_private.hold_ingest_rules(p_tenant_id text, p_secrets jsonb default null)
returns text
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role may lock a tenant or write its key
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
begin
  perform logloom_private.require_role(v_tenant_id, 'admin');
  perform logloom_private.hold_tenant(v_tenant_id);
  insert into logloom_private.ingest_rule_sets (tenant_id) values (v_tenant_id)
  on conflict do nothing;
  update logloom_private.ingest_rule_sets s
  set hash_key = logloom_private.changed_secrets(
    jsonb_strip_nulls(jsonb_build_object('hash_key', s.hash_key)), p_secrets, '{hash_key}'
  ) ->> 'hash_key'
  where s.tenant_id = v_tenant_id and p_secrets is not null;
  return v_tenant_id;
end;
$$;

create function public.list_ingest_rules(p_tenant_id text default null)
returns setof public.logloom_ingest_rule
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
begin
  return query
  select (logloom_private.ingest_rule_of(r)).*
  from logloom.ingest_rules r
  where r.tenant_id = v_tenant_id
  order by r.position, r.rule_id;
end;
$$;

comment on function public.list_ingest_rules(text) is
  'Lists the tenant''s ingest rules in their order. Errors: PT401, PT403.';

create function public.create_ingest_rule(
  p_tenant_id text default null,
  p_name text default null,
  p_condition text default null,
  p_action jsonb default null,
  p_is_on boolean default null,
  p_secrets jsonb default null
)
returns public.logloom_ingest_rule
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id constant text := logloom_private.hold_ingest_rules(p_tenant_id, p_secrets);
  v_max constant integer := (logloom_private.plan_of(v_tenant_id)).max_ingest_rules;
  v_row logloom.ingest_rules;
begin
  perform logloom_private.require_parameter('p_name', p_name is null);
  perform logloom_private.require_parameter('p_action', p_action is null);
  if (select count(*) from logloom.ingest_rules r where r.tenant_id = v_tenant_id) >= v_max then
    perform logloom_private.refuse('ingest_rules.no_room', v_max::text);
  end if;
  insert into logloom.ingest_rules (tenant_id, position, name, condition, action, is_on)
  select
    v_tenant_id, coalesce(max(r.position), 0) + 1, p_name, p_condition, p_action,
    coalesce(p_is_on, true)
  from logloom.ingest_rules r
  where r.tenant_id = v_tenant_id
  returning * into v_row;
  return logloom_private.ingest_rule_of(v_row);
end;
$$;

comment on function public.create_ingest_rule(text, text, text, jsonb, boolean, jsonb) is
  'Adds an ingest rule after the others and returns it. For admins. p_name: 1 to 100 characters '
  'after trimming. p_condition: tests of fields and top-level attributes, joined by AND. Every '
  'event by default. p_action: {type: mask, drop, sample, parse, set, remove or level, …}. '
  'p_is_on: true by default. p_secrets: {hash_key: sealed text}, the key of the hashes in all '
  'masks. Errors: PT400 (also the plan''s limit), PT401, PT403, PT409 (the name is taken).';

create function public.update_ingest_rule(
  p_rule_id uuid default null,
  p_name text default null,
  p_condition text default null,
  p_action jsonb default null,
  p_is_on boolean default null,
  p_secrets jsonb default null,
  p_tenant_id text default null
)
returns public.logloom_ingest_rule
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id constant text := logloom_private.hold_ingest_rules(p_tenant_id, p_secrets);
  v_row logloom.ingest_rules;
begin
  perform logloom_private.require_parameter('p_rule_id', p_rule_id is null);
  update logloom.ingest_rules r
  set name = coalesce(p_name, r.name), condition = coalesce(p_condition, r.condition),
    action = coalesce(p_action, r.action), is_on = coalesce(p_is_on, r.is_on)
  where r.tenant_id = v_tenant_id and r.rule_id = p_rule_id
  returning r.* into v_row;
  if not found then
    perform logloom_private.refuse('ingest_rules.not_found');
  end if;
  return logloom_private.ingest_rule_of(v_row);
end;
$$;

comment on function public.update_ingest_rule(uuid, text, text, jsonb, boolean, jsonb, text) is
  'Changes the given members of an ingest rule and returns it. For admins. The change applies to '
  'the next request of each sender. An empty p_condition removes the condition. Errors: PT400, '
  'PT401, PT403, PT404, PT409 (the name is taken).';

create function public.delete_ingest_rule(
  p_rule_id uuid default null,
  p_tenant_id text default null
)
returns public.logloom_success
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id constant text := logloom_private.hold_ingest_rules(p_tenant_id);
begin
  perform logloom_private.require_parameter('p_rule_id', p_rule_id is null);
  delete from logloom.ingest_rules r where r.tenant_id = v_tenant_id and r.rule_id = p_rule_id;
  if not found then
    perform logloom_private.refuse('ingest_rules.not_found');
  end if;
  return row(true)::public.logloom_success;
end;
$$;

comment on function public.delete_ingest_rule(uuid, text) is
  'Deletes an ingest rule. Returns {success}. For admins. Errors: PT400, PT401, PT403, PT404.';

create function public.order_ingest_rules(
  p_rule_ids uuid[] default null,
  p_tenant_id text default null
)
returns setof public.logloom_ingest_rule
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id constant text := logloom_private.hold_ingest_rules(p_tenant_id);
begin
  perform logloom_private.require_parameter('p_rule_ids', p_rule_ids is null);
  if array(select n from unnest(p_rule_ids) n order by n) <> array(
    select r.rule_id from logloom.ingest_rules r where r.tenant_id = v_tenant_id order by 1
  ) then
    perform logloom_private.refuse('ingest_rules.order_is_incomplete');
  end if;
  update logloom.ingest_rules r
  set position = o.n
  from unnest(p_rule_ids) with ordinality o (rule_id, n)
  where r.tenant_id = v_tenant_id and r.rule_id = o.rule_id and r.position <> o.n;
  return query select r.* from public.list_ingest_rules(p_tenant_id) r;
end;
$$;

comment on function public.order_ingest_rules(uuid[], text) is
  'Puts the ingest rules in another order and lists them. For admins. p_rule_ids: the rule_id of '
  'every rule, in the new order. Errors: PT400, PT401, PT403.';

create function public.preview_ingest_rule(
  p_condition text default null,
  p_action jsonb default null
)
returns public.logloom_ingest_rule_preview
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
set statement_timeout = '15s'
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant();
  v_preview public.logloom_ingest_rule_preview;
begin
  perform logloom_private.require_role(v_tenant_id, 'admin');
  perform logloom_private.require_parameter('p_action', p_action is null);
  v_preview.rule := logloom_private.compiled_rule(v_tenant_id, p_condition, p_action);
  v_preview.seen := (select s.value from public.log_stats('| count()') s);
  v_preview.matched :=
    (select s.value from public.log_stats(concat(p_condition, ' | count()')) s);
  v_preview.examples := (public.search_logs(p_condition, p_limit => 20)).logs;
  return v_preview;
end;
$$;

comment on function public.preview_ingest_rule(text, jsonb) is
  'Checks a rule without saving it. Returns the records of the last hour that it would match: '
  '{seen, matched, rule, examples}. For admins. Errors: PT400, PT401, PT403, PT408, PT429.';
