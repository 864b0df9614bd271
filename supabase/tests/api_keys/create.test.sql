begin;
\ir ../actors.psql
select plan(24);

select is(
  logloom_private.crc32('123456789'), 3421780262, 'CRC-32 of the check string of its standard'
);
select is(logloom_private.base62(b.value, b.digits), b.answer, 'base 62 of ' || b.value)
from (values (0, 6, '000000'), (61, 1, 'z'), (4294967295, 6, '4gfFC3')) b (value, digits, answer);

select pg_temp.act_as_user('acme', 'alice');
create temp table created as select * from public.create_api_key(p_name => E'  server 1\n');
grant select on created to public;

select is(
  to_jsonb(c) - '{key_id,key_value,key_prefix,created_at}'::text[],
  '{"tenant_id": "acme", "name": "server 1", "status": "active", "scopes": ["ingest"],
    "expires_at": null, "view_id": null}',
  'a created key, its name trimmed'
) from created c;
select is(c.created_at, now(), 'created_at') from created c;
select matches(c.key_value, '^ll_[0-9A-Za-z]{36}$', 'the key') from created c;
select is(c.key_prefix, left(c.key_value, 11), 'and its prefix') from created c;

select pg_temp.act_as_postgres();
select is(
  right(c.key_value, 6),
  logloom_private.base62(logloom_private.crc32(convert_to(left(c.key_value, 33), 'UTF8')), 6),
  'the key ends with the checksum of the rest'
) from created c;
select is(
  k.key_digest, sha256(convert_to(c.key_value, 'UTF8')), 'the digest of the key is stored'
) from logloom.api_keys k, created c where k.key_id = c.key_id;
select is_empty(
  $$select from logloom.api_keys k, created c
  where to_jsonb(k)::text like '%' || c.key_value || '%'$$,
  'the key itself is not stored'
);
select is(
  (select count(distinct logloom_private.new_api_key())::integer from generate_series(1, 200)), 200,
  'no two keys are the same'
);

select pg_temp.act_as_user('acme', 'alice');
select is(
  (
    public.create_api_key(
      p_name => repeat('n', 100), p_expires_at => (now() + interval '1 day')::text
    )
  ).expires_at,
  now() + interval '1 day', 'a name of 100 characters, and an expiry'
);
select throws_ok(
  format('select public.create_api_key(%s)', a), 'PT400', c.message, c.message || ': ' || a
)
from (
  values
    ('Missing required parameter: p_name', array['']),
    ('Invalid API key name: 1 to 100 characters after trimming',
      array[$$p_name => ''$$, $$p_name => E' \t\n'$$, $$p_name => repeat('n', 101)$$]),
    ('Invalid p_expires_at: it is in the past', array[$$p_name => 'n', p_expires_at => 'now'$$]),
    ('Invalid p_expires_at: not a time', array[
      $$p_name => 'n', p_expires_at => 'infinity'$$, $$p_name => 'n', p_expires_at => '01.02.2099'$$
    ]),
    ('Invalid p_scopes: ingest, read, audit', array[
      $$p_name => 'n', p_scopes => '{}'$$, $$p_name => 'n', p_scopes => '{ingest,admin}'$$,
      $$p_name => 'n', p_scopes => array[null]$$
    ]),
    ('p_view_id is for API keys that only read',
      array[$$null, 'n', null, '{audit}', gen_random_uuid()$$])
) c (message, arguments)
cross join unnest(c.arguments) a;

select * from finish();
rollback;
