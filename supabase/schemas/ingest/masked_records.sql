-- Applies masks to a record. p_in is "in" of the action: "everywhere", or {fields, attrs}.
create function logloom_private.masked_record(
  p_record logloom_private.own_record,
  p_in jsonb,
  p_masks logloom_private.text_mask[],
  p_until timestamptz
)
returns logloom_private.own_record
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
begin
  return jsonb_populate_record(p_record, (
    select jsonb_object_agg(f.key, case
      when p_in = '"everywhere"' or p_in -> 'fields' ? f.key
        then logloom_private.masked_json(f.value, p_masks, p_until)
      when f.key = 'attrs' and jsonb_typeof(f.value) = 'object' then f.value || (
        select coalesce(
          jsonb_object_agg(a.key, logloom_private.masked_json(a.value, p_masks, p_until)), '{}'
        )
        from jsonb_each(f.value) a
        where p_in -> 'attrs' ? a.key
      )
      else f.value
    end)
    from jsonb_each(to_jsonb(p_record) - '{ts,level}'::text[]) f
  ));
end;
$$;

-- Applies a tenant's masks to records that the database itself makes. Other rules do not apply to
-- such records. After two seconds texts become "[not checked]", so no tenant delays a job for long.
create function logloom_private.masked_records(
  p_tenant_id text,
  p_records logloom_private.own_record[]
)
returns logloom_private.own_record[]
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_until constant timestamptz := clock_timestamp() + interval '2 seconds';
  v_rule logloom.ingest_rules;
begin
  for v_rule in
    select r.*
    from logloom.ingest_rules r
    where r.tenant_id = p_tenant_id and r.is_on and r.action ->> 'type' = 'mask'
    order by r.position, r.rule_id
  loop
    execute format(
      'select array_agg(case when %s then logloom_private.masked_record(l, $2, $3, $4) else l end) '
        'from unnest($1) l',
      (logloom_private.compile_query(v_rule.condition)).filter
    )
    into p_records
    using p_records, v_rule.action -> 'in', logloom_private.text_masks(v_rule.action), v_until;
  end loop;
  return p_records;
end;
$$;
