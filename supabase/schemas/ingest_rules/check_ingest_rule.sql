-- Returns a rule as the function ingest applies it. Raises PT400 if it is invalid.
create function logloom_private.compiled_rule(p_tenant_id text, p_condition text, p_action jsonb)
returns jsonb
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role may call the compiler
declare
  v_action jsonb := logloom_private.checked_action(p_action);
begin
  if v_action ? 'keep' then
    v_action := jsonb_set(v_action, '{keep}', (
      select coalesce(jsonb_agg(logloom_private.checked_condition(p_tenant_id, k) order by n), '[]')
      from jsonb_array_elements_text(v_action -> 'keep') with ordinality u (k, n)
    ));
  end if;
  return jsonb_build_object(
    'when', logloom_private.checked_condition(p_tenant_id, p_condition), 'do', v_action
  );
end;
$$;

-- Checks a rule before it is saved, and compiles it.
create function logloom_private.check_ingest_rule()
returns trigger
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role reads the key of a tenant
begin
  -- This row has the version. Without it no request would get the rule.
  insert into logloom_private.ingest_rule_sets (tenant_id) values (new.tenant_id)
  on conflict do nothing;
  new.name := logloom_private.trim_space(new.name);
  new.condition := nullif(logloom_private.trim_space(new.condition), '');
  new.compiled := jsonb_build_object('id', new.rule_id)
    || logloom_private.compiled_rule(new.tenant_id, new.condition, new.action);
  -- In action, the conditions of keep stay as they were written. In compiled, they are tests.
  new.action := (new.compiled -> 'do') || coalesce(
    jsonb_strip_nulls(jsonb_build_object('keep', new.action -> 'keep')), '{}'
  );
  new.created_by := coalesce(old.created_by, logloom_private.actor());
  new.updated_at := now();
  if length(new.name) not between 1 and 100 then
    perform logloom_private.refuse('ingest_rules.name_is_invalid');
  elsif exists (
    select from logloom.ingest_rules r
    where r.tenant_id = new.tenant_id and r.name = new.name and r.rule_id <> new.rule_id
  ) then
    perform logloom_private.refuse('ingest_rules.name_is_taken');
  elsif new.action -> 'hash' = 'true' and not exists (
    select from logloom_private.ingest_rule_sets s
    where s.tenant_id = new.tenant_id and s.hash_key is not null
  ) then
    perform logloom_private.refuse('ingest_rules.hash_needs_a_key');
  end if;
  return new;
end;
$$;

create trigger check_ingest_rule
before insert or update on logloom.ingest_rules
for each row execute function logloom_private.check_ingest_rule();

-- Audits a change of a rule, and gives the tenant's rules another version.
create function logloom_private.note_ingest_rule()
returns trigger
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role writes audit events
declare
  v_rule constant logloom.ingest_rules := coalesce(new, old);
  v_unseen constant text[] := '{compiled,updated_at}';
begin
  update logloom_private.ingest_rule_sets s
  set version = case when exists (
    select from logloom.ingest_rules r where r.tenant_id = s.tenant_id and r.is_on
  ) then gen_random_uuid() end
  where s.tenant_id = v_rule.tenant_id;
  insert into logloom.audit_events (tenant_id, actor, action, subject, details)
  values (
    v_rule.tenant_id, logloom_private.actor(),
    case tg_op when 'INSERT' then 'ingest_rule.created' when 'DELETE' then 'ingest_rule.deleted'
      else 'ingest_rule.changed' end,
    v_rule.rule_id::text,
    jsonb_build_object('name', v_rule.name) || case tg_op
      when 'UPDATE'
        then logloom_private.changed_members(to_jsonb(old) - v_unseen, to_jsonb(new) - v_unseen)
      else jsonb_strip_nulls(jsonb_build_object(
        'condition', v_rule.condition, 'action', v_rule.action, 'is_on', v_rule.is_on
      ))
    end
  );
  return null;
end;
$$;

create trigger note_ingest_rule
after insert or delete or update on logloom.ingest_rules
for each row execute function logloom_private.note_ingest_rule();
