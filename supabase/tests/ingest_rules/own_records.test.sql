-- Masks also apply to records of logloom.log(), of collectors, and to the audit trail.
begin;
\ir ../actors.psql
\ir ../by.psql
select plan(6);

insert into logloom.tenants (tenant_id, plan_id) values ('acme', 'pro');
create function pg_temp.masked(p_text text, p_until timestamptz default 'infinity')
returns text
language sql
as $$
  select logloom_private.masked_text(p_text, logloom_private.text_masks(jsonb_build_object(
    'what', (select jsonb_agg(d.name) from logloom_private.mask_detectors() d),
    'pattern', '(?i)order-[0-9]+', 'label', 'order'
  )), p_until)
$$;
select results_eq(
  $$select t, pg_temp.masked(t) from (values
      ('ann.o''neil+x@shop.example.co.uk, ok'), ('2026 4111 1111 1111 1111 123'),
      ('5500-0000-0000-0004'), ('IBAN DE89 3704 0044 0532 0130 00 PAID'),
      ('gb82west12345698765432'),
      ('t=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc_-d'), ('Authorization: Bearer abc.def-123456'),
      ('AKIAIOSFODNN7EXAMPLE'), ('sb_secret_abcdefghij01'),
      ('ll_abcdefghij0123456789abcdefghij012345'),
      ('10.0.0.1:80'), ('fe80::1: ::ffff:1.2.3.4'), ('+49 30 1234567, +1 (415) 555-2671'),
      ('ORDER-77'), ('AWS_SECRET_access_key="wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"'),
      ('user%40example.xn--p1ai'), ('to=%2B491701234567'), ('Bearer%20abcDEF123456'),
      ('"authorization": "Bearer abcdefghij"'), ('bearer abcdEfgh')
    ) v (t)$$,
  $$values
    ('ann.o''neil+x@shop.example.co.uk, ok', '[email], ok'),
    ('2026 4111 1111 1111 1111 123', '2026 [card] 123'), ('5500-0000-0000-0004', '[card]'),
    ('IBAN DE89 3704 0044 0532 0130 00 PAID', 'IBAN [iban] PAID'),
    ('gb82west12345698765432', '[iban]'),
    ('t=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc_-d', 't=[jwt]'),
    ('Authorization: Bearer abc.def-123456', 'Authorization: [bearer]'),
    ('AKIAIOSFODNN7EXAMPLE', '[aws_key]'), ('sb_secret_abcdefghij01', '[supabase_key]'),
    ('ll_abcdefghij0123456789abcdefghij012345', '[logloom_key]'), ('10.0.0.1:80', '[ipv4]:80'),
    ('fe80::1: ::ffff:1.2.3.4', '[ipv6]: [ipv6]'),
    ('+49 30 1234567, +1 (415) 555-2671', '[phone], [phone]'), ('ORDER-77', '[order]'),
    ('AWS_SECRET_access_key="wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"',
      'AWS_SECRET_access_key="[aws_key]"'),
    ('user%40example.xn--p1ai', '[email]'), ('to=%2B491701234567', 'to=[phone]'),
    ('Bearer%20abcDEF123456', '[bearer]'),
    ('"authorization": "Bearer abcdefghij"', '"authorization": "[bearer]"'),
    ('bearer abcdEfgh', '[bearer]')$$,
  'secrets are masked'
);
select is_empty(
  $$select t, pg_temp.masked(t) from (values
      ('user@localhost'), ('4111111111111112'), ('1767225600123'), ('DE88370400440532013000'),
      ('bearer of news'), ('1.2.3.4.5 256.1.1.1'), ('12:34:56 std::string'), ('+12, 1+1234567890'),
      ('550e8400-e29b-41d4-a716-446655440000'), ('2026-11-29T23:00:00.123456+00:00'),
      ('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'), ('')
    ) v (t) where t <> pg_temp.masked(t)$$,
  'other texts stay'
);
select is(pg_temp.masked('a@b.example', '-infinity'), '[not checked]', 'a late text is replaced');

select pg_temp.act_as_user('acme', 'ann');
select public.create_ingest_rule(p_name => n, p_condition => c, p_action => a)
from (values
  ('all', 'service:db', '{"type": "mask", "what": ["email", "card"], "in": "everywhere"}'::jsonb),
  ('some', null, '{"type": "mask", "pattern": "pin[0-9]+", "in": {"attrs": ["pin"]}}'),
  ('trail', 'service:audit paid', '{"type": "mask", "what": ["email"], "in": "everywhere"}'),
  ('drop', null, '{"type": "drop"}')
) v (n, c, a);
select pg_temp.act_as_postgres();
select results_eq(
  $$select r.msg, r.host, r.attrs from unnest(logloom_private.masked_records('acme', array[
      row(null, null, 'to a@b.co pin1', 'db', null, null, null, null, 'c@d.co',
        '{"e@f.co": [4111111111111111, {"x": "g@h.co", "n": 5}], "pin": "pin1", "p": "pin1",
          "[email]": 1, "k@l.co": 2, "z@y.co 2": 3}'),
      row(null, null, 'a@b.co', 'api', null, null, null, null, null, '{"pin": {"pin2": "pin3"}}')
    ]::logloom_private.own_record[])) r$$,
  $$values
    ('to [email] pin1', '[email]',
      '{"p": "pin1", "pin": "[custom]", "[email] 2": ["[card]", {"n": 5, "x": "[email]"}],
        "[email]": 1, "[email] 3": 2, "[email] 2 4": 3}'::jsonb),
    ('a@b.co', null, '{"pin": {"[custom]": "[custom]"}}')$$,
  'masks apply where their conditions and places say'
);
insert into logloom.ingest_rules (tenant_id, position, name, is_on, condition, action)
values ('acme', 9, 'errors', true, 'level:error',
  '{"type": "mask", "pattern": "(?i)error|fatal|secret", "in": "everywhere"}');
do $$ begin perform (logloom_private.ingest_own('acme', array[
  row(null, null, 'a@b.co', 'db', null, null, null, null, null, null),
  row(null, 'FATAL', 'secret', null, null, null, null, null, null, '["a"]'),
  row(null, 'ERROR', 'secret', null, null, null, null, null, null, null)
]::logloom_private.own_record[])).stored; end $$;
select results_eq(
  $$select q.level, q.msg, q.attrs from logloom_private.queue q where q.tenant_id = 'acme'$$,
  $$values (
    '{NULL,error,error}'::text[], '{[email],[custom],[custom]}'::text[],
    array[null, '{"attrs": ["a"], "original_level": "[custom]"}', null]::jsonb[]
  )$$,
  'what is stored is masked, by its level as it is stored'
);

select logloom.audit('paid', context => '{"by": "a@b.co"}', p_tenant_id => 'acme'),
  logloom.audit('seen', context => '{"by": "a@b.co"}', p_tenant_id => 'acme');
select logloom_private.link_audit_events();
select is(
  array(
      select e.details ->> 'by' from logloom.audit_events e
      where e.tenant_id = 'acme' and e.position > 0 order by 1
    )
    || pg_temp.by('ann', '(select v.fault from public.verify_audit_trail() v)'),
  '{[email],a@b.co,NULL}', 'the audit trail is masked before it is linked'
);
select * from finish();
rollback;
