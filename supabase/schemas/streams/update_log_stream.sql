-- Raises PT400 if a stream gets an address with another origin but keeps a secret: the new receiver
-- would get a secret that was meant for the old one.
create function logloom_private.require_secrets_again(
  p_stream logloom.log_streams,
  p_config jsonb,
  p_secrets jsonb
)
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_kept text;
begin
  if logloom_private.origin_of(coalesce(p_config ->> 'url', p_config ->> 'endpoint'))
    = logloom_private.origin_of(coalesce(p_stream.config ->> 'url', p_stream.config ->> 'endpoint'))
  then
    return;
  end if;
  select string_agg(s.name, ', ' order by s.name) into v_kept
  from jsonb_object_keys(p_stream.secrets) s (name)
  where not coalesce(p_secrets, '{}') ? s.name;
  if v_kept is not null then
    perform logloom_private.refuse('streams.address_needs_secrets', v_kept);
  end if;
end;
$$;

-- Changes a stream, for public.update_log_stream. Whoever enables the stream becomes its maker;
-- failed attempts are counted from 0 again. If the query or view changes, the batch is discarded.
-- If a user disables a customer's stream, it is held until a user enables it.
create function logloom_private.change_log_stream(
  p_scope logloom_private.reading_scope,
  p_stream_id uuid,
  p_name text,
  p_query_dsl text,
  p_config jsonb,
  p_secrets jsonb,
  p_enabled boolean,
  p_view_id uuid,
  p_tenant_id text
)
returns public.logloom_log_stream
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role writes streams, which hold their own state
declare
  v_scope constant logloom_private.reading_scope :=
    logloom_private.managing_scope(p_scope, 'update_log_stream', p_tenant_id, 'admin');
  v_tenant_id constant text := v_scope.tenant_id;
  v_customer text;
  v_row logloom.log_streams;
  v_query_dsl text;
  v_config jsonb;
  v_secrets jsonb;
  v_is_other boolean;
  v_is_same boolean;
begin
  if p_name is not null then
    -- While the tenant is locked, no other stream gets the name. The tenant is always locked before
    -- a stream.
    perform logloom_private.hold_tenant(v_tenant_id);
  end if;
  v_row := logloom_private.locked_stream(v_scope, p_stream_id);
  v_customer := logloom_private.customer_of_view(v_row.view_id);
  if v_scope.kind = 'token' and v_customer is not null
    and num_nonnulls(p_name, p_query_dsl, p_config, p_secrets, p_view_id) > 0
  then
    perform logloom_private.refuse('portal.thing_is_of_customer', 'log stream');
  elsif p_enabled is not null then
    perform logloom_private.require_not_held(
      v_scope,
      coalesce(
        v_row.held_at,
        case when p_enabled and v_row.pause_reason = 'maker' then v_row.paused_at end
      ),
      'log stream'
    );
  end if;
  if p_enabled or num_nonnulls(p_name, p_query_dsl, p_config, p_secrets, p_view_id) > 0 then
    perform logloom_private.require_view_of_session(v_scope, v_row.view_id, 'log stream');
  end if;
  if length(logloom_private.trim_space(p_name)) not between 1 and 100 then
    perform logloom_private.refuse('streams.name_is_invalid');
  elsif v_scope.customer is not null and p_view_id is not null then
    perform logloom_private.refuse('portal.not_for_customers', 'p_view_id');
  elsif v_row.source = 'audit' and p_view_id is not null then
    perform logloom_private.refuse('audit.not_in_views');
  end if;
  perform logloom_private.hold_view(v_tenant_id, p_view_id);
  if p_name is not null then
    perform logloom_private.require_free_stream_name(
      v_tenant_id, v_customer, logloom_private.trim_space(p_name), p_stream_id
    );
  end if;
  v_query_dsl := case when num_nonnulls(p_query_dsl, p_view_id) = 0 then v_row.query_dsl
    else logloom_private.checked_stream_query(
      logloom_private.scope_of_view(v_tenant_id, coalesce(p_view_id, v_row.view_id)),
      coalesce(p_query_dsl, v_row.query_dsl)
    ) end;
  v_is_other := (v_query_dsl, coalesce(p_view_id, v_row.view_id))
    is distinct from (v_row.query_dsl, v_row.view_id);
  v_is_same := not v_is_other and num_nonnulls(p_config, p_secrets) = 0;
  v_config := case when p_config is null then v_row.config
    else logloom_private.checked_stream_config(v_row.kind, p_config) end;
  v_secrets := logloom_private.changed_secrets(
    v_row.secrets, p_secrets, logloom_private.stream_secret_names(v_row.kind)
  );
  perform logloom_private.require_secrets_again(v_row, v_config, p_secrets);
  perform logloom_private.refuse_own_keys(v_tenant_id, v_secrets);
  if v_is_other then
    perform logloom_private.drop_batch(v_row);
  end if;
  update logloom.log_streams s
  set name = coalesce(logloom_private.trim_space(p_name), s.name),
    query_dsl = v_query_dsl,
    config = v_config,
    secrets = v_secrets,
    enabled = coalesce(p_enabled, s.enabled),
    view_id = coalesce(p_view_id, s.view_id),
    updated_at = now(),
    maker = case when p_enabled then logloom_private.maker_in_scope(v_scope) else s.maker end,
    held_at = case
      when p_enabled then null
      when not p_enabled and v_scope.kind = 'token' and v_customer is not null then now()
      else s.held_at
    end,
    -- Who disables a stream does not end the pause after the loss of its maker.
    paused_at = case when p_enabled is null or not p_enabled and s.pause_reason = 'maker'
      then s.paused_at end,
    pause_reason = case when p_enabled is null or not p_enabled and s.pause_reason = 'maker'
      then s.pause_reason end,
    failing_since = case when p_enabled is null then s.failing_since end,
    attempts = case when p_enabled is null then s.attempts else 0 end,
    failing_told_at = case when p_enabled is null then s.failing_told_at end,
    is_proven = s.is_proven and num_nonnulls(p_config, p_secrets) = 0,
    refused_in_a_row = case when p_enabled is null then s.refused_in_a_row else 0 end,
    -- New records were not noted while the stream was disabled.
    pending_since = case when p_enabled then coalesce(s.pending_since, now())
      else s.pending_since end,
    -- A sender with the old settings may no longer settle the batch or seal the secrets.
    claim_id = case when v_is_same then s.claim_id end,
    claimed_at = case when v_is_same then s.claimed_at end,
    claimed_until = case when v_is_same then s.claimed_until end,
    -- A change is tried at once. A new config begins with the full batch size.
    next_attempt_at = now(),
    batch_bytes = case when p_config is null then s.batch_bytes else 1000000 end
  where s.stream_id = p_stream_id
  returning s.* into v_row;
  return logloom_private.log_stream_of(v_scope, v_row);
end;
$$;

create function public.update_log_stream(
  p_stream_id uuid default null,
  p_name text default null,
  p_query_dsl text default null,
  p_config jsonb default null,
  p_secrets jsonb default null,
  p_enabled boolean default null,
  p_view_id uuid default null,
  p_tenant_id text default null
)
returns public.logloom_log_stream
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return logloom_private.change_log_stream(
    null, p_stream_id, p_name, p_query_dsl, p_config, p_secrets, p_enabled, p_view_id, p_tenant_id
  );
end;
$$;

comment on function public.update_log_stream(uuid, text, text, jsonb, jsonb, boolean, uuid, text) is
  'Changes the given parts of a log stream and returns it. p_config replaces the whole config. '
  'Each member of p_secrets replaces one secret; null removes it. If p_config has another scheme, '
  'host or port, p_secrets must have all secrets. An empty p_query_dsl sends all records. '
  'p_enabled true also ends a pause and makes the caller the maker; the stream continues where it '
  'was. For admins. Errors: PT400, PT401, PT403, PT404, PT409 (the name is taken).';
