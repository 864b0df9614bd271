-- Assembled from supabase/schemas, as of 1.0.0.

set local search_path = pg_catalog, pg_temp;

-- views/types/log_view.sql
create type public.logloom_log_view as (
  view_id uuid,
  tenant_id text,
  name text,
  query_dsl text,
  hidden_fields text[],
  operations text[],
  created_by text,
  created_at timestamptz,
  updated_at timestamptz
);

comment on type public.logloom_log_view is
  'What a reader is limited to who is bound to it: the records that query_dsl finds (null: all), '
  'without hidden_fields, by operations (null: all that read, but for those that list alerts). '
  'created_by: the claim sub of who made it, or service_role.';

-- views/audit_log_views.sql
-- Audit of views.
create function logloom_private.audit_log_views()
returns trigger
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role writes audit events
declare
  v_view constant logloom.log_views := coalesce(new, old);
begin
  insert into logloom.audit_events (tenant_id, actor, action, subject, details)
  values (
    v_view.tenant_id,
    logloom_private.actor(),
    case tg_op
      when 'INSERT' then 'view.created'
      when 'DELETE' then 'view.deleted'
      else 'view.changed'
    end,
    v_view.view_id::text,
    jsonb_build_object('name', v_view.name)
    || case
      when tg_op = 'UPDATE' then logloom_private.changed_members(
        to_jsonb(old) - '{updated_at,shows_since}'::text[],
        to_jsonb(new) - '{updated_at,shows_since}'::text[]
      )
      else jsonb_strip_nulls(jsonb_build_object(
        'query_dsl', v_view.query_dsl, 'hidden_fields', v_view.hidden_fields,
        'operations', v_view.operations
      ))
    end
  );
  return null;
end;
$$;

create trigger audit_log_views
after insert or delete or update on logloom.log_views
for each row execute function logloom_private.audit_log_views();

-- views/checked_view.sql
-- What a view is made of, checked and in its one form. PT400 where something is not taken.

-- The query of a view, null where it is blank: a filter alone, which means what it seems to mean.
create function logloom_private.checked_view_query(p_tenant_id text, p_query_dsl text)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_query logloom_private.compiled_query;
begin
  if octet_length(p_query_dsl) > (select s.quick_query_bytes from logloom_private.settings s) then
    perform logloom_private.take_validation_slot(p_tenant_id);
  end if;
  v_query := logloom_private.compile_query(p_query_dsl);
  if v_query.plan ? 'first' then
    perform logloom_private.refuse_at(
      (v_query.plan -> 'first' ->> 'position')::integer, 'views.query_has_stages'
    );
  end if;
  perform logloom_private.refuse_warnings(v_query);
  return case when not v_query.blank then p_query_dsl end;
end;
$$;

-- Hidden fields as scopes hold them: names of columns, attrs, and attrs.PATH with the keys between
-- dots, each once. With the level goes what ingest keeps of it where a sender calls it otherwise.
create function logloom_private.checked_hidden_fields(p_hidden_fields text[])
returns text[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_names text[] := '{}';
  v_name text;
begin
  if cardinality(p_hidden_fields) > 100 or array_ndims(p_hidden_fields) > 1 then
    perform logloom_private.refuse('views.too_many_hidden_fields');
  end if;
  foreach v_name in array coalesce(p_hidden_fields, '{}') loop
    v_name := logloom_private.trim_space(v_name);
    if v_name is distinct from 'attrs' then
      if v_name is null or length(v_name) not between 1 and 200
        or v_name in ('id', 'tenant_id', 'ts', 'received_at', 'any')
      then
        perform logloom_private.refuse(
          'views.field_cannot_be_hidden', coalesce(left(v_name, 60), 'null')
        );
      end if;
      v_name := logloom_private.hidden_name(logloom_private.query_field(v_name, 1));
    end if;
    v_names := v_names || v_name;
    if v_name = 'level' then
      v_names := v_names || 'attrs.original_level'::text;
    end if;
  end loop;
  return array(select distinct n collate "C" from unnest(v_names) n order by 1);
end;
$$;

-- The operations that a view opens, each once; null, for what a view opens where it names none,
-- where they are the word all.
create function logloom_private.checked_view_operations(p_operations text[])
returns text[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_unknown text;
begin
  if p_operations = '{all}' then
    return null;
  end if;
  select coalesce(left(o.name, 60), 'null') into v_unknown
  from unnest(p_operations) o (name)
  where not exists (
    select from logloom_private.reading_operations() r where r.operation = o.name
  )
  limit 1;
  if found or cardinality(p_operations) = 0 then
    perform logloom_private.refuse(
      'views.operation_is_unknown', coalesce(v_unknown, 'none'),
      (select string_agg(r.operation, ', ') from logloom_private.reading_operations() r)
    );
  end if;
  return (
    select array_agg(distinct o.name collate "C" order by o.name collate "C")
    from unnest(p_operations) o (name)
  );
end;
$$;

-- views/create_log_view.sql
-- Makes a view; what public.create_log_view answers.
create function logloom_private.make_log_view(
  p_tenant_id text,
  p_name text,
  p_query_dsl text,
  p_hidden_fields text[],
  p_operations text[]
)
returns public.logloom_log_view
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role writes views, which limit other users
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
  v_max integer;
  v_row logloom.log_views;
begin
  perform logloom_private.require_role(v_tenant_id, 'admin');
  perform logloom_private.require_parameter('p_name', p_name is null);
  v_row.tenant_id := v_tenant_id;
  v_row.name := logloom_private.trim_space(p_name);
  v_row.query_dsl := logloom_private.checked_view_query(v_tenant_id, p_query_dsl);
  v_row.hidden_fields := logloom_private.checked_hidden_fields(p_hidden_fields);
  v_row.operations := logloom_private.checked_view_operations(p_operations);
  perform logloom_private.hold_tenant(v_tenant_id);
  v_max := (logloom_private.plan_of(v_tenant_id)).max_views;
  if (select count(*) from logloom.log_views v where v.tenant_id = v_tenant_id) >= v_max then
    perform logloom_private.refuse('views.no_room', v_max::text);
  end if;
  insert into logloom.log_views (
    tenant_id, name, query_dsl, hidden_fields, operations, created_by
  )
  values (
    v_row.tenant_id, v_row.name, v_row.query_dsl, v_row.hidden_fields, v_row.operations,
    logloom_private.actor()
  )
  returning * into v_row;
  return logloom_private.log_view_of(v_row);
exception
when unique_violation then
  perform logloom_private.refuse('views.name_is_taken');
  return null;
when check_violation then
  perform logloom_private.refuse('views.name_is_invalid');
  return null;
end;
$$;

create function public.create_log_view(
  p_tenant_id text default null,
  p_name text default null,
  p_query_dsl text default null,
  p_hidden_fields text[] default null,
  p_operations text[] default null
)
returns public.logloom_log_view
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return logloom_private.make_log_view(
    p_tenant_id, p_name, p_query_dsl, p_hidden_fields, p_operations
  );
end;
$$;

comment on function public.create_log_view(text, text, text, text[], text[]) is
  'Creates a view of the logs and returns it. What is bound to it, a viewer or an API key, reads '
  'the records that p_query_dsl finds (a query without stages; all by default), without '
  'p_hidden_fields (names of fields, attrs, attrs.PATH), by p_operations (names of reading '
  'operations; all by default, but for those that list alerts). p_name: 1 to 100 characters after '
  'trimming. For admins. Errors: PT400 (plan limit, too), PT401, PT403, PT409 (the name is taken).';

-- views/delete_log_view.sql
-- Who is bound to a view: its living API keys and portal sessions, viewers, alert rules, log
-- streams and saved searches, by name, at most ten. What a colleague keeps private has no name
-- here.
create function logloom_private.users_of_view(p_tenant_id text, p_view_id uuid)
returns text[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return array(
    select u.name
    from (
      select 'API key ' || k.name
      from logloom.api_keys k
      where k.tenant_id = p_tenant_id and k.view_id = p_view_id
        and logloom_private.api_key_status(k.revoked_at, k.expires_at) = 'active'
      union all
      select 'member ' || coalesce(m.email, m.user_id)
      from logloom.tenant_members m
      where m.tenant_id = p_tenant_id and m.view_id = p_view_id
      union all
      select 'portal session ' || coalesce(s.label, s.session_id::text)
      from logloom.portal_sessions s
      where s.tenant_id = p_tenant_id and s.view_id = p_view_id
        and s.revoked_at is null and least(s.expires_at, s.code_expires_at) > now()
      union all
      select 'alert rule ' || r.name
      from logloom.alert_rules r
      where r.tenant_id = p_tenant_id and r.view_id = p_view_id
      union all
      select 'log stream ' || l.name
      from logloom.log_streams l
      where l.tenant_id = p_tenant_id and l.view_id = p_view_id
      union all
      select case
        when s.is_shared or s.created_by = logloom_private.current_user_id()
          then 'saved search ' || s.name
        else 'a private saved search of ' || s.created_by
      end
      from logloom.saved_searches s
      where s.tenant_id = p_tenant_id and s.view_id = p_view_id
    ) u (name)
    order by u.name
    limit 10
  );
end;
$$;

-- Deletes a view that nothing is bound to. Keys that were revoked or have expired go with it.
create function logloom_private.remove_log_view(p_tenant_id text, p_view_id uuid)
returns public.logloom_success
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role writes views, which limit other users
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
  v_users text[];
begin
  perform logloom_private.require_role(v_tenant_id, 'admin');
  perform logloom_private.require_parameter('p_view_id', p_view_id is null);
  -- Held, so that nothing is bound to it meanwhile.
  perform
  from logloom.log_views v
  where v.tenant_id = v_tenant_id and v.view_id = p_view_id
  for update;
  if not found then
    perform logloom_private.refuse('tenants.view_not_found');
  end if;
  v_users := logloom_private.users_of_view(v_tenant_id, p_view_id);
  if v_users <> '{}' then
    perform logloom_private.refuse('views.in_use', array_to_string(v_users, ', '));
  end if;
  delete from logloom.log_views v
  where v.tenant_id = v_tenant_id and v.view_id = p_view_id;
  return row(true)::public.logloom_success;
end;
$$;

create function public.delete_log_view(
  p_view_id uuid default null,
  p_tenant_id text default null
)
returns public.logloom_success
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return logloom_private.remove_log_view(p_tenant_id, p_view_id);
end;
$$;

comment on function public.delete_log_view(uuid, text) is
  'Deletes a view that nothing is bound to. Returns {success}. For admins. '
  'Errors: PT400, PT401, PT403, PT404, PT409 (in use: by whom).';

-- views/list_log_views.sql
create function public.list_log_views(
  p_tenant_id text default null,
  p_limit integer default null,
  p_after uuid default null
)
returns setof public.logloom_log_view
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
  v_limit constant integer := logloom_private.list_limit(p_limit);
  v_after constant timestamptz := logloom_private.page_place(
    p_after::text, 'view', 'view_id',
    (
      select v.created_at from logloom.log_views v
      where v.tenant_id = v_tenant_id and v.view_id = p_after
    )
  );
begin
  return query
  select (logloom_private.log_view_of(v)).*
  from logloom.log_views v
  where v.tenant_id = v_tenant_id
    and (p_after is null or (v.created_at, v.view_id) < (v_after, p_after))
  order by v.created_at desc, v.view_id desc
  limit v_limit;
end;
$$;

comment on function public.list_log_views(text, integer, uuid) is
  'Views of the tenant''s logs, newest first. p_limit 1 to 1000 (default 100), p_after: view_id of '
  'the last item of the page before. Errors: PT400, PT401, PT403.';

-- views/log_view_of.sql
-- A view as the operations show it.
create function logloom_private.log_view_of(p_row logloom.log_views)
returns public.logloom_log_view
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return row(
    p_row.view_id, p_row.tenant_id, p_row.name, p_row.query_dsl, p_row.hidden_fields,
    p_row.operations, p_row.created_by, p_row.created_at, p_row.updated_at
  );
end;
$$;

-- views/pause_rules_of_member.sql
-- Pauses the alert rules of a view that a member made who is removed, or becomes a viewer: who may
-- not read all that the view shows has no rules in it. Any member switches them on again. Rules
-- without a view are the tenant's, whoever made them.
create function logloom_private.pause_rules_of_member()
returns trigger
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role writes audit events
begin
  with paused as (
    update logloom.alert_rules r
    set enabled = false, updated_at = now()
    where r.tenant_id = old.tenant_id and r.created_by = old.user_id
      and r.view_id is not null and r.enabled
    returning r.*
  )
  insert into logloom.audit_events (tenant_id, actor, action, subject, details)
  select
    p.tenant_id, logloom_private.actor(), 'alert_rule.paused', p.rule_id::text,
    jsonb_build_object('name', p.name, 'created_by', p.created_by, 'view_id', p.view_id)
  from paused p;
  return null;
end;
$$;

create trigger pause_rules_of_removed_member
after delete on logloom.tenant_members
for each row execute function logloom_private.pause_rules_of_member();

create trigger pause_rules_of_new_viewer
after update of role on logloom.tenant_members
for each row when (new.role = 'viewer' and old.role <> 'viewer')
execute function logloom_private.pause_rules_of_member();

-- views/update_log_view.sql
-- Changes a view; what public.update_log_view answers.
create function logloom_private.change_log_view(
  p_tenant_id text,
  p_view_id uuid,
  p_name text,
  p_query_dsl text,
  p_hidden_fields text[],
  p_operations text[]
)
returns public.logloom_log_view
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role writes views, which limit other users
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
  v_query_dsl text;
  v_hidden_fields text[];
  v_operations text[];
  v_row logloom.log_views;
begin
  perform logloom_private.require_role(v_tenant_id, 'admin');
  perform logloom_private.require_parameter('p_view_id', p_view_id is null);
  v_query_dsl := logloom_private.checked_view_query(v_tenant_id, p_query_dsl);
  v_hidden_fields := logloom_private.checked_hidden_fields(p_hidden_fields);
  v_operations := logloom_private.checked_view_operations(p_operations);
  update logloom.log_views v
  set
    name = coalesce(logloom_private.trim_space(p_name), v.name),
    query_dsl = case when p_query_dsl is null then v.query_dsl else v_query_dsl end,
    hidden_fields = case
      when p_hidden_fields is null then v.hidden_fields else v_hidden_fields
    end,
    operations = case when p_operations is null then v.operations else v_operations end,
    updated_at = now(),
    shows_since = case
      when (p_query_dsl is null or v_query_dsl is not distinct from v.query_dsl)
        and (p_hidden_fields is null or v_hidden_fields = v.hidden_fields)
        then v.shows_since
      else now()
    end
  where v.tenant_id = v_tenant_id and v.view_id = p_view_id
  returning v.* into v_row;
  if not found then
    perform logloom_private.refuse('tenants.view_not_found');
  end if;
  return logloom_private.log_view_of(v_row);
exception
when unique_violation then
  perform logloom_private.refuse('views.name_is_taken');
  return null;
when check_violation then
  perform logloom_private.refuse('views.name_is_invalid');
  return null;
end;
$$;

create function public.update_log_view(
  p_view_id uuid default null,
  p_name text default null,
  p_query_dsl text default null,
  p_hidden_fields text[] default null,
  p_operations text[] default null,
  p_tenant_id text default null
)
returns public.logloom_log_view
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return logloom_private.change_log_view(
    p_tenant_id, p_view_id, p_name, p_query_dsl, p_hidden_fields, p_operations
  );
end;
$$;

comment on function public.update_log_view(uuid, text, text, text[], text[], text) is
  'Changes what is given and returns the view; it holds for whoever is bound to it from their next '
  'request on. An empty p_query_dsl takes the query away, empty p_hidden_fields hide nothing, and '
  'p_operations ["all"] opens what a view opens that names none. For admins. '
  'Errors: PT400, PT401, PT403, PT404, PT409 (the name is taken).';

select logloom_private.finish_migration();
