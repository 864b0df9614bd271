-- Moves the counts of groups to p_into. From now on p_into counts their records.
create function logloom_private.merge_error_groups(
  p_tenant_id text,
  p_fingerprints text[],
  p_into text
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into logloom_private.error_counts as c (tenant_id, fingerprint, is_day, at, records)
  select p_tenant_id, p_into, o.is_day, o.at, sum(o.records)
  from logloom_private.error_counts o
  where o.tenant_id = p_tenant_id and o.fingerprint = any (p_fingerprints)
  group by o.is_day, o.at
  on conflict (tenant_id, fingerprint, is_day, at) do update
  set records = c.records + excluded.records;
  delete from logloom_private.error_counts o
  where o.tenant_id = p_tenant_id and o.fingerprint = any (p_fingerprints);
  update logloom.error_groups g
  set
    title = coalesce(g.title, s.title),
    records = g.records + s.records,
    first_seen = least(g.first_seen, s.first_seen),
    last_seen = greatest(g.last_seen, s.last_seen),
    first_release = case when s.first_seen < g.first_seen
      then coalesce(s.first_release, g.first_release) else g.first_release end,
    last_release = case when s.last_seen > g.last_seen
      then coalesce(s.last_release, g.last_release) else g.last_release end,
    users = array(
      select distinct u
      from logloom.error_groups o
      cross join lateral unnest(o.users) u
      where o.tenant_id = p_tenant_id and o.fingerprint = any (p_into || p_fingerprints)
      order by u limit logloom_private.error_users_kept()
    )
  from (
    select
      sum(o.records) as records, min(o.first_seen) as first_seen, max(o.last_seen) as last_seen,
      min(o.title) as title,
      (array_agg(o.first_release order by o.first_seen))[1] as first_release,
      (array_agg(o.last_release order by o.last_seen desc))[1] as last_release
    from logloom.error_groups o
    where o.tenant_id = p_tenant_id and o.fingerprint = any (p_fingerprints)
  ) s
  where g.tenant_id = p_tenant_id and g.fingerprint = p_into;
  update logloom.error_groups g
  set merged_into = p_into, records = 0, users = '{}', updated_at = now()
  where g.tenant_id = p_tenant_id
    and (g.fingerprint = any (p_fingerprints) or g.merged_into = any (p_fingerprints));
end;
$$;

-- Changes error groups of the caller's tenant: all that are named, or none.
create function logloom_private.change_error_groups(
  p_fingerprints text[],
  p_state text,
  p_ignored_until text,
  p_release text,
  p_assigned_to text,
  p_note text,
  p_merge_into text
)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because email addresses are in a table of Auth, and no API role changes groups
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change();
  v_user_id constant text := logloom_private.require_user_id();
  v_until constant timestamptz :=
    logloom_private.time_parameter('p_ignored_until', p_ignored_until);
  v_release constant text := nullif(logloom_private.trim_space(p_release), '');
  v_note constant text := logloom_private.trim_space(p_note);
  v_assignee text;
  v_held text[];
begin
  perform logloom_private.require_parameter('p_fingerprints', p_fingerprints is null);
  if cardinality(p_fingerprints) not between 1 and 1000 then
    perform logloom_private.refuse('error_groups.too_many_groups');
  elsif num_nonnulls(
    p_state, p_ignored_until, p_release, p_assigned_to, p_note, p_merge_into
  ) = 0 then
    perform logloom_private.refuse('error_groups.no_change');
  elsif p_state not in ('open', 'resolved', 'ignored') then
    perform logloom_private.refuse('error_groups.state_cannot_be_set');
  elsif p_ignored_until is not null and (p_state = 'ignored' and v_until > now()) is not true then
    perform logloom_private.refuse('error_groups.ignored_until_needs_ignored');
  elsif p_release is not null
    and (p_state = 'resolved' and length(v_release) <= 200) is not true
  then
    perform logloom_private.refuse('error_groups.release_needs_resolved');
  elsif length(v_note) > 2000 then
    perform logloom_private.refuse('alerts.incident_note_is_too_long');
  elsif p_merge_into = any (p_fingerprints) then
    perform logloom_private.refuse('error_groups.merge_into_itself');
  elsif p_assigned_to <> '' then
    v_assignee := logloom_private.assignee_named(v_tenant_id, v_user_id, p_assigned_to);
  end if;
  -- Locked in order: two callers and the job cannot deadlock.
  v_held := array(
    select g.fingerprint
    from logloom.error_groups g
    where g.tenant_id = v_tenant_id and g.merged_into is null and g.fingerprint <> 'others'
      and g.fingerprint = any (p_fingerprints || p_merge_into)
    order by g.fingerprint
    for no key update
  );
  if not v_held @> array_remove(p_fingerprints || p_merge_into, null) then
    perform logloom_private.refuse('error_groups.group_not_found');
  end if;
  update logloom.error_groups g
  set
    state = coalesce(p_state, g.state),
    is_regressed = g.is_regressed and p_state is distinct from 'resolved',
    ignored_until = case when p_state is null then g.ignored_until else v_until end,
    resolved_at = case
      when p_state is null then g.resolved_at
      when p_state = 'resolved' then coalesce(g.resolved_at, now())
    end,
    resolved_release = case when p_state is null then g.resolved_release else v_release end,
    assigned_to = case when p_assigned_to is null then g.assigned_to else v_assignee end,
    note = case when v_note is null then g.note when v_note <> '' then v_note end,
    updated_at = now()
  where g.tenant_id = v_tenant_id and g.fingerprint = any (p_fingerprints);
  if v_release is not null then
    insert into logloom_private.releases (tenant_id, release, first_seen)
    values (v_tenant_id, v_release, now())
    on conflict (tenant_id, release) do nothing;
  end if;
  if p_state in ('resolved', 'ignored') then
    perform logloom_private.end_error_incidents(v_tenant_id, p_fingerprints, now());
  end if;
  if p_merge_into is not null then
    perform logloom_private.merge_error_groups(v_tenant_id, p_fingerprints, p_merge_into);
    perform logloom_private.end_error_incidents(v_tenant_id, p_fingerprints, now());
  end if;
end;
$$;

create function public.update_error_group(
  p_fingerprints text[] default null,
  p_state text default null,
  p_ignored_until text default null,
  p_release text default null,
  p_assigned_to text default null,
  p_note text default null,
  p_merge_into text default null
)
returns public.logloom_success
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  perform logloom_private.change_error_groups(
    p_fingerprints, p_state, p_ignored_until, p_release, p_assigned_to, p_note, p_merge_into
  );
  return row(true)::public.logloom_success;
end;
$$;

comment on function public.update_error_group(text[], text, text, text, text, text, text) is
  'Changes 1 to 1000 error groups. Null leaves a part as it is. If one group is not the tenant''s, '
  'nothing changes. p_state: open, resolved or ignored. p_ignored_until: with ignored, until when. '
  'p_release: with resolved, the last release that has the error. Only a later one makes the group '
  'regress. p_assigned_to: user_id or email address of a member, empty for nobody. p_note: at most '
  '2000 characters, empty for none. p_merge_into: fingerprint of the group that counts their '
  'records from now on. This cannot be undone. Errors: PT400, PT401, PT403, PT404.';

-- Writes audit events for changes of groups by people. Only people change updated_at. The events
-- leave out a note's text, because nobody could remove it from the audit log.
create function logloom_private.audit_error_groups()
returns trigger
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role writes audit events
begin
  insert into logloom.audit_events (tenant_id, actor, action, subject, details)
  select new.tenant_id, logloom_private.actor(), 'error_group.changed', new.fingerprint, c.changes
  from logloom_private.changed_members(
    to_jsonb(old), jsonb_build_object(
      'state', new.state, 'ignored_until', new.ignored_until,
      'resolved_release', new.resolved_release, 'assigned_to', new.assigned_to,
      'merged_into', new.merged_into
    )
  ) c (changes)
  where c.changes <> '{}' or new.note is distinct from old.note;
  return null;
end;
$$;

create trigger audit_error_groups
after update of updated_at on logloom.error_groups
for each row execute function logloom_private.audit_error_groups();
