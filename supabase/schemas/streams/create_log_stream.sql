-- Seam: refuses log streams if records are not stored in the way that streams read them.
create function logloom_private.require_streams()
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  null;
end;
$$;

-- Creates a stream, for public.create_log_stream. A customer's is bound to their session's view.
create function logloom_private.make_log_stream(
  p_scope logloom_private.reading_scope,
  p_tenant_id text,
  p_name text,
  p_query_dsl text,
  p_kind text,
  p_config jsonb,
  p_secrets jsonb,
  p_enabled boolean,
  p_view_id uuid,
  p_source text
)
returns public.logloom_log_stream
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role writes streams, which hold their own state
declare
  v_scope constant logloom_private.reading_scope :=
    logloom_private.managing_scope(p_scope, 'create_log_stream', p_tenant_id, 'admin');
  v_tenant_id constant text := v_scope.tenant_id;
  v_row logloom.log_streams;
begin
  perform logloom_private.require_streams();
  perform logloom_private.require_parameter('p_name', p_name is null);
  perform logloom_private.require_parameter('p_kind', p_kind is null);
  perform logloom_private.require_parameter('p_config', p_config is null);
  v_row.tenant_id := v_tenant_id;
  v_row.name := logloom_private.trim_space(p_name);
  v_row.kind := p_kind;
  v_row.source := coalesce(p_source, 'logs');
  if length(v_row.name) not between 1 and 100 then
    perform logloom_private.refuse('streams.name_is_invalid');
  elsif not exists (select from logloom_private.stream_config_members(p_kind)) then
    perform logloom_private.refuse('streams.kind_is_unknown');
  elsif v_row.source not in ('logs', 'audit') then
    perform logloom_private.refuse('streams.source_is_unknown');
  elsif v_scope.customer is not null and p_view_id is not null then
    perform logloom_private.refuse('portal.not_for_customers', 'p_view_id');
  elsif v_row.source = 'audit' and num_nonnulls(p_view_id, v_scope.customer) > 0 then
    perform logloom_private.refuse('audit.not_in_views');
  end if;
  perform logloom_private.hold_view(v_tenant_id, p_view_id);
  v_row.query_dsl := logloom_private.checked_stream_query(
    case when v_scope.customer is null
      then logloom_private.scope_of_view(v_tenant_id, p_view_id) else v_scope end,
    p_query_dsl
  );
  v_row.config := logloom_private.checked_stream_config(p_kind, p_config);
  v_row.secrets := logloom_private.changed_secrets(
    '{}', p_secrets, logloom_private.stream_secret_names(p_kind)
  );
  perform
    logloom_private.refuse_own_keys(v_tenant_id, v_row.secrets),
    logloom_private.hold_tenant(v_tenant_id);
  v_row.view_id := case when v_scope.customer is null then p_view_id
    else logloom_private.customer_view(v_scope) end;
  perform
    logloom_private.require_room_for_stream(v_scope),
    logloom_private.require_free_stream_name(v_tenant_id, v_scope.customer, v_row.name, null);
  insert into logloom.log_streams (
    tenant_id, name, query_dsl, kind, config, secrets, enabled, view_id, maker, position_seq,
    kept_day, source
  )
  select
    v_tenant_id, v_row.name, v_row.query_dsl, p_kind, v_row.config, v_row.secrets,
    coalesce(p_enabled, true), v_row.view_id, logloom_private.maker_in_scope(v_scope),
    logloom_private.stream_end(v_row) + 1,
    logloom_private.first_kept_day(v_tenant_id, logloom_private.utc_day(now())), v_row.source
  returning * into v_row;
  return logloom_private.log_stream_of(v_scope, v_row);
end;
$$;

-- Raises PT400 if the plan, or the session of a customer, allows no further stream, and PT403 if an
-- admin stopped a stream of the customer. The caller has locked the tenant.
create function logloom_private.require_room_for_stream(p_scope logloom_private.reading_scope)
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_max constant integer := (logloom_private.plan_of(p_scope.tenant_id)).max_log_streams;
  v_count bigint;
  v_of_customer bigint;
  v_is_held boolean;
begin
  select
    count(*),
    count(*) filter (where v.customer = p_scope.customer),
    bool_or(s.held_at is not null) filter (where v.customer = p_scope.customer)
  into v_count, v_of_customer, v_is_held
  from logloom.log_streams s
  left join logloom.log_views v on v.view_id = s.view_id
  where s.tenant_id = p_scope.tenant_id;
  if v_is_held then
    perform logloom_private.refuse('portal.others_are_held', 'log stream');
  elsif p_scope.customer is not null then
    perform logloom_private.require_room_for_customer(p_scope, 'streams', 2, v_of_customer);
  end if;
  if v_count >= v_max then
    if p_scope.customer is not null then
      perform logloom_private.refuse('portal.plan_is_full', 'log stream');
    end if;
    perform logloom_private.refuse('streams.no_room', v_max::text);
  end if;
end;
$$;

-- Returns the query of a stream, or null if it is blank. The query must be a filter that does not
-- read fields hidden in the scope.
create function logloom_private.checked_stream_query(
  p_scope logloom_private.reading_scope,
  p_query_dsl text
)
returns text
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_query logloom_private.compiled_query;
begin
  perform logloom_private.take_slot_to_keep(p_scope, p_query_dsl);
  v_query := logloom_private.compile_query(p_query_dsl);
  if v_query.plan ? 'first' then
    perform logloom_private.refuse_at(
      (v_query.plan -> 'first' ->> 'position')::integer, 'streams.query_has_stages'
    );
  end if;
  perform logloom_private.scoped_query(p_scope, v_query, p_query_dsl);
  return case when not v_query.blank then p_query_dsl end;
end;
$$;

create function public.create_log_stream(
  p_tenant_id text default null,
  p_name text default null,
  p_query_dsl text default null,
  p_kind text default null,
  p_config jsonb default null,
  p_secrets jsonb default null,
  p_enabled boolean default null,
  p_view_id uuid default null,
  p_source text default null
)
returns public.logloom_log_stream
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return logloom_private.make_log_stream(
    null, p_tenant_id, p_name, p_query_dsl, p_kind, p_config, p_secrets, p_enabled, p_view_id,
    p_source
  );
end;
$$;

comment on function public.create_log_stream(
  text, text, text, text, jsonb, jsonb, boolean, uuid, text
) is
  'Creates a log stream and returns it. From now on the stream sends records as they become '
  'visible: all, or those that p_query_dsl (a query without stages) finds. p_name: 1 to 100 '
  'characters after trimming. p_kind: webhook, otlp, loki, elasticsearch, splunk_hec, datadog or '
  's3. p_config: the address and other members of the kind. p_secrets: names and sealed texts, '
  'from POST /functions/v1/logloom-stream/v1/seal. p_enabled: true by default. p_view_id: the view '
  'in which the stream reads. p_source: logs (default) or audit, the linked events of the audit '
  'trail. For admins. Errors: PT400 (also the plan''s limit), PT401, PT403, PT404, PT409 (the name '
  'is taken).';
