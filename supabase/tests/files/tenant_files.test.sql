-- Documents make a tenant what they describe, in one transaction, and a second time change nothing.
begin;
\ir ../actors.psql
\ir ../by.psql
select plan(72);

create function pg_temp.document(p_type text, p_name text, p_fields jsonb, p_renamed text = null)
returns jsonb
language sql
as $$
  select jsonb_build_object(
    'type', p_type, 'name', p_name, 'fields', p_fields, 'renamed_from', p_renamed
  )
$$;

-- Returns the changes as text, or the error: its name, and the indexes of document and character.
create function pg_temp.files(
  p_operation text, p_documents jsonb, p_pruned text[] = '{}', p_user text = 'alice'
)
returns text
language plpgsql
as $$
declare
  v_answer text;
  v_detail text;
begin
  perform pg_temp.act_as_user('acme', p_user);
  execute format(
    'select coalesce(string_agg(concat_ws('' '', c.action, c.type, c.name, c.fields), E''\n''),
      '''') from unnest(public.%I($1, $2)) c', p_operation
  ) into v_answer using p_documents, p_pruned;
  perform pg_temp.act_as_postgres();
  return v_answer;
exception when others then
  get stacked diagnostics v_detail = pg_exception_detail;
  perform pg_temp.act_as_postgres();
  return concat_ws(
    ' ', sqlstate, v_detail::jsonb ->> 'name', v_detail::jsonb ->> 'document',
    v_detail::jsonb ->> 'position'
  );
end;
$$;

-- A stream with a secret of this digest.
create function pg_temp.stream(p_digest text, p_kind text = 'webhook')
returns jsonb
language sql
as $$
  select pg_temp.document('streams', 'Copy', jsonb_build_object(
    'kind', p_kind, 'config', '{"url": "https://a.example"}'::jsonb,
    'secrets', jsonb_build_object(
      'header.a', 'lls1.keykeyke.' || repeat('A', 38) || '.=' || repeat(p_digest, 43)
    )
  ))
$$;

create temp table given as
select jsonb_build_array(
  pg_temp.document('alert_rules', 'API errors', '{"query_dsl": "level:error", "threshold": 10,
    "comparison": "gt", "window_minutes": 5, "cooldown_minutes": 30, "view": "Shop",
    "description": "Call ops.\n"}'),
  pg_temp.document('saved_searches', 'Errors', '{"query_dsl": "level:error", "tags": ["a"]}'),
  pg_temp.document('dashboards', 'Board', '{"panels": [
    {"title": "All", "query_dsl": "* | count()", "kind": "lines"}]}'),
  pg_temp.stream('A'),
  pg_temp.document('views', 'Shop', '{"query_dsl": "service:shop"}'),
  pg_temp.document('ingest_rules', 'No pings', '{"condition": "@path:/ping", "action":
    {"type": "drop"}}'),
  pg_temp.document('members', 'bob', '{"role": "admin"}')
) as documents;

-- 1. Create once
select is(
  pg_temp.files('preview_tenant_files', jsonb_path_query_array(documents, '$[1,4]')),
  'create views Shop {"query_dsl": {"new": "service:shop"}}
create saved_searches Errors {"tags": {"new": ["a"]}, "query_dsl": {"new": "level:error"}}',
  'the preview lists what would be created, each after what it names'
) from given;
select is(
  (select count(*) from logloom.log_views where tenant_id = 'acme'), 0::bigint,
  'the preview creates nothing'
);
select is(
  regexp_replace(
    pg_temp.files('apply_tenant_files', documents), '^create (\w+).*\n?', '\1 ', 'gn'
  ),
  'views members saved_searches alert_rules dashboards streams ingest_rules ',
  'apply creates everything'
) from given;
select is(pg_temp.files('apply_tenant_files', documents), '', 'the second time changes nothing')
from given;
select is(
  (select count(*) from logloom.audit_events where tenant_id = 'acme' and action like '%changed'),
  0::bigint,
  'and nothing is audited'
);

-- 2. Change, rename, delete
select is(
  pg_temp.files('apply_tenant_files', jsonb_set(documents, '{0,fields,threshold}', '20')),
  'update alert_rules API errors {"threshold": {"new": 20, "old": 10}}', 'a field is changed'
) from given;
select is(
  (select jsonb_build_array(r.threshold, v.name) from logloom.alert_rules r
    join logloom.log_views v using (view_id)),
  '[20, "Shop"]', 'the rule has the new value, and its view'
);
select is(
  pg_temp.files('apply_tenant_files', jsonb_build_array(
    (documents -> 0) || '{"name": "Errors of the API", "renamed_from": "API errors"}',
    pg_temp.stream('B')
  )),
  'update alert_rules Errors of the API {"threshold": {"new": 10, "old": 20}}
update streams Copy {"secrets": {"new": {"header.a": {"set": true}}}}',
  'a rule is renamed, and another secret is written'
) from given;
select is(
  pg_temp.files('preview_tenant_files', jsonb_build_array(pg_temp.stream('B'))), '',
  'the same secret, sealed again, is no change'
) from given;
select is(
  pg_temp.by('alice', 'public.export_tenant_files(''{views,alert_rules}'')')::jsonb,
  '[{"type": "views", "name": "Shop", "fields": {"query_dsl": "service:shop"}},
    {"type": "alert_rules", "name": "Errors of the API", "fields": {
      "view": "Shop", "query_dsl": "level:error", "threshold": 10, "comparison": "gt",
      "description": "Call ops.", "window_minutes": 5, "cooldown_minutes": 30}}]',
  'an export has the fields that are not the default'
);
select is(
  pg_temp.files('apply_tenant_files', '[]', '{views}'),
  'PT409 views.in_use', 'a view that is in use is not deleted'
);
select alike(
  pg_temp.attempt($$select pg_temp.act_as_user('acme', 'alice'),
    public.apply_tenant_files('[]', '{views}')$$),
  'PT409 Shop, to be deleted from views: %', 'the error names it'
);
select pg_temp.act_as_postgres();
select is(
  pg_temp.files('apply_tenant_files', '[]', '{views,alert_rules,streams}'),
  'delete streams Copy {}
delete alert_rules Errors of the API {}
delete views Shop {}', 'pruned types lose what no document describes'
);
select is(
  (select count(*) from logloom.saved_searches where tenant_id = 'acme'), 1::bigint,
  'other types stay'
);

insert into logloom.saved_searches (tenant_id, created_by, name, query_dsl, is_shared)
values ('acme', 'alice', 'Twin', '*', true), ('acme', 'alice', 'Twin', '*', true);
select matches(
  pg_temp.files('apply_tenant_files', jsonb_build_array(pg_temp.stream('A'))),
  '^create streams Copy ', 'a deleted stream is created again'
);

-- 3. Refusals change nothing, and name the document
select is(
  pg_temp.files(
    'apply_tenant_files', jsonb_build_array(pg_temp.document('views', 'Other', '{}'), d.document)
  ),
  d.error, d.error
)
from (
  values
    (pg_temp.document('saved_searches', 'Bad', '{"query_dsl": "level:("}'),
      'PT400 query.value_is_missing_in_a_list 1 8'),
    (pg_temp.document('saved_searches', 'Bad', '{"query": "*"}'), 'PT400 files.field_is_unknown 1'),
    (pg_temp.document('alert_rules', 'Bad', '{"window_minutes": "soon"}'),
      'PT400 files.field_is_invalid 1'),
    (pg_temp.document('views', 'Other', '{}'), 'PT400 files.name_is_repeated 1'),
    (pg_temp.document('dashboards', ' ', '{}'), 'PT400 files.document_is_invalid 1'),
    (pg_temp.document('saved_searches', 'Twin', '{}'), 'PT400 files.name_is_ambiguous 1'),
    (pg_temp.stream('A', 'otlp'), 'PT400 files.field_is_fixed 1'),
    ('"views"', 'PT400 files.type_is_unknown 1'),
    (pg_temp.document('saved_searches', 'Bad', '{"query_dsl": "*", "view": "None"}'),
      'PT404 tenants.view_not_found 1')
) d (document, error);
select is(
  (select count(*) from logloom.log_views where tenant_id = 'acme'), 0::bigint,
  'nothing of a refused call stays'
);

-- 4. Lists and silences
insert into logloom.alert_rules (
  tenant_id, name, query_dsl, threshold, comparison, window_minutes, cooldown_minutes, enabled
)
values ('acme', 'Loud', '*', 1, 'gt', 5, 5, true);
create temp table more as
select jsonb_build_array(
  pg_temp.document('silences', 'Backup', '{"rule": "Loud", "group": {"service": "db"},
    "recurrence": {"days": ["sun", "sat"], "start": "02:00", "minutes": 90,
      "time_zone": "Europe/Berlin"}}'),
  pg_temp.document('retention_rules', 'retention_rules', '{"rules": [
    {"level": "debug", "service": null, "days": 3}, {"service": "pay", "days": 7}]}'),
  pg_temp.document('ingest_rules', 'B', '{"action": {"type": "drop"}}'),
  pg_temp.document('ingest_rules', 'A', '{"action": {"type": "drop"}}')
) as documents;
select is(
  pg_temp.files('apply_tenant_files', documents),
  'create ingest_rules B {"action": {"new": {"type": "drop"}}}
create ingest_rules A {"action": {"new": {"type": "drop"}}}
create silences Backup {"rule": {"new": "Loud"}, "group": {"new": {"service": "db"}}, '
    '"recurrence": {"new": {"days": ["sun", "sat"], "start": "02:00", "minutes": 90, "time_zone": '
    '"Europe/Berlin"}}}
update retention_rules retention_rules {"rules": {"new": [{"days": 3, "level": "debug"}, {"days": '
    '7, "service": "pay"}], "old": []}}',
  'silences and retention rules are applied, too'
) from more;
select is(pg_temp.files('apply_tenant_files', documents), '', 'the second time changes nothing')
from more;
update logloom.alert_silences set starts_at = now() - interval '1 day' where tenant_id = 'acme';
select is(
  pg_temp.files('apply_tenant_files', jsonb_set(documents, '{0,fields,rule}', '""')),
  'update silences Backup {"rule": {"new": "", "old": "Loud"}}', 'a silence is changed'
) from more;
select results_eq(
  $$select s.expired_at is null, s.rule_id is null, s.starts_at from logloom.alert_silences s
    where s.tenant_id = 'acme' order by 1$$,
  $$values (false, false, now() - interval '1 day'), (true, true, now() - interval '1 day')$$,
  'the old one has ended, the new one holds since the same time'
);
select is(
  pg_temp.files('preview_tenant_files', documents, '{alert_rules}'),
  'PT409 files.rule_is_named', 'a rule that a silence names is not deleted'
) from more;
select is(
  pg_temp.files('apply_tenant_files', jsonb_build_array(documents -> 3, documents -> 2)),
  'update ingest_rules the order {"order": {"new": ["No pings", "A", "B"]}}',
  'ingest rules get the order of their documents, others keep their places'
) from more;
select is(
  pg_temp.files('apply_tenant_files', jsonb_build_array(documents -> 3, documents -> 2)), '',
  'and keep it'
) from more;
select is(
  pg_temp.files('apply_tenant_files', jsonb_build_array(
    pg_temp.document('retention_rules', 'retention_rules', '{}')
  ), '{silences,retention_rules}'),
  'update retention_rules retention_rules {"rules": {"new": [], "old": [{"days": 3, "level": '
    '"debug"}, {"days": 7, "service": "pay"}]}}
delete silences Backup {}', 'an empty list removes all retention rules'
);
select is(
  pg_temp.files('preview_tenant_files', jsonb_build_array(d.document)), d.error, d.error
)
from (
  values
    (pg_temp.document('silences', 'S', '{}'), 'PT400 alerts.recurrence_is_invalid 0'),
    (pg_temp.document('silences', 'S', '{"rule": "None"}'), 'PT404 alerts.rule_not_found 0'),
    (pg_temp.document('retention_rules', 'mine', '{}'), 'PT400 files.document_is_invalid 0')
) d (document, error);
delete from logloom.ingest_rules where name in ('A', 'B');
delete from logloom.alert_rules where true;

-- 5. At the plan's limit, and in a tenant without a write
update logloom.plans set max_ingest_rules = 1 where true;
select is(
  pg_temp.files('apply_tenant_files', jsonb_build_array(
    pg_temp.document('ingest_rules', 'C', '{"action": {"type": "drop"}}'),
    pg_temp.document('ingest_rules', 'D', '{"action": {"type": "drop"}}')
  ), '{ingest_rules}'), 'PT400 ingest_rules.no_room 1', 'a limit holds after a deletion'
);
select is(
  pg_temp.files('apply_tenant_files', jsonb_build_array(
    pg_temp.document('ingest_rules', 'C', '{"action": {"type": "drop"}}')
  ), '{ingest_rules}'),
  'delete ingest_rules No pings {}
create ingest_rules C {"action": {"new": {"type": "drop"}}}',
  'one thing replaces another'
);
select is(
  pg_temp.files('preview_tenant_files', jsonb_agg(pg_temp.document('ingest_rules', 'C', format(
    '{"action": {"type": "drop"}, "secrets": {"hash_key": "lls1.keykeyke.%s.=%s"}}',
    repeat('A', 38), repeat(k, 43)
  )::jsonb))), 'PT400 files.hash_keys_differ 1', 'two keys of hashes are refused'
) from unnest('{A,B}'::text[]) k;

select pg_temp.act_as_user('fresh', 'zoe');
select lives_ok(
  $$select public.apply_tenant_files('[{"type": "retention_rules", "name": "retention_rules",
    "fields": {"rules": [{"level": "debug", "days": 3}]}}]')$$,
  'retention rules can be a tenant''s first write'
);
select pg_temp.act_as_postgres();

-- 6. Other users
delete from logloom.saved_searches where name = 'Twin';
select is(
  pg_temp.files('preview_tenant_files', jsonb_build_array(
    pg_temp.document('saved_searches', 'Errors', '{"query_dsl": "level:warn"}')
  ), '{saved_searches,dashboards}', 'bob'),
  'create saved_searches Errors {"query_dsl": {"new": "level:warn"}}',
  'a colleague''s search of this name is neither changed nor deleted'
);
select is(
  jsonb_path_query_array(
    pg_temp.by('bob', 'public.export_tenant_files()')::jsonb, '$[*].type'
  ), '["members", "members", "streams", "ingest_rules"]', 'nor is it exported'
);
update logloom.tenant_members set role = 'member' where user_id = 'bob';
select is(
  jsonb_path_query_array(
    pg_temp.by('bob', 'public.export_tenant_files()')::jsonb, '$[*].type'
  ), '["members", "members", "ingest_rules"]', 'by default a member exports no streams'
);
insert into logloom.log_views (tenant_id, name, created_by) values ('acme', 'Old', 'alice');
select is(
  pg_temp.files('preview_tenant_files', jsonb_build_array(
    pg_temp.document('views', v.view_id::text, '{}')
  ), '{views}'),
  'create views ' || v.view_id || ' {}
delete views Old {}', 'a name that is the id of another view does not keep that view'
) from logloom.log_views v;
grant select on given to service_role;
select pg_temp.act_as_service_role();
select throws_ok(
  format('select public.%s_tenant_files(%s, p_tenant_id => ''globex'')', o.operation, o.given),
  'PT400', 'saved_searches and dashboards belong to users', o.operation
)
from (
  values ('export', '''{dashboards}'''), ('apply', '''[]'', ''{saved_searches}''')
) o (operation, given);
select is(
  (select c.action || ' ' || c.name from unnest(public.apply_tenant_files(
    jsonb_build_array((documents -> 0) #- '{fields,view}'), '{alert_rules}', 'globex'
  )) c),
  'create API errors', 'the service role applies files to any tenant'
) from given;
-- 7. Fields that are left out, null or paused
select pg_temp.act_as_postgres();
update logloom.plans
set max_ingest_rules = 2, max_alert_silences = 2, max_log_streams = 2, max_views = 3
where true;
create function pg_temp.silence(p_name text, p_days jsonb, p_minutes integer = 5)
returns jsonb
language sql
as $$
  select pg_temp.document('silences', p_name, jsonb_build_object(
    'rule', 'New', 'group', '{"service": null}'::jsonb, 'recurrence', jsonb_build_object(
      'days', p_days, 'start', '02:00', 'minutes', p_minutes, 'time_zone', 'UTC'
    )
  ))
$$;
select is(pg_temp.files('apply_tenant_files', jsonb_build_array(s.document)), s.changes, s.changes)
from (
  values
    (pg_temp.document('ingest_rules', 'C', '{"condition": "service:a", "action":
      {"type": "drop"}, "is_on": false}'),
      'update ingest_rules C {"is_on": {"new": false, "old": true}, "condition": {"new": '
        '"service:a", "old": ""}}'),
    (pg_temp.document('ingest_rules', 'C', '{"condition": null, "action": {"type": "drop"},
      "is_on": false}'),
      'update ingest_rules C {"condition": {"new": "", "old": "service:a"}}'),
    (pg_temp.document('alert_rules', 'New', '{"kind": "new_error", "query_dsl": "service:a",
      "cooldown_minutes": 5}'),
      'create alert_rules New {"kind": {"new": "new_error"}, "query_dsl": {"new": "service:a"}, '
        '"cooldown_minutes": {"new": 5}}'),
    (pg_temp.document('alert_rules', 'New', '{"kind": "new_error", "query_dsl": ""}'),
      'update alert_rules New {"query_dsl": {"new": "*", "old": "service:a"}, '
        '"cooldown_minutes": {"new": 0, "old": 5}}'),
    (pg_temp.document('alert_rules', 'New', '{"kind": "new_error", "description": null}'), ''),
    (pg_temp.document('members', 'bob', '{"role": "admin", "view": null}'),
      'update members bob {"role": {"new": "admin", "old": "member"}}'),
    (pg_temp.document('members', 'carol', '{"role": "admin"}', 'bob'),
      'PT400 files.field_is_unknown 0'),
    (pg_temp.silence('Night', '["sun", "mon"]'),
      'create silences Night {"rule": {"new": "New"}, "group": {"new": {"service": null}}, '
        '"recurrence": {"new": {"days": ["sun", "mon"], "start": "02:00", "minutes": 5, '
        '"time_zone": "UTC"}}}'),
    (pg_temp.silence('Noon', '["sat"]') #- '{fields,group}',
      'create silences Noon {"rule": {"new": "New"}, "recurrence": {"new": {"days": ["sat"], '
        '"start": "02:00", "minutes": 5, "time_zone": "UTC"}}}')
) s (document, changes);
select is(
  (select array_agg(s."group" order by s.comment) from logloom.alert_silences s
    where s.expired_at is null),
  '{"{\"service\": null}",null}', 'a silence of records without a field is no silence of all'
);
create temp table streams as
select pg_temp.stream('C', 'otlp') || '{"name": "Otel"}' as document;
select matches(
  pg_temp.files('apply_tenant_files', jsonb_build_array(document)), '^create streams Otel'
) from streams;
select is(
  pg_temp.files('apply_tenant_files', jsonb_build_array(
    jsonb_set(document, '{fields,config,encoding}', 'null')
  )), '', 'a null in the config of a stream is no change'
) from streams;
update logloom.log_streams set paused_at = now(), pause_reason = 'failing' where name = 'Otel';
select is(
  pg_temp.files('apply_tenant_files', jsonb_build_array(document)),
  'update streams Otel {"enabled": {"new": true, "old": false}}', 'apply resumes a paused stream'
) from streams;
select is(pg_temp.files('apply_tenant_files', jsonb_build_array(document)), '', 'once')
from streams;

-- 8. Things that depend on each other
update logloom.plans set max_alert_silences = 1 where true;
update logloom.alert_silences set created_at = now() - interval '1 day' where expired_at is null;
select is(pg_temp.files('apply_tenant_files', s.documents, s.pruned), s.changes, s.changes)
from (
  values
    (jsonb_build_array(pg_temp.silence('Night', '["mon", "sun"]')), '{}'::text[], ''),
    (jsonb_build_array(pg_temp.silence('Night', '["mon", "sun"]', 6)), '{}',
      'update silences Night {"recurrence": {"new": {"days": ["mon", "sun"], "start": "02:00", '
        '"minutes": 6, "time_zone": "UTC"}, "old": {"days": ["mon", "sun"], "start": "02:00", '
        '"minutes": 5, "time_zone": "UTC"}}}'),
    (jsonb_build_array(pg_temp.silence('Third', '["mon"]')), '{}',
      'PT400 alerts.no_room_for_silence 0'),
    ('[]', '{alert_rules}', 'delete alert_rules New {}'),
    ('[]', '{members}', 'PT409 files.caller_is_pruned'),
    (jsonb_build_array(
      pg_temp.document('ingest_rules', 'Old', '{"action": {"type": "drop"}}')
    ), '{}', 'create ingest_rules Old {"action": {"new": {"type": "drop"}}}'),
    (jsonb_build_array(
      pg_temp.document('ingest_rules', 'C', '{"action": {"type": "drop"}, "is_on": false}', 'Old'),
      pg_temp.document('ingest_rules', 'D', '{"action": {"type": "drop"}}')
    ), '{ingest_rules}', 'delete ingest_rules Old {}
create ingest_rules D {"action": {"new": {"type": "drop"}}}')
) s (documents, pruned, changes);
select is(
  (select count(*) from logloom.alert_silences s
    where s.tenant_id = 'acme' and s.expired_at is null), 0::bigint,
  'with a rule its silences end'
);
create temp table bound as
select jsonb_build_array(
  pg_temp.document('views', name, '{}'),
  pg_temp.document('members', 'alice', '{"role": "owner"}'),
  pg_temp.document('alert_rules', 'Of ' || name, jsonb_build_object('query_dsl', '*',
    'threshold', 1, 'comparison', 'gt', 'window_minutes', 5, 'cooldown_minutes', 5, 'view', name))
) as documents, name
from unnest('{Old,Next}'::text[]) name;
select matches(
  pg_temp.files('apply_tenant_files', documents - 1, p_user => 'bob'), '^create alert_rules Of Old'
) from bound where name = 'Old';
update logloom.plans set max_views = 1 where true;
select is(
  pg_temp.files('apply_tenant_files', documents, '{members}'),
  'delete members bob {}
update alert_rules Of Old {"enabled": {"new": true, "old": false}}',
  'the rule of a removed member stays enabled'
) from bound where name = 'Old';
select is(
  regexp_replace(
    pg_temp.files('apply_tenant_files', documents, '{views,alert_rules}'), ' {.*?}$', '', 'gn'
  ),
  'delete alert_rules Of Old
delete views Old
create views Next
create alert_rules Of Next', 'at the limit a view replaces another, with what names it'
) from bound where name = 'Next';
select * from finish();
rollback;
