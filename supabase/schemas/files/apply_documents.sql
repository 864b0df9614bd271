-- Deletes all things of the types p_pruned_types that no document describes. p_things: things that
-- were already read, by type. Errors name the thing. Refuses to delete a rule that a silence in
-- p_documents names, because the next call would refuse that silence.
create function logloom_private.prune_files(
  p_tenant_id text,
  p_documents jsonb,
  p_pruned_types text[],
  p_things jsonb
)
returns public.logloom_file_change[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_type logloom_private.file_type;
  v_things jsonb;
  v_described text[];
  v_thing jsonb;
  v_changes public.logloom_file_change[] := '{}';
  v_state text;
  v_detail text;
  v_hint text;
begin
  -- Deletes things before the things that they name.
  for v_type in
    select t.*
    from logloom_private.known_file_types(p_pruned_types) t
    where t.deletes is not null
    order by t.position desc
  loop
    v_thing := null;
    v_things := coalesce(
      p_things -> v_type.type, logloom_private.file_things(v_type, p_tenant_id)
    );
    v_described := array(
      select logloom_private.described_thing(d, v_things) ->> 'id'
      from jsonb_array_elements(p_documents) d
      where d ->> 'type' = v_type.type
    );
    for v_thing in
      select t from jsonb_array_elements(v_things) t
      where array_position(v_described, t ->> 'id') is null
    loop
      if v_type.type = 'alert_rules' and p_documents @> jsonb_build_array(jsonb_build_object(
        'type', 'silences', 'fields', jsonb_build_object('rule', v_thing -> 'name')
      )) then
        perform logloom_private.refuse('files.rule_is_named');
      elsif v_type.type = 'members' and v_thing ->> 'id' = logloom_private.current_user_id() then
        perform logloom_private.refuse('files.caller_is_pruned');
      end if;
      perform logloom_private.call_operation(v_type.deletes, jsonb_build_object(
        'p_' || v_type.id_member, v_thing -> 'id', 'p_tenant_id', p_tenant_id
      ));
      v_changes := v_changes || row(
        'delete', v_type.type, v_thing ->> 'name', null, '{}'
      )::public.logloom_file_change;
    end loop;
  end loop;
  return v_changes;
exception when others then
  get stacked diagnostics
    v_state = returned_sqlstate, v_detail = pg_exception_detail, v_hint = pg_exception_hint;
  if v_state not like 'PT%' or v_thing is null then
    raise;
  end if;
  perform logloom_private.refuse_in_document(
    v_state, format('%s, to be deleted from %s: %s', v_thing ->> 'name', v_type.type, sqlerrm),
    v_detail, v_hint, null
  );
end;
$$;

-- Returns the thing with the name of a document, or else with its renamed_from; null if none has.
create function logloom_private.described_thing(p_document jsonb, p_things jsonb)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_member text;
  v_found jsonb;
begin
  foreach v_member in array array['name', 'renamed_from'] loop
    v_found := jsonb_path_query_array(
      p_things, '$[*] ? (@.name == $name)', jsonb_build_object('name', p_document -> v_member)
    );
    exit when v_found <> '[]';
  end loop;
  if jsonb_array_length(v_found) > 1 then
    perform logloom_private.refuse('files.name_is_ambiguous', p_document ->> 'type');
  end if;
  return v_found -> 0;
end;
$$;

-- Puts the described ingest rules in the order of their documents. Rules without a document keep
-- their places. Returns a change, or none if the order is right.
create function logloom_private.order_file_rules(p_tenant_id text, p_documents jsonb)
returns public.logloom_file_change[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_wanted constant uuid[] := array(
    select r.rule_id
    from jsonb_array_elements(p_documents) with ordinality d (document, n)
    join logloom.ingest_rules r
      on r.tenant_id = p_tenant_id and r.name = d.document ->> 'name'
    where d.document ->> 'type' = 'ingest_rules'
    order by d.n
  );
  v_order constant uuid[] := array(
    select r.rule_id
    from logloom.ingest_rules r
    where r.tenant_id = p_tenant_id
    order by r.position, r.rule_id
  );
  v_new uuid[] := '{}';
  v_id uuid;
  v_next integer := 1;
begin
  foreach v_id in array v_order loop
    v_new := v_new || case when v_id = any (v_wanted) then v_wanted[v_next] else v_id end;
    v_next := v_next + (v_id = any (v_wanted))::integer;
  end loop;
  if v_new = v_order then
    return '{}';
  end if;
  return (
    select array[row(
      'update', 'ingest_rules', 'the order', null,
      jsonb_build_object('order', jsonb_build_object('new', jsonb_agg(o.answer -> 'name')))
    )::public.logloom_file_change]
    from logloom_private.call_operation('order_ingest_rules', jsonb_build_object(
      'p_rule_ids', v_new, 'p_tenant_id', p_tenant_id
    )) o (answer)
  );
end;
$$;

-- Makes the tenant as the documents describe it. Deletes things without a document, but only of the
-- types p_pruned_types. Errors have the index of their document.
create function logloom_private.apply_documents(
  p_tenant_id text,
  p_documents jsonb,
  p_pruned_types text[]
)
returns public.logloom_file_change[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id constant text := logloom_private.provision_current_tenant(p_tenant_id);
  v_document record;
  v_type logloom_private.file_type;
  v_things jsonb := '{}';
  v_thing jsonb;
  v_pruned text[] := coalesce(p_pruned_types, '{}');
  v_digest text;
  v_hash_key text;
  v_key text;
  v_described text[] := '{}';
  v_early text[];
  v_change public.logloom_file_change;
  v_changes public.logloom_file_change[] := '{}';
  v_state text;
  v_detail text;
  v_hint text;
begin
  perform logloom_private.require_parameter('p_documents', p_documents is null);
  if jsonb_typeof(p_documents) <> 'array' or jsonb_array_length(p_documents) > 1000 then
    perform logloom_private.refuse('files.documents_are_invalid');
  end if;
  perform logloom_private.known_file_types(p_pruned_types);
  -- Does not wait, because a waiting request takes up a connection that other tenants need.
  -- Other changes of members, too, take the lock of members before they change rules.
  if not pg_try_advisory_xact_lock(logloom_private.lock_key('files'), hashtext(v_tenant_id))
    or ('members' = any (v_pruned) or p_documents @> '[{"type": "members"}]')
      and not pg_try_advisory_xact_lock(
        logloom_private.lock_key('members'), hashtext(v_tenant_id)
      )
  then
    perform logloom_private.refuse_for_now(2, 'files.tenant_is_busy');
  end if;

  -- 1. Create and change, in the order of types
  for v_document in
    select d.value, d.n - 1 as index
    from jsonb_array_elements(p_documents) with ordinality d (value, n)
    left join logloom_private.file_types() t on t.type = d.value ->> 'type'
    order by t.position nulls first, d.n
  loop
    -- Rules and streams of removed members pause. Documents made after that enable them again.
    if v_document.value ->> 'type' not in ('views', 'members') and 'members' = any (v_pruned) then
      v_changes := v_changes
        || logloom_private.prune_files(v_tenant_id, p_documents, '{members}', v_things);
      v_pruned := array_remove(v_pruned, 'members');
    end if;
    loop
      begin
        v_type := logloom_private.checked_document(v_document.value);
        v_digest := substring(
          v_document.value #>> '{fields,secrets,hash_key}' from '\.(=[A-Za-z0-9_-]{43})'
        );
        if v_digest <> v_hash_key then
          perform logloom_private.refuse('files.hash_keys_differ');
        end if;
        v_hash_key := coalesce(v_digest, v_hash_key);
        if not v_things ? v_type.type then
          v_things := v_things || jsonb_build_object(
            v_type.type, logloom_private.file_things(v_type, v_tenant_id)
          );
        end if;
        v_thing := logloom_private.described_thing(v_document.value, v_things -> v_type.type);
        v_key := v_type.type || coalesce(
          ' id ' || (v_thing ->> 'id'), ' name ' || (v_document.value ->> 'name')
        );
        if v_key = any (v_described) then
          perform logloom_private.refuse('files.name_is_repeated', v_type.type);
        end if;
        v_change := logloom_private.apply_document(
          v_type, v_tenant_id, v_document.value, v_thing
        );
        v_described := v_described || v_key;
        -- Undoes an update that changed nothing, for example if only spaces at the end differ.
        if v_change.fields = '{}' and v_change.action = 'update' and v_change.renamed_from is null
        then
          raise exception using errcode = 'triggered_action_exception';
        end if;
        if v_change.action is not null then
          v_changes := v_changes || v_change;
        end if;
        exit;
      exception
      when triggered_action_exception then
        exit;
      when others then
        get stacked diagnostics
          v_state = returned_sqlstate, v_detail = pg_exception_detail, v_hint = pg_exception_hint;
        if v_state not like 'PT%' then
          raise;
        elsif sqlerrm not like 'Plan limit exceeded%' or v_type.type <> all (v_pruned) then
          perform logloom_private.refuse_in_document(
            v_state, sqlerrm, v_detail, v_hint, v_document.index::integer
          );
        end if;
      end;
      -- At the limit of the plan, deletes things without a document, and first those that may name
      -- them. Then tries again.
      v_early := array(
        select t.type
        from logloom_private.known_file_types(v_pruned) t
        where t.position >= v_type.position
      );
      v_changes := v_changes
        || logloom_private.prune_files(v_tenant_id, p_documents, v_early, v_things);
      v_pruned := array(select unnest(v_pruned) except select unnest(v_early));
    end loop;
  end loop;

  -- 2. Delete, then put the rules in order
  return v_changes || logloom_private.prune_files(
    v_tenant_id, p_documents, v_pruned, v_things
  ) || logloom_private.order_file_rules(v_tenant_id, p_documents);
exception
when lock_not_available or deadlock_detected then
  perform logloom_private.refuse_for_now(2, 'files.tenant_is_busy');
when query_canceled then
  perform logloom_private.refuse('files.took_too_long');
end;
$$;
