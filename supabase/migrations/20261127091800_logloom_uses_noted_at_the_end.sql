-- The use of a key and of a portal session is written down after the answer.

set local check_function_bodies = off;

do $$
begin
  -- Jobs and requests read the settings first: those under way end, and no other begins.
  perform set_config('lock_timeout', '30s', true);
  lock table logloom_private.settings, logloom.plans in access exclusive mode;
  perform set_config('lock_timeout', '0', true);
end;
$$;

create or replace function logloom_private.note_key_read(p_key_digest text, p_operation text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_key constant logloom.api_keys := logloom_private.key_of_digest(p_key_digest);
  v_day constant date := logloom_private.utc_day(now());
begin
  if v_key.key_id is null then
    perform logloom_private.refuse('callers.key_is_unknown');
  end if;
  perform logloom_private.note_key_use(v_key);
  update logloom_private.key_reads r
  set reads = r.reads + 1
  where r.ctid = (
    select f.ctid
    from logloom_private.key_reads f
    where f.key_id = v_key.key_id and f.day = v_day and f.operation = p_operation
    limit 1
    for no key update skip locked
  );
  if not found then
    insert into logloom_private.key_reads (key_id, day, operation, reads)
    values (v_key.key_id, v_day, p_operation, 1);
  end if;
end;
$$;

create or replace function logloom_private.scope_of_key(p_key_digest text)
returns logloom_private.reading_scope
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_key constant logloom.api_keys := logloom_private.key_of_digest(p_key_digest);
  v_scope logloom_private.reading_scope;
begin
  if v_key.key_id is null then
    perform logloom_private.refuse('callers.key_is_unknown');
  elsif not v_key.scopes @> '{read}' then
    perform logloom_private.refuse('callers.key_may_only_send');
  end if;
  v_scope.tenant_id := v_key.tenant_id;
  v_scope.actor := v_key.key_id;
  if v_key.view_id is not null then
    v_scope := logloom_private.scope_in_view(v_scope, v_key.view_id);
  end if;
  return v_scope;
end;
$$;

create or replace function logloom_private.scope_of_session(
  p_session logloom.portal_sessions,
  p_origin text
)
returns logloom_private.reading_scope
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_scope logloom_private.reading_scope;
  v_tree jsonb;
begin
  if p_session.revoked_at is not null then
    perform logloom_private.refuse('callers.portal_session_is_revoked');
  elsif not logloom_private.portal_session_is_alive(p_session) then
    perform logloom_private.refuse('callers.portal_session_is_over');
  elsif p_origin is not null and p_origin <> all (p_session.origins) then
    perform logloom_private.refuse('callers.portal_origin_is_unknown', left(p_origin, 200));
  end if;
  v_scope.tenant_id := p_session.tenant_id;
  v_scope.actor := 'portal ' || p_session.session_id;
  if p_session.view_id is not null then
    v_scope := logloom_private.scope_in_view(v_scope, p_session.view_id);
  end if;
  if p_session.query_dsl is not null then
    begin
      v_tree := (logloom_private.compile_query(p_session.query_dsl)).tree;
    exception when sqlstate 'PT400' then
      perform logloom_private.refuse('callers.portal_query_is_broken');
    end;
    v_scope.filter := case when v_scope.filter is null then v_tree
      else jsonb_build_object(
        'type', 'and', 'items', jsonb_build_array(v_scope.filter, v_tree)
      ) end;
  end if;
  return v_scope;
end;
$$;

create or replace function logloom_private.read_by_key(
  p_digest text,
  p_operation text,
  p_parameters jsonb,
  p_origin text
)
returns json
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role reads the digests of keys
declare
  v_session logloom.portal_sessions;
  v_scope logloom_private.reading_scope;
  v_answer json;
begin
  select s.* into v_session
  from logloom.portal_sessions s
  where s.token_digest = decode(p_digest, 'hex');
  if found then
    v_scope := logloom_private.scope_of_session(v_session, p_origin);
    perform logloom_private.take_portal_read(v_scope.tenant_id);
    v_answer := logloom_private.read_in_scope(v_scope, p_operation, p_parameters);
    perform logloom_private.note_session_use(v_session);
    return v_answer;
  end if;
  v_answer := logloom_private.read_in_scope(
    logloom_private.scope_of_key(p_digest), p_operation, p_parameters
  );
  perform logloom_private.note_key_read(p_digest, p_operation);
  return v_answer;
end;
$$;

select logloom_private.finish_migration();
