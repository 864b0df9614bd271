-- A rule is checked and compiled when it is saved.
begin;
\ir ../actors.psql
\ir ../by.psql
select plan(12);

insert into logloom.tenants (tenant_id, plan_id) values ('acme', 'pro');
insert into logloom.tenant_members (tenant_id, user_id, role) values ('acme', 'ann', 'admin');
create function pg_temp.tests(p_condition text)
returns jsonb
language sql
return logloom_private.checked_condition('acme', p_condition);

select results_eq(
  $$select c, pg_temp.tests(c) from (values
      (' '), ('*'), ('service:api'), ('-service:api host:web-*'), ('service:"a*" AND env:a\*b?'),
      ('@plan:free'), ('NOT @ms:5'), ('level:>=warn'), ('level:<info'), ('level:<=warning'),
      ('timeout'), ('msg:"50% of *"'), ('time*out'), ('(level:error user_id:=u1)'),
      ('-@a:*'), ('@ms:>500.5'), ('-@ms:<=-2')
    ) v (c)$$,
  $$values
    (' ', '[]'::jsonb), ('*', '[]'),
    ('service:api', '[{"f": "service", "op": "=", "value": "api"}]'),
    ('-service:api host:web-*', '[{"f": "service", "op": "=", "value": "api", "not": true},
      {"f": "host", "op": "~", "value": "web-*"}]'),
    ('service:"a*" AND env:a\*b?', '[{"f": "service", "op": "=", "value": "a*"},
      {"f": "env", "op": "~", "value": "a\\*b?"}]'),
    ('@plan:free', '[{"a": "plan", "op": "=", "value": "free"}]'),
    ('NOT @ms:5', '[{"a": "ms", "op": "=", "value": "5", "not": true}]'),
    ('level:>=warn', '[{"f": "level", "op": ">=", "value": "warn"}]'),
    ('level:<info', '[{"f": "level", "op": "=", "value": "debug"}]'),
    ('level:<=warning', '[{"f": "level", "op": "<=", "value": "warn"}]'),
    ('timeout', '[{"op": "has", "value": "timeout"}]'),
    ('msg:"50% of *"', '[{"op": "has", "value": "50% of \\*"}]'),
    ('time*out', '[{"op": "has", "value": "time*out"}]'),
    ('(level:error user_id:=u1)', '[{"f": "level", "op": "=", "value": "error"},
      {"f": "user_id", "op": "=", "value": "u1"}]'),
    ('-@a:*', '[{"a": "a", "op": "~", "value": "*", "not": true}]'),
    ('@ms:>500.5', '[{"a": "ms", "op": ">", "value": 500.5}]'),
    ('-@ms:<=-2', '[{"a": "ms", "op": "<=", "value": -2, "not": true}]')$$,
  'conditions become tests'
);
select results_eq(
  $$select c, substring(pg_temp.by('ann', format(
        'public.create_ingest_rule(p_name => ''n'', p_action => ''{"type": "drop"}'', '
          'p_condition => %L)', c
      )) from '^PT400 (?:The condition of a rule cannot have )?(.{1,60})')
    from (values
      ('service:a OR service:b'), ('service:(a OR b)'), ('level:(debug OR error)'),
      ('-(service:a host:b)'), ('service:a | count()'), ('@ms:[1 TO 5]'),
      ('msg:~"a.b"'), ('msg:w=a'), ('service:i=a'), ('host:10.0.0.0/8'), ('@a.b:1'), ('any:x'),
      ('ts:>now-1h'), ('level:<debug'), ('levle:error')
    ) v (c)$$,
  $$values
    ('service:a OR service:b', 'OR'), ('service:(a OR b)', 'OR'), ('level:(debug OR error)', 'OR'),
    ('-(service:a host:b)', 'NOT before a bracket'), ('service:a | count()', 'stages'),
    ('@ms:[1 TO 5]', 'a range with two ends'),
    ('msg:~"a.b"', 'a regular expression'), ('msg:w=a', 'w='), ('service:i=a', 'i='),
    ('host:10.0.0.0/8', 'a network'), ('@a.b:1', 'an attribute inside another'),
    ('any:x', 'a test of any'), ('ts:>now-1h', 'a test of ts'),
    ('level:<debug', 'a test that nothing passes'), ('levle:error', 'Unknown field "levle"')$$,
  'what the function ingest cannot evaluate is refused by name'
);
select results_eq(
  $$select a, substring(pg_temp.by('ann', format(
        'public.create_ingest_rule(p_name => ''n'', p_action => %L)', a
      )) from '^PT400 (?:Invalid p_action: )?(.{1,40})')
    from (values
      ('[]'), ('{"type": "delete"}'), ('{"type": "drop", "if": 1}'),
      ('{"type": "mask", "in": "everywhere"}'),
      ('{"type": "mask", "in": "everywhere", "what": ["mail"]}'),
      ('{"type": "mask", "in": {"fields": ["ts"]}, "what": ["email"]}'),
      ('{"type": "mask", "in": {"attrs": [["x"]]}, "what": ["email"]}'),
      ('{"type": "mask", "in": {"fields": [], "attrs": []}, "what": ["email"]}'),
      ('{"type": "mask", "in": {"fields": ["level"]}, "what": ["email"]}'),
      ('{"type": "mask", "in": "everywhere", "pattern": "a*"}'),
      ('{"type": "mask", "in": "everywhere", "pattern": "(?=a)"}'),
      ('{"type": "mask", "in": "everywhere", "what": ["email"], "hash": true}'),
      ('{"type": "sample", "rate": 1, "by": "record"}'),
      ('{"type": "sample", "rate": 0.1, "by": "record", "keep": "level:error"}'),
      ('{"type": "sample", "rate": 0.1, "by": "record", "keep": ["a OR b"]}'),
      ('{"type": "set", "f": "ts", "value": "2026-01-01"}'),
      ('{"type": "set", "a": "logloom_cut", "value": 1}'),
      ('{"type": "set", "f": "level", "value": "loud"}'), ('{"type": "remove", "a": ["x"]}'),
      ('{"type": "parse", "pattern": "none"}'), ('{"type": "parse", "pattern": "<sample_rate>"}'),
      ('{"type": "level", "from": "loud"}')
    ) v (a)$$,
  $$values
    ('[]', 'type is one of mask, drop, sample, parse'),
    ('{"type": "delete"}', 'type is one of mask, drop, sample, parse'),
    ('{"type": "drop", "if": 1}', 'drop takes {type}'),
    ('{"type": "mask", "in": "everywhere"}', 'a mask needs what or a pattern'),
    ('{"type": "mask", "in": "everywhere", "what": ["mail"]}',
      'what is an array of detectors: email, ca'),
    ('{"type": "mask", "in": {"fields": ["ts"]}, "what": ["email"]}',
      'in is "everywhere" or {"fields": [...], '),
    ('{"type": "mask", "in": {"attrs": [["x"]]}, "what": ["email"]}',
      'in is "everywhere" or {"fields": [...], '),
    ('{"type": "mask", "in": {"fields": [], "attrs": []}, "what": ["email"]}',
      'in is "everywhere" or {"fields": [...], '),
    ('{"type": "mask", "in": {"fields": ["level"]}, "what": ["email"]}',
      'in is "everywhere" or {"fields": [...], '),
    ('{"type": "mask", "in": "everywhere", "pattern": "a*"}',
      'pattern matches an empty text, or ends i'),
    ('{"type": "mask", "in": "everywhere", "pattern": "(?=a)"}',
      'Regular expression: lookaround and optio'),
    ('{"type": "mask", "in": "everywhere", "what": ["email"], "hash": true}',
      'A mask with "hash": true needs a key'),
    ('{"type": "sample", "rate": 1, "by": "record"}', 'rate is a number above 0 and below 1'),
    ('{"type": "sample", "rate": 0.1, "by": "record", "keep": "level:error"}',
      'keep is an array of at most five conditi'),
    ('{"type": "sample", "rate": 0.1, "by": "record", "keep": ["a OR b"]}',
      'The condition of a rule cannot have OR'),
    ('{"type": "set", "f": "ts", "value": "2026-01-01"}',
      'set needs a field ("f": not ts) or an at'),
    ('{"type": "set", "a": "logloom_cut", "value": 1}',
      'set needs a field ("f": not ts) or an at'),
    ('{"type": "set", "f": "level", "value": "loud"}', 'value is one of debug, info, warn, error'),
    ('{"type": "remove", "a": ["x"]}', 'remove needs a field ("f": not ts) or an'),
    ('{"type": "parse", "pattern": "none"}', 'pattern names attributes, each once, non'),
    ('{"type": "parse", "pattern": "<sample_rate>"}', 'pattern names attributes, each once, non'),
    ('{"type": "level", "from": "loud"}', 'from is no level')$$,
  'wrong actions are refused with what is wrong'
);

select is(
  pg_temp.by('ann', $$(select to_jsonb(r) - '{rule_id,created_at,updated_at}'::text[]
    from public.create_ingest_rule(
      p_name => ' mask ', p_condition => ' service:api ',
      p_action => '{"type": "mask", "what": ["email"], "in": "everywhere", "hash": true}',
      p_secrets => jsonb_build_object('hash_key', 'lls1.abcdefgh.' || repeat('x', 40))
    ) r)$$)::jsonb,
  '{"tenant_id": "acme", "position": 1, "name": "mask", "condition": "service:api", "is_on": true,
    "created_by": "ann", "action": {"type": "mask", "what": ["email"], "in": "everywhere",
      "hash": true, "pattern": null, "label": "custom"}}',
  'a rule is saved with all members of its action'
);
select is(
  pg_temp.by('ann', format('public.create_ingest_rule(p_name => %L, p_action => %L)', n, a)),
  e, 'a name is taken once, and has characters'
)
from (values
  ('mask', '{"type": "drop"}', 'PT409 The tenant has another ingest rule of this name'),
  (' ', '{"type": "drop"}', 'PT400 Invalid p_name: 1 to 100 characters after trimming')
) v (n, a, e);
create temp table versions as
select s.* from logloom_private.ingest_rule_sets s where s.tenant_id = 'acme';
do $$ begin perform pg_temp.by('ann', 'public.create_ingest_rule(p_name => ''second'', '
  'p_action => ''{"type": "level", "from": "WARNING"}'')'); end $$;
select is(
  (select r.compiled - 'id' from logloom.ingest_rules r where r.name = 'second'),
  '{"when": [], "do": {"type": "level", "from": "warn"}}', 'levels are those of the language'
);
select is(
  pg_temp.by('ann', '(select array_agg(r.name || r.position) from public.order_ingest_rules(array('
    'select rule_id from logloom.ingest_rules order by position desc)) r)'),
  '{second1,mask2}', 'rules change their order'
);
select is(
  pg_temp.by('ann', '(select public.order_ingest_rules(array(select rule_id from '
    'logloom.ingest_rules where position = 1)))'),
  'PT400 Invalid p_rule_ids: not each rule once', 'with all rules'
);
do $$ begin perform pg_temp.by('ann', '(select count(public.delete_ingest_rule(r.rule_id)) from '
  'logloom.ingest_rules r)'); end $$;
select results_eq(
  $$select e.action, e.details - 'action' from logloom.audit_events e
    where e.tenant_id = 'acme' and e.action like 'ingest_rule.%'
    order by e.action desc, e.details ->> 'name'$$,
  $$values
    ('ingest_rule.deleted', '{"name": "mask", "condition": "service:api", "is_on": true}'::jsonb),
    ('ingest_rule.deleted', '{"name": "second", "is_on": true}'),
    ('ingest_rule.created', '{"name": "mask", "condition": "service:api", "is_on": true}'),
    ('ingest_rule.created', '{"name": "second", "is_on": true}'),
    ('ingest_rule.changed', '{"name": "mask", "position": {"from": 1, "to": 2}}'),
    ('ingest_rule.changed', '{"name": "second", "position": {"from": 2, "to": 1}}')$$,
  'changes are audited'
);
select results_eq(
  'select s.version, s.version is distinct from v.version
   from logloom_private.ingest_rule_sets s join versions v using (tenant_id)',
  'values (null::uuid, true)', 'without a rule there is no version'
);
with saved as (
  insert into logloom.ingest_rules (tenant_id, position, name, is_on, action)
  values ('acme', 20, 'traces', true, '{
    "type": "sample", "rate": 0.1, "by": "req_id", "keep": ["level:error", "@duration_ms:>500"]
  }')
  returning action, compiled
)
select is(
  jsonb_build_object('as written', action -> 'keep', 'compiled', compiled -> 'do' -> 'keep'),
  '{
    "as written": ["level:error", "@duration_ms:>500"],
    "compiled": [
      [{"f": "level", "op": "=", "value": "error"}],
      [{"a": "duration_ms", "op": ">", "value": 500}]
    ]
  }',
  'the conditions of keep are compiled, and listed as they were written'
)
from saved;

select * from finish();
rollback;
