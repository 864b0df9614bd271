-- Ids in hexadecimal are stored as bytes, and read as they were.
begin;
select plan(7);

-- 40 ids, of which the third and every tenth are null.
create function pg_temp.ids(p_form text)
returns text[]
language plpgsql
as $$
begin
  return array(
    select case when i = 3 or i % 10 = 0 then null else case p_form
      when 'trace' then md5(i::text)
      when 'span' then to_json(left(md5(i::text), 16))::text
      when 'uuid' then md5(i::text)::uuid::text
      when 'quoted uuid' then to_json(md5(i::text)::uuid)::text
      when 'upper' then upper(md5(i::text))
      when 'odd' then left(md5(i::text), 15)
      when 'lengths' then left(md5(i::text), 16 + 2 * (i % 2))
      when 'one quote' then '"' || left(md5(i::text), 16)
      when 'separator' then left(md5(i::text), 16)
        || case when i = 5 then e'\x1f' || left(md5('x'), 16) else '' end
      when 'digits' then translate(left(md5(i::text), 16), 'abcdef', '012345')
    end end
    from generate_series(1, 39) i
  );
end;
$$;

create temp table encoded as
select f.form, pg_temp.ids(f.form) as ids, c as encoded
from unnest(array[
  'trace', 'span', 'uuid', 'quoted uuid', 'upper', 'odd', 'lengths', 'one quote', 'separator',
  'digits'
]) f (form)
cross join lateral logloom_private.encode_column('attrs.id', 1, pg_temp.ids(f.form)) c;

select results_eq(
  $$ select form, (encoded).kind from encoded order by form collate "C" $$,
  $$ values
    ('digits', 'templated'), ('lengths', 'texts'), ('odd', 'texts'), ('one quote', 'texts'),
    ('quoted uuid', 'hexadecimal'), ('separator', 'texts'), ('span', 'hexadecimal'),
    ('trace', 'hexadecimal'), ('upper', 'texts'), ('uuid', 'hexadecimal') $$,
  'only ids of one form and length with an even number of digits are stored as bytes'
);

select is_empty(
  $$ select form from encoded where logloom_private.column_texts(encoded) is distinct from ids $$,
  'all ids are read as they were'
);

select is_empty(
  $$
    select form from encoded
    where logloom_private.column_texts_at(encoded, '{1,2,3,4,10,11,39}')
      is distinct from array[ids[1], ids[2], null, ids[4], null, ids[11], ids[39]]
  $$,
  'so are single ones'
);

select results_eq(
  $$
    select octet_length((encoded).digits) from encoded
    where form in ('span', 'uuid') order by form
  $$,
  $$ values (35 * 8), (35 * 16) $$,
  'an id of 16 digits takes 8 bytes, and a UUID 16'
);

select is(
  logloom_private.column_texts(
    logloom_private.encode_column('attrs.id', 7, array[null, 'deadbeef', 'cafe0001', null])
  ),
  array['deadbeef', 'cafe0001'], 'ids without a null between them have no codes'
);

select is(
  (logloom_private.encode_column('attrs', 1, array[null, '{"a": 1}', '{"b": 2}'])).kind,
  'texts', 'the column attrs may begin with a null'
);

select results_eq(
  $$
    select l.literal, logloom_private.column_may_hold(e.encoded, l.literal, l.folds)
    from encoded e
    cross join (
      values ('dead', true), ('0b-0', true), ('jordan', true), ('DEAD', false)
    ) l (literal, folds)
    where e.form = 'uuid'
  $$,
  $$ values ('dead', true), ('0b-0', true), ('jordan', false), ('DEAD', false) $$,
  'a search of any text reads the ids only for what could be in one'
);

select * from finish();
rollback;
