create type public.logloom_ingest_token as (
  token text,
  expires_at timestamptz,
  service text
);

comment on type public.logloom_ingest_token is
  'A new ingest token. It sends for one service. It is shown only now.';

-- Requires no role: everybody who may send may also let a page send.
create function logloom_private.issue_ingest_token(
  p_tenant_id text,
  p_service text,
  p_seconds integer
)
returns public.logloom_ingest_token
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role reads or writes tokens
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
  v_plan constant logloom.plans := logloom_private.plan_of(v_tenant_id);
  v_longest constant integer := 900;
  v_seconds constant integer := coalesce(p_seconds, v_longest);
  v_session_id constant text := logloom_private.claims() ->> 'session_id';
  v_token constant text := logloom_private.new_api_key('llt_');
  v_tokens record;
  v_result public.logloom_ingest_token;
begin
  perform logloom_private.require_parameter('p_service', p_service is null);
  if length(p_service) not between 1 and 200 then
    perform logloom_private.refuse('api_keys.token_service_is_invalid');
  end if;
  if v_seconds not between 1 and v_longest then
    perform logloom_private.refuse('api_keys.token_lifetime_is_out_of_range', v_longest::text);
  end if;
  perform logloom_private.hold_tenant(v_tenant_id);
  select
    count(*) filter (where t.expires_at > now()) as live,
    count(*) filter (where t.created_at > now() - interval '1 minute') as new,
    extract(epoch from min(t.expires_at) filter (where t.expires_at > now()) - now()) as next_end,
    extract(
      epoch from min(t.created_at) filter (where t.created_at > now() - interval '1 minute')
        + interval '1 minute' - now()
    ) as minute_end
  into v_tokens
  from logloom_private.ingest_tokens t
  where t.tenant_id = v_tenant_id;
  if v_tokens.live >= v_plan.max_ingest_tokens then
    perform logloom_private.refuse_for_now(
      ceil(v_tokens.next_end)::integer, 'api_keys.too_many_tokens', v_plan.max_ingest_tokens::text
    );
  elsif v_tokens.new >= v_plan.ingest_tokens_per_minute then
    perform logloom_private.refuse_for_now(
      ceil(v_tokens.minute_end)::integer, 'api_keys.too_many_new_tokens',
      v_plan.ingest_tokens_per_minute::text
    );
  end if;
  insert into logloom_private.ingest_tokens (
    token_digest, tenant_id, service, created_by, session_id, expires_at
  )
  values (
    sha256(convert_to(v_token, 'UTF8')), v_tenant_id, p_service,
    case when not logloom_private.is_service_role() then logloom_private.current_user_id() end,
    -- A token of another issuer has no session in Supabase Auth.
    case when logloom_private.auth_session_is_there(v_session_id) then v_session_id end,
    now() + make_interval(secs => v_seconds)
  )
  returning v_token, expires_at, service into v_result;
  insert into logloom.audit_events (tenant_id, actor, action, subject, details)
  values (
    v_tenant_id, logloom_private.actor(), 'ingest_token.created', p_service,
    jsonb_build_object('expires_at', v_result.expires_at)
  );
  return v_result;
end;
$$;

create function public.create_ingest_token(
  p_tenant_id text default null,
  p_service text default null,
  p_expires_in integer default null
)
returns public.logloom_ingest_token
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return logloom_private.issue_ingest_token(
    p_tenant_id, logloom_private.trim_space(p_service), p_expires_in
  );
end;
$$;

comment on function public.create_ingest_token(text, text, integer) is
  'Creates a token for a page that sends events of one service. Only this answer shows the token. '
  'The token ends after p_expires_in seconds (at most 900, the default), or when its user may no '
  'longer send. p_service: 1 to 200 characters after trimming. Errors: PT400, PT401, PT403, PT429 '
  '(limits of the plan).';

-- Whether an ingest token is valid: it has not expired, and its user may still send.
create function logloom_private.ingest_token_is_alive(p_token logloom_private.ingest_tokens)
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return p_token.expires_at > now()
    and not logloom_private.is_being_deleted(p_token.tenant_id)
    and (
      p_token.created_by is null
      or coalesce(
        logloom_private.acting_role(p_token.tenant_id, p_token.created_by), 'viewer'
      ) <> 'viewer'
      -- If roles come from tokens, only the user's next token would show whether the user still has
      -- a role.
      or (select s.roles_from_token from logloom_private.settings s)
    )
    and (
      p_token.session_id is null
      or logloom_private.auth_session_is_there(p_token.session_id) is not false
    );
end;
$$;
