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
    = logloom_private.origin_of(
      coalesce(p_stream.config ->> 'url', p_stream.config ->> 'endpoint')
    )
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
create function logloom_private.change_log_stream(
  p_tenant_id text,
  p_stream_id uuid,
  p_name text,
  p_query_dsl text,
  p_config jsonb,
  p_secrets jsonb,
  p_enabled boolean,
  p_view_id uuid
)
returns public.logloom_log_stream
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role writes streams, which hold their own state
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
  v_row logloom.log_streams;
  v_query_dsl text;
  v_config jsonb;
  v_secrets jsonb;
  v_is_other boolean;
  v_is_same boolean;
begin
  perform logloom_private.require_role(v_tenant_id, 'admin');
  perform logloom_private.require_parameter('p_stream_id', p_stream_id is null);
  select s.* into v_row
  from logloom.log_streams s
  where s.tenant_id = v_tenant_id and s.stream_id = p_stream_id
  for no key update;
  if not found then
    perform logloom_private.refuse('streams.not_found');
  end if;
  if length(logloom_private.trim_space(p_name)) not between 1 and 100 then
    perform logloom_private.refuse('streams.name_is_invalid');
  end if;
  if v_row.source = 'audit' and p_view_id is not null then
    perform logloom_private.refuse('audit.not_in_views');
  end if;
  v_query_dsl := case when num_nonnulls(p_query_dsl, p_view_id) = 0 then v_row.query_dsl
    else logloom_private.checked_stream_query(
      v_tenant_id, coalesce(p_query_dsl, v_row.query_dsl), coalesce(p_view_id, v_row.view_id)
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
  update logloom.log_streams s
  set name = coalesce(logloom_private.trim_space(p_name), s.name),
    query_dsl = v_query_dsl,
    config = v_config,
    secrets = v_secrets,
    enabled = coalesce(p_enabled, s.enabled),
    view_id = coalesce(p_view_id, s.view_id),
    updated_at = now(),
    maker = case when p_enabled then logloom_private.stream_maker() else s.maker end,
    paused_at = case when p_enabled is null then s.paused_at end,
    pause_reason = case when p_enabled is null then s.pause_reason end,
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
    batch_bytes = case when p_config is null then s.batch_bytes else 1000000 end,
    batch_id = case when not v_is_other then s.batch_id end,
    batch_made_at = case when not v_is_other then s.batch_made_at end,
    batch_end_seq = case when not v_is_other then s.batch_end_seq end,
    batch_end_id = case when not v_is_other then s.batch_end_id end,
    batch_records = case when not v_is_other then s.batch_records end,
    batch_skipped = case when not v_is_other then s.batch_skipped end
  where s.stream_id = p_stream_id
  returning s.* into v_row;
  return logloom_private.log_stream_of(v_row);
exception when unique_violation then
  perform logloom_private.refuse('streams.name_is_taken');
  return null;
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
    p_tenant_id, p_stream_id, p_name, p_query_dsl, p_config, p_secrets, p_enabled, p_view_id
  );
end;
$$;

comment on function public.update_log_stream(uuid, text, text, jsonb, jsonb, boolean, uuid, text) is
  'Changes the given parts of a log stream and returns it. p_config replaces the whole config. '
  'Each member of p_secrets replaces one secret; null removes it. If p_config has another scheme, '
  'host or port, p_secrets must have all secrets. An empty p_query_dsl sends all records. '
  'p_enabled true also ends a pause and makes the caller the maker; the stream continues where it '
  'was. For admins. Errors: PT400, PT401, PT403, PT404, PT409 (the name is taken).';
