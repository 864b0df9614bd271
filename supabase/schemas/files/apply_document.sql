-- Returns the members of p_secrets that differ from a thing's secrets, and null for each secret to
-- remove. Compares the digests that the sealing function puts into sealed texts.
create function logloom_private.changed_file_secrets(
  p_tenant_id text,
  p_thing_id uuid,
  p_secrets jsonb
)
returns jsonb
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role reads the secrets of streams and the key of ingest rules
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
  v_digest constant text := '\.(=[A-Za-z0-9_-]{43})';
begin
  return (
    select coalesce(jsonb_object_agg(n.name, p_secrets -> n.name), '{}')
    from (
      select r.notification_secrets as stored
      from logloom.alert_rules r
      where r.tenant_id = v_tenant_id and r.rule_id = p_thing_id
      union all
      select s.secrets
      from logloom.log_streams s
      where s.tenant_id = v_tenant_id and s.stream_id = p_thing_id
      union all
      -- If the document has no key, the tenant's key stays.
      select jsonb_strip_nulls(jsonb_build_object('hash_key', k.hash_key))
      from logloom.ingest_rules i
      join logloom_private.ingest_rule_sets k using (tenant_id)
      where i.tenant_id = v_tenant_id and i.rule_id = p_thing_id and p_secrets <> '{}'
    ) t
    cross join lateral jsonb_object_keys(t.stored || p_secrets) n (name)
    where (substring(t.stored ->> n.name from v_digest)
      = substring(p_secrets ->> n.name from v_digest)) is not true
  );
end;
$$;

-- Returns the arguments of an operation for fields of a document.
create function logloom_private.file_arguments(
  p_type logloom_private.file_type,
  p_tenant_id text,
  p_name text,
  p_fields jsonb
)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_view_id uuid;
  v_rule_ids uuid[];
begin
  if p_fields ->> 'view' <> '' then
    select v.view_id into v_view_id
    from logloom.log_views v
    where v.tenant_id = p_tenant_id and v.name = p_fields ->> 'view';
    if not found then
      perform logloom_private.refuse('tenants.view_not_found');
    end if;
  end if;
  if p_fields ->> 'rule' <> '' then
    v_rule_ids := array(
      select r.rule_id
      from logloom.alert_rules r
      where r.tenant_id = p_tenant_id and r.name = p_fields ->> 'rule'
    );
    if cardinality(v_rule_ids) = 0 then
      perform logloom_private.refuse('alerts.rule_not_found');
    elsif cardinality(v_rule_ids) > 1 then
      perform logloom_private.refuse('files.name_is_ambiguous', 'alert_rules');
    end if;
  end if;
  return coalesce(
    (select jsonb_object_agg('p_' || f.key, f.value) from jsonb_each(p_fields - 'view') f), '{}'
  ) || jsonb_build_object(
    'p_' || p_type.name_member, p_name, 'p_tenant_id', p_tenant_id, 'p_view_id', v_view_id,
    'p_is_shared', true,
    -- A null in a group stays: it means records without the field.
    'p_matcher', jsonb_strip_nulls(jsonb_build_object('rule_id', v_rule_ids[1]))
      || case when p_fields -> 'group' <> '{}'
        then jsonb_build_object('group', p_fields -> 'group') else '{}' end
  );
end;
$$;

-- Returns {field: {old, new}} for the fields of p_new that differ, without secrets.
create function logloom_private.file_differences(p_old jsonb, p_new jsonb)
returns jsonb
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select coalesce(
      jsonb_object_agg(n.key, jsonb_build_object('old', p_old -> n.key, 'new', n.value)), '{}'
    )
    from jsonb_each(p_new - 'secrets') n
    where n.value <> 'null' and n.value is distinct from p_old -> n.key
  );
end;
$$;

-- Makes a thing as a document describes it. Returns the change, or null if nothing differs.
-- p_thing: the existing thing as {id, name, fields}; null creates a thing.
create function logloom_private.apply_document(
  p_type logloom_private.file_type,
  p_tenant_id text,
  p_document jsonb,
  p_thing jsonb
)
returns public.logloom_file_change
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_name constant text := p_document ->> 'name';
  v_defaults constant jsonb := p_type.fields || case p_document #>> '{fields,kind}'
    when 'new_error' then '{"query_dsl": "*", "cooldown_minutes": 0}'::jsonb
    else '{}'
  end;
  -- A field that is null has its default, as one that is left out.
  v_wanted constant jsonb := v_defaults || (
    select coalesce(jsonb_object_agg(f.key, case f.key
      when 'config' then jsonb_strip_nulls(f.value) else f.value
    end), '{}')
    from jsonb_each(p_document -> 'fields') f
    where f.value <> 'null'
  );
  v_old constant jsonb := coalesce(p_thing -> 'fields', v_defaults);
  v_fields jsonb := logloom_private.file_differences(v_old, v_wanted);
  v_secrets jsonb := v_wanted -> 'secrets';
  v_fixed text;
  v_sent jsonb;
  v_answer jsonb;
begin
  if p_thing is null then
    perform logloom_private.call_operation(
      p_type.creates, logloom_private.file_arguments(p_type, p_tenant_id, v_name, v_wanted)
    );
    select jsonb_object_agg(f.key, f.value - 'old') into v_fields from jsonb_each(v_fields) f;
  else
    if v_secrets is not null then
      -- A new address gets all secrets again.
      v_secrets := logloom_private.changed_file_secrets(
        p_tenant_id, (p_thing ->> 'id')::uuid, v_secrets
      ) || case when v_fields ? 'config' then v_secrets else '{}' end;
    end if;
    select
      min(w.key) filter (where w.key = any (p_type.fixed_fields)
        or w.key = 'view' and w.value = '""' and p_type.type <> 'members'),
      jsonb_object_agg(w.key, w.value)
    into v_fixed, v_sent
    from jsonb_each(v_wanted - 'secrets') w
    where v_fields ? w.key;
    if v_fixed is not null then
      perform logloom_private.refuse('files.field_is_fixed', v_fixed);
    elsif v_name = p_thing ->> 'name' and v_sent is null and coalesce(v_secrets, '{}') = '{}' then
      return null;
    end if;
    if p_type.changes is null then
      perform logloom_private.call_operation(p_type.deletes, jsonb_build_object(
        'p_' || p_type.id_member, p_thing -> 'id', 'p_tenant_id', p_tenant_id
      ));
      v_sent := v_wanted;
    end if;
    select o.answer into v_answer
    from logloom_private.call_operation(
      coalesce(p_type.changes, p_type.creates),
      logloom_private.file_arguments(
        p_type, p_tenant_id, v_name, coalesce(v_sent, '{}') || (
          select coalesce(jsonb_object_agg(f, v_wanted -> f), '{}')
          from unnest(p_type.sent_fields) f
        )
      ) || jsonb_build_object(
        'p_' || p_type.id_member, p_thing -> 'id', 'p_secrets', nullif(v_secrets, '{}'),
        'p_from', p_thing -> 'starts_at'
      )
    ) o (answer);
    -- Compares with the answer, because the operation may trim texts or sort lists.
    v_fields := logloom_private.file_differences(
      v_old, logloom_private.file_fields(p_type, v_answer)
    );
  end if;
  return row(
    case when p_thing is null then 'create' else 'update' end, p_type.type, v_name,
    nullif(p_thing ->> 'name', v_name),
    coalesce(v_fields, '{}') || case when v_secrets <> '{}' then jsonb_build_object(
      'secrets',
      jsonb_build_object('new', logloom_private.shown_secrets(v_wanted -> 'secrets'))
    ) else '{}' end
  )::public.logloom_file_change;
end;
$$;
