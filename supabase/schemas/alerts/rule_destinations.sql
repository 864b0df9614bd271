-- Removes repeated destinations and keeps the order.
create function logloom_private.distinct_destinations(p_destinations text[])
returns text[]
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return array(
    select d.destination
    from unnest(p_destinations) with ordinality d (destination, i)
    group by d.destination
    order by min(d.i)
  );
end;
$$;

-- Returns a rule's secrets (sealed addresses of channels) after applying p_secrets.
create function logloom_private.changed_rule_secrets(p_current jsonb, p_secrets jsonb)
returns jsonb
language sql
immutable
return logloom_private.changed_secrets(
  p_current, nullif(p_secrets, 'null'), '{slack_url,discord_url,teams_url,pagerduty_key}'
);

-- Raises PT400 if p_on_absent is fire and the query has no groups.
create function logloom_private.require_groups(p_query_dsl text, p_on_absent text)
returns void
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role calls the compiler's parts
begin
  if p_on_absent = 'fire'
    and cardinality((logloom_private.compile_query(p_query_dsl)).by_fields) = 0
  then
    perform logloom_private.refuse('alerts.absent_needs_groups');
  end if;
end;
$$;
