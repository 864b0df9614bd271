-- Assembled from supabase/schemas, as of 1.0.0.

set local search_path = pg_catalog, pg_temp;

-- blocks/types/column_values.sql
create type logloom_private.column_values as (texts text[]);

comment on type logloom_private.column_values is
  'The values of a column, as an element of an array of columns.';

-- blocks/types/record_arrays.sql
create type logloom_private.record_arrays as (
  ts timestamptz[],
  received_at timestamptz[],
  write_seqs bigint[],
  ids uuid[],
  services text[],
  levels text[],
  messages text[],
  attrs jsonb[],
  columns logloom_private.column_values[]
);

comment on type logloom_private.record_arrays is
  'Records as an array for each field; columns has those of logloom_private.column_fields, as '
  'texts.';

-- blocks/tables/blocks.sql
-- Sealed records: blocks of a tenant's records as compressed columns. What changes here beyond what
-- is null in older blocks needs a new number in blocks/codec/format/block_formats.sql.
--
-- The records of a block are sorted by service, level, the message's template, ts and id, in
-- collation C; a position is a place in that order, 1-based. A template is a text with each digit
-- replaced by 0: of the same length, and lossless beside the digits. Runs of an equal service and
-- level are runs; in a run each template is stored once, with how many records have it.

create table logloom_private.blocks (
  block_id bigint generated always as identity,
  first_ts timestamptz not null,
  last_ts timestamptz not null,
  first_write_seq bigint not null,
  last_write_seq bigint not null,
  first_id uuid not null,
  last_id uuid not null,
  sealed_at timestamptz not null default clock_timestamp(),
  bytes bigint not null,
  records integer not null,
  ts_unit integer not null,
  format smallint not null,
  holds_counts boolean not null,
  tenant_id text not null,
  separator text not null,
  run_services text[] not null,
  run_levels text[] not null,
  run_records integer[] not null,
  run_templates integer[] not null,
  run_digits integer[] not null,
  templates text[] compression lz4 not null,
  run_words text[] compression lz4 not null,
  template_records integer[] compression lz4 not null,
  offset_records integer[] compression lz4 not null,
  offset_digits integer[] compression lz4 not null,
  offset_bytes integer[] compression lz4 not null,
  digits bytea compression lz4 not null,
  ts_low smallint[] compression lz4 not null,
  ts_middle "char"[] compression lz4,
  ts_high smallint[] compression lz4,
  ts_top "char"[] compression lz4,
  batch_prefixes bytea compression lz4 not null,
  batch_received_at timestamptz[] compression lz4 not null,
  batch_write_seqs bigint[] compression lz4 not null,
  batch_codes "char"[] compression lz4,
  wide_batch_codes smallint[] compression lz4,
  id_indexes smallint[] compression lz4 not null,
  checksum bytea not null,
  weight bigint not null,
  damaged_at timestamptz,
  primary key (tenant_id, block_id)
);

create index blocks_tenant_id_last_ts_idx
on logloom_private.blocks (tenant_id, last_ts, first_ts);
-- Blocks that a histogram has to read, and those that may be of more than a day.
create index blocks_holds_counts_idx on logloom_private.blocks (tenant_id, last_ts)
where holds_counts;

create index blocks_damaged_idx on logloom_private.blocks (tenant_id) where damaged_at is not null;

create index blocks_tenant_id_last_write_seq_idx
on logloom_private.blocks (tenant_id, last_write_seq);

-- Blocks of older formats than the last of block_formats(), which rewrite_step looks for: a new
-- format makes it anew.
create index blocks_older_format_idx on logloom_private.blocks (block_id) where format < 1;

create index blocks_block_id_idx on logloom_private.blocks (block_id);
create index blocks_last_ts_idx on logloom_private.blocks (last_ts);

comment on table logloom_private.blocks is
  'Records of days that are over, up to settings.seal_block_records in a row; the columns of a '
  'block are in logloom_private.block_columns. A record is here or in logloom.logs, not in both.';

comment on column logloom_private.blocks.bytes is
  'What the block and its columns take, compressed, without indexes.';

comment on column logloom_private.blocks.weight is
  'What settings.seal_block_bytes bounds.';

comment on column logloom_private.blocks.format is
  'How the block is stored: one of logloom_private.block_formats().';

comment on column logloom_private.blocks.holds_counts is
  'Its records are in no count of logloom_private.log_counts: they are counted by reading them. So '
  'it is with tenants that have few records a day; a block without it is of one day.';

comment on column logloom_private.blocks.checksum is
  'logloom_private.block_checksum of the block and its columns, of all values but block_id, '
  'sealed_at, bytes and damaged_at.';

comment on column logloom_private.blocks.damaged_at is
  'When a verification found that the checksum differs. Whoever reads leaves the block out, with a '
  'warning; null again when a verification finds the block as it was stored.';

comment on column logloom_private.blocks.separator is
  'Ends each template in templates. No message of the block holds it.';

comment on column logloom_private.blocks.run_templates is
  'How many templates a run has; 0 where its records have no message.';

comment on column logloom_private.blocks.run_digits is
  'How many digits stand before those of a run''s messages.';

comment on column logloom_private.blocks.templates is
  'Of each run its templates, in order, each ended by the separator.';

comment on column logloom_private.blocks.run_words is
  'Of each run the words of its templates in lower case, each once, between blanks; null where '
  'they are not far fewer than the templates.';

comment on column logloom_private.blocks.template_records is
  'How many records have each template, over all runs. They stand one after another, by ts: a '
  'template''s last position is the sum of these counts up to its own and of run_records of the '
  'runs without messages before it, and ts at its first and last position is when the template '
  'was first and last seen in the block.';

comment on column logloom_private.blocks.offset_records is
  'How many messages stand before those of each 16th template, from the first on; offset_digits: '
  'how many digits; offset_bytes: how many bytes of templates. A message is found from there on.';

comment on column logloom_private.blocks.digits is
  'The digits of the messages in the order of positions, four bits each.';

comment on column logloom_private.blocks.ts_unit is
  'Microseconds of a step of ts: 1000, or 1 where a record needs it. ts_low, ts_middle, '
  'ts_high and ts_top are 16, 8, 16 and 8 bits of the steps from first_ts on, less 32768, 128, '
  '32768 and 128; null where all are 0. Microseconds so reach over eight years.';

comment on column logloom_private.blocks.batch_prefixes is
  'The batches that the records came in: 14 bytes of their ids each. Beside it when each was '
  'received and which step of the writer wrote it.';

comment on column logloom_private.blocks.batch_codes is
  'The number of a record''s batch less 129; where there are more than 256, it is in '
  'wide_batch_codes; both are null where there is one.';

comment on column logloom_private.blocks.id_indexes is
  'The last two bytes of each id, as a signed number.';

-- blocks/tables/block_columns.sql
create table logloom_private.block_columns (
  block_id bigint not null,
  least bigint,
  greatest bigint,
  first integer not null,
  last integer not null,
  tenant_id text not null,
  name text not null,
  kind text not null,
  dictionary text[] compression lz4,
  counts integer[] compression lz4,
  codes "char"[] compression lz4,
  wide_codes smallint[] compression lz4,
  numbers integer[] compression lz4,
  wide_numbers bigint[] compression lz4,
  texts text[] compression lz4,
  digits bytea compression lz4,
  filter bytea storage external,
  primary key (tenant_id, block_id, name),
  foreign key (tenant_id, block_id)
  references logloom_private.blocks (tenant_id, block_id) on delete cascade,
  constraint block_columns_kind_is_known check (
    kind in ('dictionary', 'numbers', 'templated', 'texts')
  )
);

comment on table logloom_private.block_columns is
  'The values of a field, or of a top-level key of attrs, at positions first to last of a block; '
  'beyond them it has none. A column of nulls is not stored.';

comment on column logloom_private.block_columns.name is
  'A field of logloom_private.column_fields; attrs. and a key, whose values are JSON texts; or '
  'attrs, which holds the keys that are too rare or too long for a column, {} where there are '
  'none, and is null where attrs is null.';

comment on column logloom_private.block_columns.kind is
  'dictionary: values by frequency, counts and codes. numbers: whole numbers. templated: as '
  'dictionary, but of templates; digits holds theirs in the order of code and position. texts: as '
  'they are.';

comment on column logloom_private.block_columns.filter is
  'Of a field with bloom in logloom_private.record_fields, where it has no dictionary or a large '
  'one: bits that tell of a value whether it may be one of the column''s.';

comment on column logloom_private.block_columns.codes is
  'Places in dictionary less 129; in wide_codes, the places themselves, where there are more than '
  '256; both are null where all values are the same.';

-- blocks/codec/format/block_checksum.sql
-- A checksum over all values of a block and of its columns, but for its id, when it was stored, how
-- many bytes it takes and when it was found damaged.
create function logloom_private.block_checksum(
  p_block logloom_private.blocks,
  p_columns logloom_private.block_columns[]
)
returns bytea
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  b constant logloom_private.blocks := p_block;
  v_columns bytea;
begin
  select string_agg(
    sha256(record_send(row(
      c.least, c.greatest, c.first, c.last, c.name, c.kind, c.dictionary, c.counts, c.codes,
      c.wide_codes, c.numbers, c.wide_numbers, c.texts, c.digits, c.filter
    ))),
    '' order by c.name collate "C"
  )
  into v_columns
  from unnest(p_columns) c;
  return sha256(record_send(row(
    b.first_ts, b.last_ts, b.first_write_seq, b.last_write_seq, b.first_id, b.last_id, b.records,
    b.ts_unit, b.format, b.holds_counts, b.tenant_id, b.separator, b.run_services, b.run_levels,
    b.run_records, b.run_templates, b.run_digits, b.templates, b.run_words, b.template_records,
    b.offset_records, b.offset_digits, b.offset_bytes, b.digits, b.ts_low, b.ts_middle, b.ts_high,
    b.ts_top, b.batch_prefixes, b.batch_received_at, b.batch_write_seqs, b.batch_codes,
    b.wide_batch_codes, b.id_indexes, b.weight, v_columns
  )));
end;
$$;

-- blocks/codec/format/block_formats.sql
-- The formats of blocks that this version reads, ascending; it writes the last one. A release that
-- changes what tables/blocks.sql says adds a number, reads both, and makes
-- blocks_older_format_idx anew; rewrite_step brings older blocks to it.
create function logloom_private.block_formats()
returns smallint[]
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return '{1}';
end;
$$;

-- blocks/codec/format/block_is_intact.sql
-- Whether a block and its columns are what was stored.
create function logloom_private.block_is_intact(p_block logloom_private.blocks)
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_columns logloom_private.block_columns[] := '{}';
  v_column logloom_private.block_columns;
begin
  -- One by one: of a table that is sharded, an array of rows is of another type.
  for v_column in
    select c.*
    from logloom_private.block_columns c
    where c.tenant_id = p_block.tenant_id and c.block_id = p_block.block_id
  loop
    v_columns := v_columns || v_column;
  end loop;
  return p_block.checksum = logloom_private.block_checksum(p_block, v_columns);
end;
$$;

-- blocks/codec/format/can_read.sql
-- True: this version reads blocks of the format. What reads blocks asks it of each.
create function logloom_private.can_read(p_format smallint)
returns boolean
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_format = any(logloom_private.block_formats()) then
    return true;
  end if;
  perform logloom_private.refuse('search.block_format_is_unknown', p_format::text);
  return false;
end;
$$;

-- blocks/codec/format/require_intact.sql
-- LL001 where a block is not what was stored: what is made of it would replace it.
create function logloom_private.require_intact(p_block logloom_private.blocks)
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  perform logloom_private.can_read(p_block.format);
  if not logloom_private.block_is_intact(p_block) then
    raise sqlstate 'LL001' using
      message = format('Block %s is damaged: its checksum differs', p_block.block_id);
  end if;
end;
$$;

-- blocks/codec/templates/cut_digits.sql
-- The digits of texts, four bits each. p_joined: for each template its texts, joined by
-- p_separator.
create function logloom_private.cut_digits(p_templates text[], p_joined text[], p_separator text)
returns bytea
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_parts text[] := p_joined;
  v_text text;
  v_piece text;
  v_template text;
  v_group integer := 0;
begin
  foreach v_template in array p_templates loop
    v_group := v_group + 1;
    if strpos(v_template, '0') = 0 then
      v_parts[v_group] := '';
      continue;
    end if;
    v_text := v_parts[v_group];
    -- One text alone, or a template of many pieces: all that is no digit at once.
    if octet_length(v_text) < 2 * octet_length(v_template) or length(v_template) > 2000 then
      v_parts[v_group] := regexp_replace(v_text, '[^0-9]+', '', 'g');
      continue;
    end if;
    -- All that stands between digits, the longest first where one piece holds another: else some
    -- of it is left, and the slow way finishes.
    foreach v_piece in array
      string_to_array(
        replace(replace(replace(v_template, '0000', '0'), '000', '0'), '00', '0'), '0'
      )
    loop
      if v_piece <> '' then
        v_text := replace(v_text, v_piece, '');
      end if;
    end loop;
    v_text := replace(v_text, p_separator, '');
    if v_text ~ '[^0-9]' then
      v_text := regexp_replace(v_text, '[^0-9]+', '', 'g');
    end if;
    v_parts[v_group] := v_text;
  end loop;
  v_text := array_to_string(v_parts, '');
  return decode(v_text || case when length(v_text) % 2 = 1 then '0' else '' end, 'hex');
end;
$$;

-- blocks/codec/templates/fill_each.sql
-- The texts of templates, each with its own digits: p_counts of them after p_places others. Null
-- where the template is.
create function logloom_private.fill_each(
  p_templates text[],
  p_counts integer[],
  p_places integer[],
  p_digits bytea
)
returns text[]
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return array(
    select
      case
        when coalesce(f.count, 0) = 0 then f.template
        else format(
          replace(replace(f.template, '%', '%%'), '0', '%s'),
          variadic string_to_array(
            substr(
              encode(substring(p_digits from f.place / 2 + 1 for f.count / 2 + 1), 'hex'),
              1 + f.place % 2, f.count
            ),
            null
          )
        )
      end
    from unnest(p_templates, p_counts, p_places) with ordinality f (template, count, place, n)
    order by f.n
  );
end;
$$;

-- blocks/codec/templates/fill_templates.sql
-- The texts of templates, in order: as many of each as p_counts says, with their digits. One call
-- for many digits needs some 50 bytes a digit, so they are filled piece by piece.
create function logloom_private.fill_templates(
  p_templates text[],
  p_counts integer[],
  p_digits bytea,
  p_separator text
)
returns text[]
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_bytes constant bytea := convert_to(
    (
      select string_agg(repeat(m.template || p_separator, m.count), '' order by m.n)
      from unnest(p_templates, p_counts) with ordinality m (template, count, n)
    ),
    'UTF8'
  );
  v_begin integer := 0;
  v_end integer;
  v_piece text;
  v_place bigint := 0;
  v_count integer;
  v_texts text[];
begin
  while v_begin < octet_length(v_bytes) loop
    v_end := least(v_begin + 65536, octet_length(v_bytes));
    -- Not within a character.
    while v_end < octet_length(v_bytes) and get_byte(v_bytes, v_end) & 192 = 128 loop
      v_end := v_end + 1;
    end loop;
    v_piece := convert_from(substring(v_bytes from v_begin + 1 for v_end - v_begin), 'UTF8');
    v_count := octet_length(v_piece) - octet_length(replace(v_piece, '0', ''));
    if v_count > 0 then
      v_piece := format(
        replace(replace(v_piece, '%', '%%'), '0', '%s'),
        variadic string_to_array(
          substr(
            encode(
              substring(p_digits from (v_place / 2)::integer + 1 for v_count / 2 + 1), 'hex'
            ),
            (1 + v_place % 2)::integer, v_count
          ),
          null
        )
      );
    end if;
    v_texts := v_texts || v_piece;
    v_place := v_place + v_count;
    v_begin := v_end;
  end loop;
  return trim_array(string_to_array(array_to_string(v_texts, ''), p_separator), 1);
end;
$$;

-- blocks/codec/templates/separator_for.sql
-- A text to join others by: p_text, which is all of them, does not hold it, and it does not overlap
-- itself.
create function logloom_private.separator_for(p_text text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_separator text;
begin
  for v_code in reverse 31..1 loop
    v_separator := chr(v_code);
    continue when v_code between 9 and 13;
    if strpos(p_text, v_separator) = 0 then
      return v_separator;
    end if;
  end loop;
  -- Longer and longer ones: a text of n characters cannot hold all of them.
  v_separator := chr(30);
  loop
    v_separator := v_separator || chr(29);
    if strpos(p_text, v_separator) = 0 then
      return v_separator;
    end if;
  end loop;
end;
$$;

-- blocks/codec/templates/templates_of.sql
-- The templates of texts, of which none holds the separator.
create function logloom_private.templates_of(p_texts text[], p_separator text)
returns text[]
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  -- Stands for null: a character that none of them has.
  v_null text;
begin
  if array_position(p_texts, null) is not null then
    v_null := logloom_private.separator_for(array_to_string(p_texts, p_separator, p_separator));
  end if;
  -- Of one empty text string_to_array() makes none, and a longer marker may hold the separator.
  if p_texts = array[''] or length(v_null) > 1 then
    return array(select logloom_private.template_of(unnest(p_texts)));
  end if;
  -- All in one text: nine calls, not nine a text.
  return string_to_array(
    logloom_private.template_of(array_to_string(p_texts, p_separator, v_null)), p_separator, v_null
  );
end;
$$;

-- blocks/codec/columns/column_fields.sql
-- The fields that are a column of a block, in the order of record_arrays.columns.
create function logloom_private.column_fields()
returns text[]
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return array(
    select f.name
    from unnest(logloom_private.record_fields()) with ordinality f
    where f.block = 'column'
    order by f.ordinality
  );
end;
$$;

-- blocks/codec/columns/column_texts.sql
-- The values of a column at all of its positions.
create function logloom_private.column_texts(p_column logloom_private.block_columns)
returns text[]
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
set plan_cache_mode = 'force_generic_plan'
set work_mem = '32MB'
as $$
declare
  v_texts text[] := p_column.dictionary;
  v_codes "char"[] := p_column.codes;
  v_wide_codes smallint[] := p_column.wide_codes;
  v_places integer[];
begin
  if p_column.kind = 'texts' then
    return p_column.texts;
  elsif p_column.kind = 'numbers' then
    return coalesce(p_column.numbers::text[], p_column.wide_numbers::text[]);
  elsif p_column.kind = 'templated' then
    -- In the order of (code, position).
    v_texts := logloom_private.fill_templates(
      v_texts, p_column.counts, p_column.digits || ''::bytea, e'\x1f'
    );
    if v_codes is null and v_wide_codes is null then
      return v_texts;
    end if;
    v_places := array(
      select c.place
      from (
        select
          unnest(v_codes)::integer + 129 as code, unnest(v_wide_codes) as wide_code,
          generate_series(1, p_column.last - p_column.first + 1) as place
      ) c
      -- Positions without a value come last, where no text is left.
      order by coalesce(c.code, c.wide_code), c.place
    );
    return array(
      select t.value
      from (select unnest(v_texts) as value, unnest(v_places) as place) t
      order by t.place
    );
  elsif v_codes is not null then
    return array(select v_texts[unnest(v_codes)::integer + 129]);
  elsif v_wide_codes is not null then
    return array(select v_texts[unnest(v_wide_codes)]);
  end if;
  return array_fill(v_texts[1], array[p_column.last - p_column.first + 1]);
end;
$$;

-- blocks/codec/columns/column_texts_at.sql
-- The values of a column at ascending positions of the block, all of them between its first and its
-- last one.
create function logloom_private.column_texts_at(
  p_column logloom_private.block_columns,
  p_positions integer[]
)
returns text[]
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
set plan_cache_mode = 'force_generic_plan'
set work_mem = '32MB'
as $$
declare
  v_at constant integer[] := array(select p - p_column.first + 1 from unnest(p_positions) p);
  v_dictionary text[] := p_column.dictionary;
  v_codes "char"[] := p_column.codes;
  v_wide_codes smallint[] := p_column.wide_codes;
  v_found integer[];
  v_wanted integer[];
  v_templates text[];
  v_counts integer[];
  v_places integer[];
begin
  if p_column.kind = 'texts' then
    return logloom_private.elements_at(p_column.texts, v_at);
  elsif p_column.kind = 'numbers' then
    return case when p_column.numbers is not null
      then logloom_private.elements_at(p_column.numbers, v_at)::text[]
      else logloom_private.elements_at(p_column.wide_numbers, v_at)::text[] end;
  end if;
  v_found := case
    when v_codes is not null then array(select v_codes[unnest(v_at)]::integer + 129)
    when v_wide_codes is not null then array(select v_wide_codes[unnest(v_at)])
    else array_fill(1, array[cardinality(v_at)])
  end;
  if p_column.kind = 'dictionary' then
    return array(select v_dictionary[unnest(v_found)]);
  end if;

  -- A template without digits is the value.
  v_wanted := array(
    select d.code
    from (select distinct f from unnest(v_found) f) d (code)
    where strpos(v_dictionary[d.code], '0') > 0
    order by d.code
  );
  -- Before a value stand the digits of the templates of lower codes and those of its own template
  -- at lower positions.
  with lower as (
    select l.n, sum(sum(l.digits)) over (order by l.n) as digits
    from (
      -- How many of the codes that are found are not above this one.
      select
        width_bucket(d.code::integer, v_wanted) as n,
        d.count * (octet_length(d.template) - octet_length(replace(d.template, '0', ''))) as digits
      from unnest(v_dictionary, p_column.counts) with ordinality d (template, count, code)
      where d.code < v_wanted[cardinality(v_wanted)]
    ) l
    group by l.n
  ), places as (
    -- To look for one code takes a twentieth of what it takes to gather the places of all.
    select
      d.code,
      case when v_codes is null then array_positions(v_wide_codes, d.code::smallint)
        else array_positions(v_codes, (d.code - 129)::"char") end as places
    from unnest(v_wanted) d (code)
    where cardinality(v_wanted) <= 20
    union all
    select a.code, array_agg(a.place order by a.place)
    from (
      select coalesce(u.code::integer + 129, u.wide_code) as code, u.place
      from (
        select
          unnest(v_codes) as code, unnest(v_wide_codes) as wide_code,
          generate_series(1, p_column.last - p_column.first + 1) as place
      ) u
    ) a
    join unnest(v_wanted) d (code) on d.code = a.code
    where cardinality(v_wanted) > 20
    group by a.code
  ), templates as materialized (
    select
      d.code, octet_length(d.template) - octet_length(replace(d.template, '0', '')) as digits,
      coalesce(l.digits, 0)::integer as before, p.places
    from (
      select u.code, v_dictionary[u.code] as template, u.n
      from unnest(v_wanted) with ordinality u (code, n)
      offset 0
    ) d
    left join lower l on l.n = d.n - 1
    left join places p on p.code = d.code
  )
  select
    array_agg(v_dictionary[f.code] order by f.n), array_agg(m.digits order by f.n),
    array_agg(
      m.before + m.digits * (coalesce(width_bucket(f.place, m.places), f.place) - 1) order by f.n
    )
  into v_templates, v_counts, v_places
  from unnest(v_found, v_at) with ordinality f (code, place, n)
  left join templates m on m.code = f.code;
  -- "|| ''" reads what is stored once, not at each use.
  return logloom_private.fill_each(
    v_templates, v_counts, v_places, p_column.digits || ''::bytea
  );
end;
$$;

-- blocks/codec/columns/elements_at.sql
-- The elements of an array at places, in that order; null at a place that is null. A plan made for
-- these values would have the array as a constant, and walk over it from its beginning for each
-- element.
create function logloom_private.elements_at(p_values anyarray, p_places integer[])
returns anyarray
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
as $$
begin
  return array(select p_values[unnest(p_places)]);
end;
$$;

-- blocks/codec/columns/encode_attributes.sql
-- The attributes of a block's records by position as columns, one for each key. Rare keys and long
-- ones stay together in a column of their own.
create function logloom_private.encode_attributes(p_attrs jsonb[])
returns logloom_private.block_columns[]
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
set work_mem = '48MB'
as $$
declare
  v_columns logloom_private.block_columns[] := '{}';
  v_column logloom_private.block_columns;
  v_keys text[];
  v_first integer[];
  v_last integer[];
  v_count integer;
  v_attrs jsonb[];
  v_texts text[];
begin
  with k as materialized (
    select e.key, min(e.n) as first, max(e.n) as last, count(*) as count
    from (
      select jsonb_object_keys(a.attrs) as key, a.n
      from (
        select unnest(p_attrs) as attrs, generate_series(1, cardinality(p_attrs)) as n
      ) a
    ) e
    group by e.key
  )
  select array_agg(c.key), array_agg(c.first), array_agg(c.last), (select count(*) from k)
  into v_keys, v_first, v_last, v_count
  from (
    select k.* from k where length(k.key) <= 200 order by k.count desc, k.key collate "C" limit 80
  ) c;
  for v_at in 1..coalesce(cardinality(v_keys), 0) loop
    -- A slice is a copy.
    v_attrs := case
      when v_last[v_at] - v_first[v_at] + 1 = cardinality(p_attrs) then p_attrs
      else p_attrs[v_first[v_at]:v_last[v_at]]
    end;
    v_column := logloom_private.encode_column(
      'attrs.' || v_keys[v_at], v_first[v_at],
      array(select (unnest(v_attrs) -> v_keys[v_at])::text)
    );
    v_columns := v_columns || v_column;
  end loop;
  if v_count > coalesce(cardinality(v_keys), 0) then
    v_texts := array(select (unnest(p_attrs) - coalesce(v_keys, '{}'))::text);
  elsif array_position(p_attrs, null) is null then
    v_texts := array_fill('{}'::text, array[cardinality(p_attrs)]);
  else
    v_texts := array(select case when a is not null then '{}' end from unnest(p_attrs) a);
  end if;
  v_column := logloom_private.encode_column('attrs', 1, v_texts);
  if v_column.kind is not null then
    v_columns := v_columns || v_column;
  end if;
  return v_columns;
end;
$$;

-- blocks/codec/columns/encode_column.sql
-- A column of whole numbers; null where a value is none.
create function logloom_private.encode_numbers(
  p_column logloom_private.block_columns,
  p_values text[]
)
returns logloom_private.block_columns
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_joined constant text := array_to_string(p_values, ' ');
begin
  -- Whole numbers whose text is their shortest: nothing is lost.
  if v_joined !~ '^(?:(?:0|-?[1-9][0-9]{0,17})(?: (?=.)|$))+$'
    -- A text of two numbers is none.
    or octet_length(v_joined) - octet_length(replace(v_joined, ' ', ''))
      >= cardinality(array_remove(p_values, null))
  then
    return null;
  end if;
  p_column.wide_numbers := p_values::bigint[];
  select min(v), max(v) into p_column.least, p_column.greatest from unnest(p_column.wide_numbers) v;
  p_column.kind := 'numbers';
  if p_column.least >= -2147483648 and p_column.greatest <= 2147483647 then
    p_column.numbers := p_values::integer[];
    p_column.wide_numbers := null;
  end if;
  return p_column;
end;
$$;

-- A column with the places of values in its dictionary, null where a value is null: of one byte
-- where they fit, none where all values are equal.
create function logloom_private.coded_column(
  p_column logloom_private.block_columns,
  p_values text[]
)
returns logloom_private.block_columns
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
set plan_cache_mode = 'force_generic_plan'
set work_mem = '32MB'
as $$
declare
  v_dictionary constant text[] := p_column.dictionary;
begin
  if cardinality(v_dictionary) = 1 and array_position(p_values, null) is null then
    return p_column;
  elsif cardinality(v_dictionary) <= 256 then
    p_column.codes := array(
      select (d.code::integer - 129)::"char"
      from (select unnest(p_values) as v, generate_series(1, cardinality(p_values)) as n) u
      left join unnest(v_dictionary) with ordinality d (v, code) on d.v = u.v
      order by u.n
    );
  else
    p_column.wide_codes := array(
      select d.code::smallint
      from (select unnest(p_values) as v, generate_series(1, cardinality(p_values)) as n) u
      left join unnest(v_dictionary) with ordinality d (v, code) on d.v = u.v
      order by u.n
    );
  end if;
  return p_column;
end;
$$;

-- A column of templates and digits; null where it has too many templates.
create function logloom_private.encode_templated(
  p_column logloom_private.block_columns,
  p_values text[]
)
returns logloom_private.block_columns
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
set work_mem = '32MB'
as $$
declare
  v_separator constant text := e'\x1f';
  v_templates text[];
  v_joined text[];
begin
  if logloom_private.separator_for(array_to_string(p_values, ' ')) <> v_separator then
    return null;
  end if;
  v_templates := logloom_private.templates_of(p_values, v_separator);
  -- A group has its values in the order in which they come.
  select array_agg(g.template), array_agg(g.count), array_agg(g.joined)
  into p_column.dictionary, p_column.counts, v_joined
  from (
    select u.template, count(*) as count, string_agg(u.v, v_separator) as joined
    from (select unnest(p_values) as v, unnest(v_templates) as template) u
    where u.template is not null
    group by u.template
    order by count(*) desc, u.template collate "C"
  ) g;
  if cardinality(p_column.dictionary) * 3 > cardinality(p_values) then
    return null;
  end if;
  p_column := logloom_private.coded_column(p_column, v_templates);
  p_column.digits := logloom_private.cut_digits(p_column.dictionary, v_joined, v_separator);
  p_column.kind := 'templated';
  return p_column;
end;
$$;

-- A column of values, not all of them null, as the shortest kind.
create function logloom_private.shortest_column(
  p_column logloom_private.block_columns,
  p_values text[]
)
returns logloom_private.block_columns
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
set work_mem = '32MB'
as $$
declare
  v_column logloom_private.block_columns := p_column;
  v_encoded logloom_private.block_columns;
begin
  v_column.kind := 'dictionary';
  if cardinality(array_remove(p_values, p_values[1])) = 0 then
    v_column.dictionary := p_values[1:1];
    v_column.counts := array[cardinality(p_values)];
    return v_column;
  end if;
  select array_agg(g.v), array_agg(g.count)
  into v_column.dictionary, v_column.counts
  from (
    select u.v, count(*)::integer as count
    from (select unnest(p_values) as v) u
    group by u.v
  ) g
  where g.v is not null;
  if cardinality(v_column.dictionary) * 3 <= cardinality(p_values) then
    -- By frequency: only now, since that of many takes long.
    select array_agg(g.v), array_agg(g.count)
    into v_column.dictionary, v_column.counts
    from (
      select u.v, u.count
      from unnest(v_column.dictionary, v_column.counts) u (v, count)
      order by u.count desc, u.v collate "C"
    ) g;
    return logloom_private.coded_column(v_column, p_values);
  end if;

  v_column.dictionary := null;
  v_column.counts := null;
  v_encoded := logloom_private.encode_numbers(v_column, p_values);
  if v_encoded.kind is null then
    v_encoded := logloom_private.encode_templated(v_column, p_values);
  end if;
  if v_encoded.kind is null then
    v_column.kind := 'texts';
    v_column.texts := p_values;
    return v_column;
  end if;
  return v_encoded;
end;
$$;

-- How many values are null before the first one that is not, and after the last one, where p_nulls
-- has the positions of the nulls among p_count.
create function logloom_private.outer_nulls(
  p_nulls integer[],
  p_count integer,
  out before integer,
  out after integer
)
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_last constant integer := cardinality(p_nulls);
  v_most integer := v_last;
  v_try integer;
begin
  before := 0;
  while before < v_most loop
    v_try := (before + v_most + 1) / 2;
    if p_nulls[v_try] = v_try then
      before := v_try;
    else
      v_most := v_try - 1;
    end if;
  end loop;
  after := 0;
  v_most := v_last;
  while after < v_most loop
    v_try := (after + v_most + 1) / 2;
    if p_nulls[v_last + 1 - v_try] = p_count + 1 - v_try then
      after := v_try;
    else
      v_most := v_try - 1;
    end if;
  end loop;
end;
$$;

-- Values from position p_first of a block on as a column, without those at both ends that are null;
-- null where all of them are. The column attrs begins with the first record.
create function logloom_private.encode_column(p_name text, p_first integer, p_values text[])
returns logloom_private.block_columns
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_values text[] := p_values;
  v_column logloom_private.block_columns;
  v_outer record;
  v_first integer := 1;
  v_last integer := cardinality(p_values);
begin
  if p_values[1] is null or p_values[v_last] is null then
    v_outer := logloom_private.outer_nulls(array_positions(p_values, null), v_last);
    if v_outer.before = v_last then
      return null;
    elsif p_name <> 'attrs' then
      v_first := 1 + v_outer.before;
      v_last := v_last - v_outer.after;
      v_values := p_values[v_first:v_last];
    end if;
  end if;
  v_column.name := p_name;
  v_column.first := p_first + v_first - 1;
  v_column.last := p_first + v_last - 1;
  v_column := logloom_private.shortest_column(v_column, v_values);
  if exists (
    select from unnest(logloom_private.record_fields()) f where f.name = p_name and f.bloom
  ) then
    if v_column.kind <> 'dictionary' then
      v_column.filter := logloom_private.value_filter(v_values);
    elsif cardinality(v_column.dictionary) > 256 then
      v_column.filter := logloom_private.value_filter(v_column.dictionary);
    end if;
  end if;
  return v_column;
end;
$$;

-- blocks/codec/read/attribute_texts.sql
-- attrs of p_records records as JSON texts: p_values of the columns p_names, each of the records
-- p_first to p_last. The column attrs has all records, or is not there: then attrs is null. Rare
-- keys come in any order.
create function logloom_private.attribute_texts(
  p_records integer,
  p_names text[],
  p_first integer[],
  p_last integer[],
  p_values logloom_private.column_values[]
)
returns text[]
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
set plan_cache_mode = 'force_generic_plan'
as $$
declare
  v_rest constant integer := array_position(p_names, 'attrs');
  -- Between two bounds the same columns have all records.
  v_bounds constant integer[] := array(
    select b from unnest(p_first) b union select b + 1 from unnest(p_last) b order by 1
  );
  v_part text[];
  v_texts text[] := '{}';
begin
  if v_rest is null then
    return array_fill(null::text, array[p_records]);
  elsif p_records <= 400 then
    -- A statement made for these columns has to be planned, which takes as long as many records.
    return array(
      select
        case
          when bool_or(p.is_rest)
            then '{' || coalesce(string_agg(p.text, ', '), '') || '}'
        end
      from generate_series(1, p_records) r (n)
      left join (
        select
          c.key is null as is_rest, c.first + t.n - 1 as n,
          case when c.key is null then nullif(substr(t.text, 2, length(t.text) - 2), '')
            else c.key || t.text end as text
        from (
          select
            v.texts, p_first[v.n] as first,
            case when p_names[v.n] <> 'attrs'
              then to_json(substr(p_names[v.n], 7)) || ': ' end as key
          from unnest(p_values) with ordinality v (texts, n)
          offset 0
        ) c
        cross join lateral unnest(c.texts) with ordinality t (text, n)
        where t.text is not null
      ) p on p.n = r.n
      group by r.n
      order by r.n
    );
  end if;
  for v_at in 1..cardinality(v_bounds) - 1 loop
    execute (
      select format(
        $query$
          select array(
            select case when u.c%s is not null then '{' || concat_ws(', ', %s) || '}' end
            from (select %s) u
          )
        $query$,
        v_rest,
        string_agg(
          case when c.n = v_rest
            then format('nullif(substr(c%1$s, 2, length(c%1$s) - 2), '''')', c.n)
            else format('%L || c%s', to_json(substr(c.name, 7)) || ': ', c.n) end,
          ', ' order by c.n
        ),
        string_agg(
          format(
            'unnest((($1)[%1$s]).texts[%2$s:%3$s]) as c%1$s',
            c.n, v_bounds[v_at] - c.first + 1, v_bounds[v_at + 1] - c.first
          ),
          ', ' order by c.n
        )
      )
      from unnest(p_names, p_first, p_last) with ordinality c (name, first, last, n)
      where c.first <= v_bounds[v_at] and c.last >= v_bounds[v_at + 1] - 1
    )
    into v_part
    using p_values;
    v_texts := v_texts || v_part;
  end loop;
  return v_texts;
end;
$$;

-- blocks/codec/read/block_batches.sql
-- The number (1-based) of the batch at positions of a block, or of all.
create function logloom_private.block_batches(
  p_block logloom_private.blocks,
  p_positions integer[]
)
returns integer[]
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
set plan_cache_mode = 'force_generic_plan'
as $$
declare
  v_bytes "char"[] := p_block.batch_codes;
  v_numbers smallint[] := p_block.wide_batch_codes;
begin
  if v_bytes is null and v_numbers is null then
    return array_fill(1, array[coalesce(cardinality(p_positions), p_block.records)]);
  elsif p_positions is null then
    if v_bytes is not null then
      return array(select unnest(v_bytes)::integer + 129);
    end if;
    return v_numbers::integer[];
  end if;
  return array(
    select coalesce(v_bytes[p.position]::integer + 129, v_numbers[p.position])
    from unnest(p_positions) with ordinality p (position, n)
    order by p.n
  );
end;
$$;

-- blocks/codec/read/block_ids.sql
-- id at positions of a block, all where null. p_batches: block_batches of the same positions.
create function logloom_private.block_ids(
  p_block logloom_private.blocks,
  p_positions integer[],
  p_batches integer[]
)
returns uuid[]
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
set plan_cache_mode = 'force_generic_plan'
as $$
declare
  v_prefixes bytea := p_block.batch_prefixes || ''::bytea;
  v_prefix text[];
  v_indexes smallint[] := p_block.id_indexes;
begin
  if p_positions is not null then
    return array(
      select encode(
        substring(v_prefixes from 14 * b.batch - 13 for 14) || int2send(v_indexes[b.position]),
        'hex'
      )::uuid
      from unnest(p_positions, p_batches) with ordinality b (position, batch, n)
      order by b.n
    );
  end if;
  v_prefix := array(
    select encode(substring(v_prefixes from 1 + 14 * i for 14), 'hex')
    from generate_series(0, octet_length(v_prefixes) / 14 - 1) i
  );
  return array(
    select (v_prefix[b.batch] || encode(int2send(b.index), 'hex'))::uuid
    from (select unnest(p_batches) as batch, unnest(v_indexes) as index) b
  );
end;
$$;

-- blocks/codec/read/block_messages.sql
-- The messages of all records of a block.
create function logloom_private.block_messages(p_block logloom_private.blocks)
returns text[]
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
set plan_cache_mode = 'force_generic_plan'
set work_mem = '32MB'
as $$
declare
  -- Each run's templates end with the separator; a run without messages has none.
  v_templates constant text[] := string_to_array(
    array_to_string(p_block.templates, ''), p_block.separator
  );
  v_texts text[];
begin
  v_texts := logloom_private.fill_templates(
    v_templates[:cardinality(v_templates) - 1], p_block.template_records,
    -- "|| ''" reads what is stored once, not at each use.
    p_block.digits || ''::bytea, p_block.separator
  );
  if array_position(p_block.run_templates, 0) is null then
    return v_texts;
  end if;
  -- Runs without messages stand between the others.
  return array(
    select case when s.templates > 0 then v_texts[s.before + i] end
    from (
      select
        x.n, x.records, x.templates,
        sum(case when x.templates > 0 then x.records else 0 end) over (order by x.n)
          - case when x.templates > 0 then x.records else 0 end as before
      from unnest(p_block.run_records, p_block.run_templates)
        with ordinality x (records, templates, n)
    ) s, generate_series(1, s.records) i
    order by s.n, i
  );
end;
$$;

-- blocks/codec/read/block_messages_at.sql
-- The messages at ascending positions of a block.
create function logloom_private.block_messages_at(
  p_block logloom_private.blocks,
  p_positions integer[]
)
returns text[]
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
set plan_cache_mode = 'force_generic_plan'
as $$
declare
  v_run_records constant integer[] := p_block.run_records;
  v_run_templates constant integer[] := p_block.run_templates;
  v_counts constant integer[] := p_block.template_records;
  v_offset_records constant integer[] := p_block.offset_records;
  v_offset_digits constant integer[] := p_block.offset_digits;
  v_offset_bytes constant integer[] := p_block.offset_bytes;
  v_bytes constant bytea := convert_to(array_to_string(p_block.templates, ''), 'UTF8');
  v_run integer := 0;
  v_run_last integer := 0;
  -- Records without a message up to the end of the run.
  v_silent integer := 0;
  v_position integer;
  v_ordinal integer;
  v_next_ordinal integer := 1;
  v_offset integer;
  v_template integer;
  v_templates text[];
  v_digits_each integer;
  v_last integer;
  v_last_digit integer;
  v_found_templates text[] := '{}';
  v_found_counts integer[] := '{}';
  v_found_places integer[] := '{}';
begin
  foreach v_position in array p_positions loop
    while v_run_last < v_position loop
      v_run := v_run + 1;
      v_run_last := v_run_last + v_run_records[v_run];
      if v_run_templates[v_run] = 0 then
        v_silent := v_silent + v_run_records[v_run];
      end if;
    end loop;
    if v_run_templates[v_run] = 0 then
      v_found_templates := v_found_templates || null::text;
      v_found_counts := v_found_counts || 0;
      v_found_places := v_found_places || 0;
      continue;
    end if;
    -- From offset to offset, and from there to the template that holds the message.
    v_ordinal := v_position - v_silent;
    if v_ordinal >= v_next_ordinal then
      v_offset := width_bucket(v_ordinal - 1, v_offset_records);
      v_next_ordinal := coalesce(v_offset_records[v_offset + 1], p_block.records) + 1;
      v_template := 0;
      v_last := v_offset_records[v_offset];
      v_last_digit := v_offset_digits[v_offset];
      v_templates := string_to_array(
        convert_from(
          substring(
            v_bytes from v_offset_bytes[v_offset] + 1
            for coalesce(v_offset_bytes[v_offset + 1], octet_length(v_bytes))
              - v_offset_bytes[v_offset]
          ),
          'UTF8'
        ),
        p_block.separator
      );
    end if;
    while v_last < v_ordinal loop
      v_template := v_template + 1;
      v_digits_each := octet_length(v_templates[v_template])
        - octet_length(replace(v_templates[v_template], '0', ''));
      v_last := v_last + v_counts[16 * (v_offset - 1) + v_template];
      v_last_digit := v_last_digit + v_counts[16 * (v_offset - 1) + v_template] * v_digits_each;
    end loop;
    v_found_templates := v_found_templates || v_templates[v_template];
    v_found_counts := v_found_counts || v_digits_each;
    v_found_places := v_found_places || v_last_digit - (v_last - v_ordinal + 1) * v_digits_each;
  end loop;
  return logloom_private.fill_each(
    v_found_templates, v_found_counts, v_found_places, p_block.digits || ''::bytea
  );
end;
$$;

-- blocks/codec/read/block_records.sql
-- sealed_records of the block with an id.
create function logloom_private.block_records(
  p_tenant_id text,
  p_block_id bigint,
  p_positions integer[],
  p_reads text[]
)
returns setof logloom.logs
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_block logloom_private.blocks;
begin
  -- A row in a variable, not in a join: of a table that is sharded a join has rows of
  -- another type.
  select c.* into v_block
  from logloom_private.blocks c
  where c.tenant_id = p_tenant_id and c.block_id = p_block_id;
  if found then
    perform logloom_private.can_read(v_block.format);
    return query
    select r.* from logloom_private.sealed_records(v_block, p_positions, p_reads) r;
  end if;
end;
$$;

-- blocks/codec/read/block_runs.sql
-- The number of the run at positions of a block, all where null.
create function logloom_private.block_runs(p_block logloom_private.blocks, p_positions integer[])
returns integer[]
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
set plan_cache_mode = 'force_generic_plan'
as $$
declare
  v_firsts integer[];
begin
  if p_positions is null then
    return array(
      select r.run
      from (
        select u.n::integer as run, generate_series(1, u.records)
        from unnest(p_block.run_records) with ordinality u (records, n)
      ) r
    );
  end if;
  v_firsts := array(
    select sum(u.records) over (order by u.n) - u.records + 1
    from unnest(p_block.run_records) with ordinality u (records, n)
    order by u.n
  );
  return array(select width_bucket(p, v_firsts) from unnest(p_positions) p);
end;
$$;

-- blocks/codec/read/block_steps.sql
-- ts at positions of a block, all where null, as steps of ts_unit from first_ts on.
create function logloom_private.block_steps(
  p_block logloom_private.blocks,
  p_positions integer[]
)
returns bigint[]
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
set plan_cache_mode = 'force_generic_plan'
as $$
declare
  v_low smallint[] := p_block.ts_low;
  v_middle "char"[] := p_block.ts_middle;
  v_high smallint[] := p_block.ts_high;
  v_top "char"[] := p_block.ts_top;
  v_steps bigint[];
begin
  if p_positions is null then
    -- unnest() where a row is made takes a third of the time that it takes after "from".
    v_steps := array(
      select o.low + 32768 + coalesce(o.middle::integer + 128, 0) * 65536
        + coalesce(o.high + 32768, 0) * 16777216::bigint
      from (
        select unnest(v_low) as low, unnest(v_middle) as middle, unnest(v_high) as high
      ) o
    );
  else
    v_steps := array(
      select v_low[p.position] + 32768 + coalesce(v_middle[p.position]::integer + 128, 0) * 65536
        + coalesce(v_high[p.position] + 32768, 0) * 16777216::bigint
      from unnest(p_positions) with ordinality p (position, n)
      order by p.n
    );
  end if;
  -- Of few blocks: months in microseconds.
  if v_top is not null then
    if p_positions is not null then
      v_top := array(select v_top[unnest(p_positions)]);
    end if;
    v_steps := array(
      select o.step + (o.top::integer + 128) * 1099511627776
      from (select unnest(v_steps) as step, unnest(v_top) as top) o
    );
  end if;
  return v_steps;
end;
$$;

-- blocks/codec/read/block_times.sql
-- ts at positions of a block, all where null.
create function logloom_private.block_times(
  p_block logloom_private.blocks,
  p_positions integer[]
)
returns timestamptz[]
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
set plan_cache_mode = 'force_generic_plan'
as $$
declare
  v_first constant timestamptz := p_block.first_ts;
  v_unit constant interval := p_block.ts_unit * interval '1 microsecond';
  v_steps constant bigint[] := logloom_private.block_steps(p_block, p_positions);
begin
  return array(select v_first + v_unit * unnest(v_steps)::double precision);
end;
$$;

-- blocks/codec/read/run_texts.sql
-- What runs tell of the records at positions of a block, all where null, as far as p_reads asks for
-- it: service, level, and for msg.exists an empty text where there is a message.
create function logloom_private.run_texts(
  p_block logloom_private.blocks,
  p_positions integer[],
  p_reads text[],
  out services text[],
  out levels text[],
  out messages text[]
)
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_runs integer[];
begin
  if p_reads is null or p_reads && array['service', 'level', 'msg.exists'] then
    v_runs := logloom_private.block_runs(p_block, p_positions);
    services := logloom_private.elements_at(p_block.run_services, v_runs);
    levels := logloom_private.elements_at(p_block.run_levels, v_runs);
    if 'msg.exists' = any(p_reads) then
      messages := logloom_private.elements_at(
        array(select case when t > 0 then '' end from unnest(p_block.run_templates) t), v_runs
      );
    end if;
  end if;
end;
$$;

-- blocks/codec/read/sealed_records.sql
-- The records at ascending positions of a block, or all where p_positions is null. Fields
-- and keys of attrs that p_reads does not name are null, but for tenant_id; null names all. Of
-- msg.exists there is an empty msg where there is one.
create function logloom_private.sealed_records(
  p_block logloom_private.blocks,
  p_positions integer[],
  p_reads text[]
)
returns setof logloom.logs
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
set plan_cache_mode = 'force_generic_plan'
as $$
declare
  v_records constant integer := coalesce(cardinality(p_positions), p_block.records);
  v_needs_attrs constant boolean := p_reads is null
    or exists (select from unnest(p_reads) r where left(r, 5) = 'attrs');
  v_batch_received_at timestamptz[] := p_block.batch_received_at;
  v_batch_write_seqs bigint[] := p_block.batch_write_seqs;
  v_ts timestamptz[];
  v_batches integer[];
  v_ids uuid[];
  v_level text[];
  v_msg text[];
  v_service text[];
  -- fields column: v_{name} text[];
  v_env text[];
  v_req_id text[];
  v_user_id text[];
  v_route text[];
  v_host text[];
  v_record_bytes text[];
  -- fields end
  v_attrs jsonb[];
  v_names text[] := '{}';
  v_first integer[] := '{}';
  v_last integer[] := '{}';
  v_values logloom_private.column_values[] := '{}';
  v_texts text[];
  v_column logloom_private.block_columns;
  v_lower integer;
  v_upper integer;
begin
  if p_reads is null or 'ts' = any(p_reads) then
    v_ts := logloom_private.block_times(p_block, p_positions);
  end if;
  if p_reads is null or p_reads && array['id', 'received_at', 'write_seq'] then
    v_batches := logloom_private.block_batches(p_block, p_positions);
    v_ids := logloom_private.block_ids(p_block, p_positions, v_batches);
  end if;
  select r.services, r.levels, r.messages into v_service, v_level, v_msg
  from logloom_private.run_texts(p_block, p_positions, p_reads) r;
  if p_reads is null or 'msg' = any(p_reads) then
    -- Reading a message by its place takes several times as long as reading it in passing.
    v_msg := case
      when p_positions is null then logloom_private.block_messages(p_block)
      when v_records * 4 <= p_block.records
        then logloom_private.block_messages_at(p_block, p_positions)
      else logloom_private.elements_at(logloom_private.block_messages(p_block), p_positions)
    end;
  end if;
  for v_column in
    select c.*
    from logloom_private.block_columns c
    where c.tenant_id = p_block.tenant_id and c.block_id = p_block.block_id
      and (
        p_reads is null or c.name = any(p_reads) or c.name = 'attrs' and v_needs_attrs
        or left(c.name, 6) = 'attrs.' and 'attrs' = any(p_reads)
      )
    -- As jsonb has its keys: a whole record's text is that which jsonb has.
    order by octet_length(c.name), c.name collate "C"
  loop
    if p_positions is null then
      v_lower := v_column.first;
      v_upper := v_column.last;
      v_texts := logloom_private.column_texts(v_column);
    else
      v_lower := width_bucket(v_column.first - 1, p_positions) + 1;
      v_upper := width_bucket(v_column.last, p_positions);
      continue when v_lower > v_upper;
      v_texts := logloom_private.column_texts_at(v_column, p_positions[v_lower:v_upper]);
    end if;
    if left(v_column.name, 5) = 'attrs' then
      v_names := v_names || v_column.name;
      v_first := v_first || v_lower;
      v_last := v_last || v_upper;
      v_values := v_values || row(v_texts)::logloom_private.column_values;
      continue;
    end if;
    v_texts := array_fill(null::text, array[v_lower - 1]) || v_texts;
    case v_column.name
      -- fields column: when '{name}' then v_{name} := v_texts;
      when 'env' then v_env := v_texts;
      when 'req_id' then v_req_id := v_texts;
      when 'user_id' then v_user_id := v_texts;
      when 'route' then v_route := v_texts;
      when 'host' then v_host := v_texts;
      when 'record_bytes' then v_record_bytes := v_texts;
      -- fields end
    end case;
  end loop;
  if v_needs_attrs then
    v_texts := logloom_private.attribute_texts(v_records, v_names, v_first, v_last, v_values);
    -- A cast of the array keeps what reading each text takes, until all of them are read.
    v_attrs := array(select unnest(v_texts)::jsonb);
  end if;
  return query
  select
    r.ts, v_batch_received_at[r.batch], v_batch_write_seqs[r.batch], r.id, p_block.tenant_id,
    -- fields all but ts, received_at, write_seq, id, tenant_id joined: r.{name}::{type}
    r.level::text, r.msg::text, r.service::text, r.env::text, r.req_id::text, r.user_id::text,
    r.route::text, r.host::text, r.attrs::jsonb, r.record_bytes::integer
    -- fields end
  from unnest(
    -- As many rows as records, whatever of them is read.
    case when v_ts is null then array_fill(1, array[v_records]) end,
    v_ts, v_batches, v_ids,
    -- fields all but ts, received_at, write_seq, id, tenant_id joined: v_{name}
    v_level, v_msg, v_service, v_env, v_req_id, v_user_id, v_route, v_host, v_attrs, v_record_bytes
    -- fields end
  ) with ordinality r (
    one, ts, batch, id,
    -- fields all but ts, received_at, write_seq, id, tenant_id joined: {name},
    level, msg, service, env, req_id, user_id, route, host, attrs, record_bytes,
    -- fields end
    n
  )
  order by r.n;
end;
$$;

-- blocks/codec/read/step_at.sql
-- The first step of ts at or after a time, as block_steps has it; one more than a block's last step
-- where the time lies after the block, which may be infinite.
create function logloom_private.step_at(p_block logloom_private.blocks, p_ts timestamptz)
returns bigint
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return ceil(
    extract(
      epoch from greatest(
        least(p_ts, p_block.last_ts + interval '1 microsecond'), p_block.first_ts
      ) - p_block.first_ts
    ) * 1000000 / p_block.ts_unit
  );
end;
$$;

-- blocks/codec/write/compare_block.sql
-- Reads a block back as its readers do. LL001 where it differs from the records, by position, that
-- it was made of.
create function logloom_private.compare_block(
  p_block logloom_private.blocks,
  p_records logloom_private.record_arrays
)
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  -- Those that no column has been read of.
  v_fields text[] := logloom_private.column_fields();
  v_batches constant integer[] := logloom_private.block_batches(p_block, null);
  v_runs constant integer[] := logloom_private.block_runs(p_block, null);
  v_batch_received_at timestamptz[] := p_block.batch_received_at;
  v_batch_write_seqs bigint[] := p_block.batch_write_seqs;
  v_column logloom_private.block_columns;
  v_texts text[];
  v_names text[] := '{}';
  v_first integer[] := '{}';
  v_last integer[] := '{}';
  v_values logloom_private.column_values[] := '{}';
  v_attrs text[];
  v_same boolean;
begin
  v_same := logloom_private.block_times(p_block, null) = p_records.ts
    and array(select v_batch_received_at[unnest(v_batches)]) = p_records.received_at
    and array(select v_batch_write_seqs[unnest(v_batches)]) = p_records.write_seqs
    and logloom_private.block_ids(p_block, null, v_batches) = p_records.ids
    and logloom_private.elements_at(p_block.run_services, v_runs) = p_records.services
    and logloom_private.elements_at(p_block.run_levels, v_runs) = p_records.levels
    and logloom_private.block_messages(p_block) = p_records.messages;
  for v_column in
    select c.*
    from logloom_private.block_columns c
    where c.tenant_id = p_block.tenant_id and c.block_id = p_block.block_id
    order by octet_length(c.name), c.name collate "C"
  loop
    v_texts := logloom_private.column_texts(v_column);
    if left(v_column.name, 5) = 'attrs' then
      v_names := v_names || v_column.name;
      v_first := v_first || v_column.first;
      v_last := v_last || v_column.last;
      v_values := v_values || row(v_texts)::logloom_private.column_values;
    else
      v_same := v_same
        and (p_records.columns[array_position(v_fields, v_column.name)]).texts
          = array_fill(null::text, array[v_column.first - 1]) || v_texts
            || array_fill(null::text, array[p_block.records - v_column.last]);
      v_fields := array_replace(v_fields, v_column.name, null);
    end if;
  end loop;
  -- A field without a column has no value.
  for v_at in 1..cardinality(v_fields) loop
    v_same := v_same and (
      v_fields[v_at] is null or array_remove((p_records.columns[v_at]).texts, null) = '{}'
    );
  end loop;
  v_attrs := logloom_private.attribute_texts(
    p_block.records, v_names, v_first, v_last, v_values
  );
  -- The texts of attrs, since 1.0 equals 1. Rare keys are read to be in order. One after the other:
  -- a cast of an array keeps what each of its elements takes.
  v_same := v_same and cardinality(v_attrs) = cardinality(p_records.attrs)
    and not exists (
      select
      from (select unnest(v_attrs) as sealed, unnest(p_records.attrs) as given) a
      where a.sealed is distinct from a.given::text
        and a.sealed::jsonb::text is distinct from a.given::text
    );
  if v_same is not true then
    raise sqlstate 'LL001' using
      message = format('Block %s differs from its records', p_block.block_id);
  end if;
end;
$$;

-- blocks/codec/write/encode_block.sql
-- What settings.seal_block_bytes bounds, as block_range has it of rows.
create function logloom_private.weight_of(p_records logloom_private.record_arrays)
returns bigint
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_sizes constant text[] := (
    p_records.columns[array_position(logloom_private.column_fields(), 'record_bytes')]
  ).texts;
begin
  return (
    select sum(r.bytes + 7 * greatest(r.bytes - 2000, 0)::bigint)
    from (
      select
        greatest(
          b.size::integer,
          200 + coalesce(octet_length(b.msg), 0) + coalesce(pg_column_size(b.attrs), 0)
        ) as bytes
      from (
        select
          unnest(p_records.messages) as msg, unnest(p_records.attrs) as attrs,
          unnest(v_sizes) as size
      ) b
    ) r
  );
end;
$$;

-- A block and its columns, which have no block_id yet, of a tenant's records. p_block: the block as
-- encode_messages made it; p_records: its records by position. All of it works on arrays, read by
-- unnest in a select list: that hands on an element at a time and keeps the order, where a function
-- in FROM stores all of it first.
create function logloom_private.encode_block(
  p_block logloom_private.blocks,
  p_records logloom_private.record_arrays,
  out o_block logloom_private.blocks,
  out o_columns logloom_private.block_columns[]
)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set work_mem = '48MB'
as $$
declare
  v_formats constant smallint[] := logloom_private.block_formats();
  v_names constant text[] := logloom_private.column_fields();
  v_column logloom_private.block_columns;
begin
  o_block := p_block;
  o_block.format := v_formats[cardinality(v_formats)];
  o_block.weight := logloom_private.weight_of(p_records);
  select min(r.ts), max(r.ts), min(r.write_seq), max(r.write_seq)
  into o_block.first_ts, o_block.last_ts, o_block.first_write_seq, o_block.last_write_seq
  from (select unnest(p_records.ts) as ts, unnest(p_records.write_seqs) as write_seq) r;
  o_block := logloom_private.encode_times(o_block, p_records.ts);
  o_block := logloom_private.encode_ids(
    o_block, p_records.ids, p_records.received_at, p_records.write_seqs
  );
  o_columns := logloom_private.encode_attributes(p_records.attrs);
  for v_at in 1..cardinality(v_names) loop
    v_column := logloom_private.encode_column(v_names[v_at], 1, (p_records.columns[v_at]).texts);
    if v_column.kind is not null then
      o_columns := o_columns || v_column;
    end if;
  end loop;
  o_block.checksum := logloom_private.block_checksum(o_block, o_columns);
end;
$$;

-- blocks/codec/write/encode_ids.sql
-- A block with the ids of its records by position, and with their batches.
create function logloom_private.encode_ids(
  p_block logloom_private.blocks,
  p_ids uuid[],
  p_received_at timestamptz[],
  p_write_seqs bigint[]
)
returns logloom_private.blocks
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
set work_mem = '48MB'
as $$
declare
  v_bytes bytea[] := array(select uuid_send(unnest(p_ids)));
  v_prefixes bytea[];
begin
  with b as (
    select u.prefix, u.received_at, u.write_seq
    from (
      select
        substring(unnest(v_bytes) for 14) as prefix, unnest(p_received_at) as received_at,
        unnest(p_write_seqs) as write_seq
    ) u
    group by u.prefix, u.received_at, u.write_seq
    order by u.received_at, u.prefix, u.write_seq
  )
  select
    array_agg(b.prefix), string_agg(b.prefix, ''::bytea), array_agg(b.received_at),
    array_agg(b.write_seq)
  into v_prefixes, p_block.batch_prefixes, p_block.batch_received_at, p_block.batch_write_seqs
  from b;
  if cardinality(v_prefixes) > 1 then
    p_block.wide_batch_codes := array(
      select b.number::smallint
      from (
        select
          substring(unnest(v_bytes) for 14) as prefix, unnest(p_received_at) as received_at,
          unnest(p_write_seqs) as write_seq, generate_series(1, p_block.records) as n
      ) u
      left join unnest(v_prefixes, p_block.batch_received_at, p_block.batch_write_seqs)
        with ordinality b (prefix, received_at, write_seq, number)
        on b.prefix = u.prefix and b.received_at = u.received_at and b.write_seq = u.write_seq
      order by u.n
    );
  end if;
  if cardinality(v_prefixes) between 2 and 256 then
    p_block.batch_codes := array(
      select (unnest(p_block.wide_batch_codes)::integer - 129)::"char"
    );
    p_block.wide_batch_codes := null;
  end if;
  -- As a signed number of two bytes.
  p_block.id_indexes := array(
    select (
      ((get_byte(b.bytes, 14) << 8 | get_byte(b.bytes, 15)) + 32768 & 65535) - 32768
    )::smallint
    from (select unnest(v_bytes) as bytes) b
  );
  p_block.first_id := (
    select i.id from (select unnest(p_ids) as id) i order by i.id limit 1
  );
  p_block.last_id := (
    select i.id from (select unnest(p_ids) as id) i order by i.id desc limit 1
  );
  return p_block;
end;
$$;

-- blocks/codec/write/encode_messages.sql
-- A block with its runs, templates and digits, and the order of its records: the arrays are given
-- by ts and id.
create function logloom_private.encode_messages(
  p_block logloom_private.blocks,
  p_services text[],
  p_levels text[],
  p_messages text[],
  out o_block logloom_private.blocks,
  -- The record, as a place in the arrays, at each position.
  out o_order integer[]
)
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
set work_mem = '48MB'
-- The planner takes 16 kB for what a group gathers, which is less than 2 kB.
set hash_mem_multiplier = 8
as $$
declare
  v_templates text[];
  v_texts text[];
begin
  o_block := p_block;
  o_block.separator := logloom_private.separator_for(array_to_string(p_messages, ' '));
  v_templates := logloom_private.templates_of(p_messages, o_block.separator);
  -- Runs of an equal template, and of an equal service and level. A group has its records in the
  -- order in which they come, which is that of ts and id.
  with k as (
    select
      unnest(p_services) as service, unnest(p_levels) as level, unnest(p_messages) as msg,
      unnest(v_templates) as template, generate_series(1, p_block.records) as place
  ), g as materialized (
    select
      x.*,
      row_number() over (
        order by x.service collate "C", x.level collate "C", x.template collate "C" nulls last
      ) as n
    from (
      select
        k.service, k.level, k.template, count(*)::integer as records, array_agg(k.place) as places,
        string_agg(k.msg, o_block.separator) as texts
      from k
      group by k.service, k.level, k.template
    ) x
  ), s as (
    select
      g.service, g.level, sum(g.records) as records, count(g.template) as templates, min(g.n) as n,
      coalesce(
        sum(g.records * (octet_length(g.template) - octet_length(replace(g.template, '0', '')))), 0
      ) as digits,
      coalesce(string_agg(g.template || o_block.separator, '' order by g.n), '') as texts
    from g
    group by g.service, g.level, g.template is null
  ), runs as (
    select
      array_agg(s.service order by s.n) as services,
      array_agg(s.level order by s.n) as levels,
      array_agg(s.records order by s.n) as records,
      array_agg(s.templates order by s.n) as templates,
      array_agg(s.digits_before order by s.n) as digits,
      array_agg(s.texts order by s.n) as texts,
      array_agg(logloom_private.words_of(s.texts) order by s.n) as words
    from (
      select x.*, (sum(x.digits) over (order by x.n) - x.digits)::integer as digits_before from s x
    ) s
  ), groups as (
    select
      coalesce(array_agg(g.records order by g.n), '{}') as records,
      coalesce(array_agg(g.template order by g.n), '{}') as templates,
      coalesce(array_agg(g.texts order by g.n), '{}') as texts
    from g
    where g.template is not null
  )
  select
    s.services, s.levels, s.records, s.templates, s.digits, s.texts, s.words,
    g.records, g.templates, g.texts,
    array(select unnest(p.places) from (select g.places from g order by g.n) p)
  into
    o_block.run_services, o_block.run_levels, o_block.run_records,
    o_block.run_templates, o_block.run_digits, o_block.templates, o_block.run_words,
    o_block.template_records, v_templates, v_texts, o_order
  from runs s, groups g;
  o_block.digits := logloom_private.cut_digits(v_templates, v_texts, o_block.separator);
  select
    coalesce(array_agg(m.records order by m.n), '{}'),
    coalesce(array_agg(m.digits order by m.n), '{}'),
    coalesce(array_agg(m.bytes order by m.n), '{}')
  into o_block.offset_records, o_block.offset_digits, o_block.offset_bytes
  from (
    select
      k.n, sum(k.count) over w - k.count as records,
      sum(k.count * k.digits) over w - k.count * k.digits as digits,
      sum(k.bytes) over w - k.bytes as bytes
    from (
      select
        u.*, octet_length(u.template) + octet_length(o_block.separator) as bytes,
        octet_length(u.template) - octet_length(replace(u.template, '0', '')) as digits
      from (
        select
          unnest(v_templates) as template, unnest(o_block.template_records) as count,
          generate_series(1, cardinality(v_templates)) as n
      ) u
    ) k
    window w as (order by k.n rows unbounded preceding)
  ) m
  where m.n % 16 = 1;
end;
$$;

-- blocks/codec/write/encode_times.sql
-- A block with ts of its records by position.
create function logloom_private.encode_times(
  p_block logloom_private.blocks,
  p_ts timestamptz[]
)
returns logloom_private.blocks
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_first constant timestamptz := p_block.first_ts;
  v_offsets bigint[];
  v_greatest bigint := extract(epoch from p_block.last_ts - v_first) * 1000000;
begin
  select array_agg(o.ts), case when bool_and(o.ts % 1000 = 0) then 1000 else 1 end
  into v_offsets, p_block.ts_unit
  from (
    select (date_part('epoch', u.ts - v_first) * 1000000)::bigint as ts
    from (select unnest(p_ts) as ts) u
    offset 0
  ) o;
  v_greatest := v_greatest / p_block.ts_unit;
  -- In one pass: each costs as much as what it makes.
  select
    array_agg(((o.ts & 65535) - 32768)::smallint),
    array_agg(((o.ts >> 16 & 255)::integer - 128)::"char") filter (where v_greatest > 65535),
    array_agg(((o.ts >> 24 & 65535) - 32768)::smallint) filter (where v_greatest > 16777215),
    array_agg(((o.ts >> 40)::integer - 128)::"char") filter (where v_greatest > 1099511627775)
  into p_block.ts_low, p_block.ts_middle, p_block.ts_high, p_block.ts_top
  from (select unnest(v_offsets) / p_block.ts_unit as ts offset 0) o;
  return p_block;
end;
$$;

-- blocks/codec/write/read_records.sql
-- The rows of logloom.logs that p_sql selects, by ts and id; p_rows is its $1.
create function logloom_private.read_records(p_sql text, p_rows logloom.logs[] default null)
returns logloom_private.record_arrays
language plpgsql
set search_path = pg_catalog, pg_temp
set work_mem = '48MB'
as $$
declare
  v_records logloom_private.record_arrays;
begin
  execute format(
    $query$
      select
        array_agg(r.ts), array_agg(r.received_at), array_agg(r.write_seq), array_agg(r.id),
        array_agg(r.service), array_agg(r.level), array_agg(r.msg), array_agg(r.attrs),
        array[%s]
      from (select s.* from (%s) s order by s.ts, s.id) r
    $query$,
    (
      select string_agg(
        format('row(array_agg(r.%I::text))::logloom_private.column_values', f.name), ', '
        order by f.n
      )
      from unnest(logloom_private.column_fields()) with ordinality f (name, n)
    ),
    p_sql
  )
  into v_records
  using p_rows;
  return v_records;
end;
$$;

-- blocks/codec/write/write_block.sql
-- Stores an encoded block and its columns. The row that it is.
create function logloom_private.store_block(
  p_block logloom_private.blocks,
  p_columns logloom_private.block_columns[]
)
returns logloom_private.blocks
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_block logloom_private.blocks := p_block;
  v_column logloom_private.block_columns;
begin
  v_block.block_id := nextval(pg_get_serial_sequence('logloom_private.blocks', 'block_id'));
  v_block.sealed_at := clock_timestamp();
  v_block.bytes := 0;
  insert into logloom_private.blocks overriding system value select v_block.*;
  foreach v_column in array p_columns loop
    v_column.tenant_id := v_block.tenant_id;
    v_column.block_id := v_block.block_id;
    insert into logloom_private.block_columns select v_column.*;
  end loop;
  -- Measured first: an update of a sharded table takes no such function.
  select
    pg_column_size(c.*) + (
      select coalesce(sum(pg_column_size(k.*)), 0)
      from logloom_private.block_columns k
      where k.tenant_id = c.tenant_id and k.block_id = c.block_id
    )
  into v_block.bytes
  from logloom_private.blocks c
  where c.tenant_id = v_block.tenant_id and c.block_id = v_block.block_id;
  update logloom_private.blocks c
  set bytes = v_block.bytes
  where c.tenant_id = v_block.tenant_id and c.block_id = v_block.block_id
  returning c.* into v_block;
  return v_block;
end;
$$;

-- Makes a block of a tenant's records by ts and id, stores it, and compares it with them; null
-- where there are none. LL001 where it differs. The records stay where they are.
create function logloom_private.write_block(
  p_tenant_id text,
  p_records logloom_private.record_arrays,
  p_holds_counts boolean default false
)
returns logloom_private.blocks
language plpgsql
set search_path = pg_catalog, pg_temp
set work_mem = '48MB'
as $$
declare
  v_encoded record;
  v_order integer[];
  v_block logloom_private.blocks;
begin
  if p_records.ids is null then
    return null;
  end if;
  v_block.tenant_id := p_tenant_id;
  v_block.holds_counts := p_holds_counts;
  v_block.records := cardinality(p_records.ids);
  -- Assigned: a function after "from" has its result stored first.
  v_encoded := logloom_private.encode_messages(
    v_block, p_records.services, p_records.levels, p_records.messages
  );
  v_order := v_encoded.o_order;
  -- Each record once: compare_block cannot tell.
  if v_block.records <> (
    select count(distinct o.place) from (select unnest(v_order) as place) o
  ) then
    raise sqlstate 'LL001' using message = 'A block has records twice';
  end if;
  -- In their place: records are some ten MB.
  p_records.ts := logloom_private.elements_at(p_records.ts, v_order);
  p_records.received_at := logloom_private.elements_at(p_records.received_at, v_order);
  p_records.write_seqs := logloom_private.elements_at(p_records.write_seqs, v_order);
  p_records.ids := logloom_private.elements_at(p_records.ids, v_order);
  p_records.services := logloom_private.elements_at(p_records.services, v_order);
  p_records.levels := logloom_private.elements_at(p_records.levels, v_order);
  p_records.messages := logloom_private.elements_at(p_records.messages, v_order);
  p_records.attrs := logloom_private.elements_at(p_records.attrs, v_order);
  p_records.columns := array(
    select row(logloom_private.elements_at(c.texts, v_order))::logloom_private.column_values
    from unnest(p_records.columns) with ordinality c (texts, n)
    order by c.n
  );
  v_encoded := logloom_private.encode_block(v_encoded.o_block, p_records);
  v_block := logloom_private.store_block(v_encoded.o_block, v_encoded.o_columns);
  perform logloom_private.compare_block(v_block, p_records);
  return v_block;
end;
$$;

-- blocks/bits/bit_positions.sql
-- The positions of the bits that are set, 1-based, ascending.
create function logloom_private.bit_positions(p_bits varbit)
returns integer[]
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_gaps text[];
begin
  if bit_count(p_bits) = 0 then
    return '{}';
  elsif bit_count(p_bits) * 8 > length(p_bits) then
    return array(
      select i.position
      from generate_series(1, length(p_bits)) with ordinality i (position, n)
      where get_bit(p_bits, i.position - 1) = 1
      order by i.n
    );
  end if;
  -- Where few are set, the gaps between them say where.
  v_gaps := string_to_array(p_bits::text, '1');
  return array(
    select (sum(octet_length(g.gap) + 1) over (order by g.n rows unbounded preceding))::integer
    from unnest(v_gaps[:cardinality(v_gaps) - 1]) with ordinality g (gap, n)
    order by g.n
  );
end;
$$;

-- blocks/bits/no_bits.sql
-- As many zero bits.
create function logloom_private.no_bits(p_records integer)
returns varbit
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  -- A part of what is there already is copied, and takes a tenth of the time that making it takes.
  return case
    when p_records <= 65536 then substring(b'0'::bit(65536)::varbit from 1 for p_records)
    else repeat('0', p_records)::varbit
  end;
end;
$$;

-- blocks/bits/position_bits.sql
-- p_records bits, those at the ascending positions set.
create function logloom_private.position_bits(p_positions integer[], p_records integer)
returns varbit
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  if coalesce(cardinality(p_positions), 0) = 0 then
    return logloom_private.no_bits(p_records);
  end if;
  return (
    (
      select string_agg(repeat('0', p.position - p.before - 1) || '1', '' order by p.position)
      from (
        select x.position, lag(x.position, 1, 0) over (order by x.position) as before
        from unnest(p_positions) x (position)
      ) p
    ) || repeat('0', p_records - p_positions[cardinality(p_positions)])
  )::varbit;
end;
$$;

-- blocks/tests/equal.sql
-- The positions of a column at which a field has one of the leaf's values, found without a test of
-- each one. p_values: those of the column's dictionary, or of its records. Null where values are
-- tested.
create function logloom_private.equal_positions(
  p_column logloom_private.block_columns,
  p_values text[],
  p_leaf jsonb
)
returns integer[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_wanted text[];
begin
  if p_leaf ->> 'field' = 'attrs' or (p_leaf -> 'folds_case')::boolean then
    return null;
  end if;
  v_wanted := array(select jsonb_array_elements_text(p_leaf -> 'values'));
  if p_column.kind = 'dictionary' then
    return case when not p_values && v_wanted then '{}' end;
  end if;
  -- One thing among many, a request above all.
  return array(
    select distinct p_column.first - 1 + p.position
    from unnest(v_wanted) v (value)
    cross join lateral unnest(array_positions(p_values, v.value)) p (position)
    order by 1
  );
end;
$$;

-- blocks/tests/range.sql
-- A range of numbers as a test of whole numbers, l.value, which are compared faster. Null where
-- none of p_least to p_greatest is in it.
create function logloom_private.range_test(p_bounds jsonb, p_least bigint, p_greatest bigint)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_lower constant numeric := p_bounds ->> 'lower';
  v_upper constant numeric := p_bounds ->> 'upper';
begin
  if v_lower > p_greatest or v_upper < p_least then
    return null;
  end if;
  return concat_ws(
    ' and ',
    'l.value is not null',
    'l.value >' || case when (p_bounds -> 'lower_open')::boolean then ' ' || floor(v_lower)
      else '= ' || ceil(v_lower) end,
    'l.value <' || case when (p_bounds -> 'upper_open')::boolean then ' ' || ceil(v_upper)
      else '= ' || floor(v_upper) end
  );
end;
$$;

-- blocks/index/filter_may_hold.sql
-- Whether one of p_values may be among those that the filter was made of: both of its bits are set.
create function logloom_private.filter_may_hold(p_filter bytea, p_values text[])
returns boolean
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_size constant integer := 8 * octet_length(p_filter);
  v_value text;
  v_hash bigint;
  v_place integer;
  v_is_set boolean;
begin
  foreach v_value in array p_values loop
    v_hash := hashtextextended(v_value, 0);
    for v_part in 0..1 loop
      v_place := (v_hash >> 32 * v_part & 2147483647) % v_size;
      -- One byte of a stored filter is read, not all of it.
      v_is_set := get_byte(substring(p_filter from v_place / 8 + 1 for 1), 0)
        >> 7 - v_place % 8 & 1 = 1;
      -- Most values are known not to be there by the first one.
      exit when not v_is_set;
    end loop;
    if v_is_set then
      return true;
    end if;
  end loop;
  return false;
end;
$$;

-- blocks/index/needed_leaf.sql
-- The first leaf without which a query finds no record and which names values of a field that is
-- one thing among many, a request above all, an environment hardly ever; null where there is none.
create function logloom_private.needed_leaf(p_tree jsonb)
returns jsonb
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select i.leaf
    from jsonb_array_elements(
      case p_tree ->> 'type' when 'and' then p_tree -> 'items' else jsonb_build_array(p_tree) end
    ) with ordinality i (leaf, n)
    join unnest(logloom_private.record_fields()) with ordinality f on f.name = i.leaf ->> 'field'
    where f.block = 'column' and i.leaf ->> 'test' = 'equal'
      and not (i.leaf -> 'folds_case')::boolean
    order by f.bloom is not true, f.name = 'env', f.ordinality, i.n
    limit 1
  );
end;
$$;

-- blocks/index/value_filter.sql
-- Bits that tell of a value whether it may be one of p_values, eight a byte, the first one highest.
create function logloom_private.value_filter(p_values text[])
returns bytea
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
set work_mem = '32MB'
as $$
declare
  -- One value in forty of those that are not there looks as if it were.
  v_size constant integer := 8 * ((12 * cardinality(p_values) + 7) / 8);
begin
  -- The bits as they lie, after their number.
  return substring(
    varbit_send(logloom_private.position_bits(
      array(
        -- As filter_may_hold has them of each.
        select distinct b.place
        from (
          select unnest(array[
            (h.hash & 2147483647) % v_size + 1, (h.hash >> 32 & 2147483647) % v_size + 1
          ])::integer as place
          from (
            select hashtextextended(v.value, 0) as hash
            from (select unnest(p_values) as value) v
            where v.value is not null
          ) h
        ) b
        order by b.place
      ),
      v_size
    ))
    from 5
  );
end;
$$;

-- blocks/index/words_of.sql
-- The words of a text, each once, between blanks. Null where they are more than a quarter of the
-- text.
create function logloom_private.words_of(p_text text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_words constant text := (
    select ' ' || string_agg(w.word, ' ' order by w.word collate "C") || ' '
    -- Grouped before they are sorted: few are different.
    from (
      select x.word
      from (
        -- What stands between blanks, each once, is a fifth of the text: less to cut.
        select unnest(logloom_private.cut_words(
          (
            select string_agg(t.token, ' ')
            from (
              select b.token
              from (select unnest(string_to_array(p_text, ' ')) as token) b
              group by b.token
            ) t
          )
        )) as word
      ) x
      where x.word <> ''
      group by x.word
    ) w
  );
begin
  return case
    when v_words is null then ''
    when octet_length(v_words) * 4 <= octet_length(p_text) then v_words
  end;
end;
$$;

-- blocks/index/words_sql.sql
-- Whether a run may have what a leaf looks for: SQL over the alias l of words, its run_words.
create function logloom_private.words_sql(p_leaf jsonb)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return coalesce(
    '(l.words is null or ' || (
      select string_agg(format('strpos(l.words, %L) > 0', w.word), ' and ' order by w.n)
      from jsonb_array_elements_text(p_leaf -> 'template' -> 'words')
        with ordinality w (word, n)
    ) || ')',
    'true'
  );
end;
$$;

-- blocks/scan/any_bits.sql
-- Whether a column may have a text that a leaf over any text finds. p_literal stands in each such
-- text, with 0 for each digit, in lower case where the leaf folds case; empty where none is known.
create function logloom_private.column_may_hold(
  p_column logloom_private.block_columns,
  p_literal text,
  p_folds_case boolean
)
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_texts text;
begin
  if p_literal = '' then
    return true;
  elsif p_column.kind = 'numbers' then
    return p_literal ~ '^[-0]*$';
  elsif p_column.kind <> 'templated' and strpos(p_literal, '0') > 0
    -- Attributes are JSON texts, in which these are written otherwise.
    or left(p_column.name, 5) = 'attrs' and p_literal ~ '["\\\u0001-\u001f\u007f]'
  then
    return true;
  end if;
  v_texts := array_to_string(
    case p_column.kind when 'texts' then p_column.texts else p_column.dictionary end, e'\x1f'
  );
  return strpos(
    case when p_folds_case then lower(v_texts collate pg_c_utf8) else v_texts end, p_literal
  ) > 0;
end;
$$;

-- A leaf over any text of a record: its exact bits and its candidate bits. Each column tells its
-- part.
create function logloom_private.any_bits(
  p_block logloom_private.blocks,
  p_leaf jsonb
)
returns varbit[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set jit = off
as $$
declare
  -- Of an attribute that is no scalar, as of a record that has it alone.
  v_attribute_test constant text := format(
    'case when left(l.value, 1) in (''{'', ''['') then %s else %s end',
    logloom_private.query_sql(p_leaf, 'l'),
    logloom_private.query_text_test(p_leaf, '(l.attrs #>> ''{}'')')
  );
  v_no_fields constant text := (
    select string_agg('null::text as ' || f, ', ')
    from unnest(logloom_private.query_text_columns()) f
  );
  v_column logloom_private.block_columns;
  v_values text[];
  v_codes "char"[];
  v_wide_codes smallint[];
  v_bits text;
  v_found varbit;
  v_result varbit[];
begin
  v_result := logloom_private.message_bits(p_block, p_leaf);
  execute 'select string_agg(repeat(case when '
    || logloom_private.query_text_test(p_leaf, 'l.service') || ' or '
    || logloom_private.query_text_test(p_leaf, 'l.level')
    || ' then ''1'' else ''0'' end, l.records), '''')'
    || ' from (select unnest($1) as service, unnest($2) as level, unnest($3) as records) l'
  into v_bits
  using p_block.run_services, p_block.run_levels, p_block.run_records;
  v_found := v_bits::varbit;
  for v_column in
    select c.*
    from logloom_private.block_columns c
    where c.tenant_id = p_block.tenant_id and c.block_id = p_block.block_id
      and c.name <> 'record_bytes'
  loop
    continue when not logloom_private.column_may_hold(
      v_column, coalesce(p_leaf -> 'template' ->> 'literal', ''),
      (p_leaf -> 'folds_case')::boolean
    );
    v_values := case v_column.kind when 'dictionary' then v_column.dictionary
      else logloom_private.column_texts(v_column) end;
    execute 'select string_agg(case when '
      || case when left(v_column.name, 5) = 'attrs' then v_attribute_test
        else logloom_private.query_text_test(p_leaf, 'l.value') end
      || ' then ''1'' else ''0'' end, '''') from (select '
      || case when left(v_column.name, 5) = 'attrs'
        then v_no_fields || ', v.value::jsonb as attrs, ' else '' end
      || 'v.value from (select unnest($1) as value) v) l'
    into v_bits
    using v_values;
    continue when strpos(v_bits, '1') = 0;
    if v_column.kind = 'dictionary' and v_column.codes is null and v_column.wide_codes is null then
      v_bits := repeat(v_bits, v_column.last - v_column.first + 1);
    elsif v_column.kind = 'dictionary' then
      v_values := string_to_array(v_bits, null);
      v_codes := v_column.codes;
      v_wide_codes := v_column.wide_codes;
      v_bits := (
        select string_agg(coalesce(v_values[coalesce(c.code + 129, c.wide_code)], '0'), '')
        from (
          select unnest(v_codes)::integer as code, unnest(v_wide_codes) as wide_code
        ) c
      );
    end if;
    v_found := v_found | (
      repeat('0', v_column.first - 1) || v_bits || repeat('0', p_block.records - v_column.last)
    )::varbit;
  end loop;
  return array[v_result[1] | v_found, v_result[2] | v_found];
end;
$$;

-- blocks/scan/block_bits.sql
-- Those of the bits whose records are in [p_from, p_to).
create function logloom_private.range_bits(
  p_block logloom_private.blocks,
  p_bits varbit,
  p_from timestamptz,
  p_to timestamptz
)
returns varbit
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_from constant bigint := logloom_private.step_at(p_block, p_from);
  v_to constant bigint := logloom_private.step_at(p_block, p_to) - 1;
  v_positions integer[];
begin
  if bit_count(p_bits) * 4 < p_block.records then
    v_positions := logloom_private.bit_positions(p_bits);
    return logloom_private.position_bits(
      array(
        select s.position
        from unnest(v_positions, logloom_private.block_steps(p_block, v_positions))
          with ordinality s (position, step, n)
        where s.step between v_from and v_to
        order by s.n
      ),
      p_block.records
    );
  end if;
  return p_bits & (
    select string_agg(
      case when s.step between v_from and v_to then '1' else '0' end, '' order by s.n
    )::varbit
    from unnest(logloom_private.block_steps(p_block, null)) with ordinality s (step, n)
  );
end;
$$;

-- Which records of a block a query finds in [p_from, p_to).
create function logloom_private.block_bits(
  p_block logloom_private.blocks,
  p_tree jsonb,
  p_from timestamptz,
  p_to timestamptz
)
returns varbit
language plpgsql
stable
set search_path = pg_catalog, pg_temp
-- Whoever asks may plan once for all values; a node is found by them.
set plan_cache_mode = 'auto'
set jit = off
as $$
declare
  v_bits varbit[];
  v_within varbit;
  v_rest varbit;
  v_found integer[];
begin
  perform logloom_private.take_scan_slot();
  v_bits := logloom_private.node_bits(p_block, p_tree);
  if bit_count(v_bits[2]) > 0 and (p_block.first_ts < p_from or p_block.last_ts >= p_to) then
    v_within := logloom_private.range_bits(p_block, v_bits[2], p_from, p_to);
    v_bits := array[v_bits[1] & v_within, v_within];
  end if;
  v_rest := v_bits[2] & ~v_bits[1];
  if bit_count(v_rest) = 0 then
    return v_bits[1];
  end if;
  v_found := logloom_private.filtered_positions(
    p_block, logloom_private.bit_positions(v_rest), p_tree
  );
  return v_bits[1] | logloom_private.position_bits(v_found, p_block.records);
end;
$$;

-- blocks/scan/block_counts.sql
-- The records in [p_from, p_to) of a tenant's blocks that hold their counts, as rows of log_counts
-- would count them, with their ts for the minute.
create function logloom_private.block_counts(
  p_tenant_id text,
  p_from timestamptz,
  p_to timestamptz
)
returns table (tenant_id text, ts timestamptz, level text, service text, events bigint)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set jit = off
rows 1000
as $$
declare
  v_block logloom_private.blocks;
  v_ts timestamptz[];
  v_runs integer[];
begin
  for v_block in
    select c.*
    from logloom_private.blocks c
    where c.tenant_id = p_tenant_id and c.holds_counts
      and c.last_ts >= p_from and c.first_ts < p_to
      and c.damaged_at is null and logloom_private.can_read(c.format)
  loop
    v_ts := logloom_private.block_times(v_block, null);
    v_runs := logloom_private.block_runs(v_block, null);
    return query
    select p_tenant_id, r.ts, r.level, r.service, 1::bigint
    from (
      select
        unnest(v_ts) as ts,
        unnest(logloom_private.elements_at(v_block.run_levels, v_runs)) as level,
        unnest(logloom_private.elements_at(v_block.run_services, v_runs)) as service
    ) r
    where r.ts >= p_from and r.ts < p_to;
  end loop;
end;
$$;

-- blocks/scan/block_groups.sql
-- Of a column with a dictionary what p_each has of its values, at each position.
create function logloom_private.dictionary_numbers(
  p_column logloom_private.block_columns,
  p_each anyarray
)
returns anyarray
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set plan_cache_mode = 'force_generic_plan'
as $$
begin
  if p_column.codes is not null then
    return array(select p_each[unnest(p_column.codes)::integer + 129]);
  elsif p_column.wide_codes is not null then
    return array(select p_each[unnest(p_column.wide_codes)]);
  end if;
  return array_fill(p_each[1], array[p_column.last - p_column.first + 1]);
end;
$$;

-- logloom_private.json_number of each value of a column of attrs.
create function logloom_private.column_numbers(p_column logloom_private.block_columns)
returns numeric[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_column.kind = 'dictionary' then
    return logloom_private.dictionary_numbers(p_column, array(
      select logloom_private.json_number(d.value::jsonb)
      from unnest(p_column.dictionary) with ordinality d (value, n)
      order by d.n
    ));
  end if;
  return array(
    select logloom_private.json_number(t.value::jsonb)
    from unnest(logloom_private.column_texts(p_column)) with ordinality t (value, n)
    order by t.n
  );
end;
$$;

-- As block_groups, from records.
create function logloom_private.read_groups(
  p_block logloom_private.blocks,
  p_bits varbit,
  p_by text[],
  p_counts boolean,
  p_key text,
  p_doubles boolean
)
returns table (
  keys text[],
  events bigint,
  numbers bigint,
  total numeric,
  minimum numeric,
  maximum numeric,
  doubles double precision[]
)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query execute format(
    $query$
      select
        g.keys, case when $4 then count(*) else 0 end, count(g.number), sum(g.number),
        min(g.number), max(g.number), %s
      from (
        select array[%s]::text[] as keys, %s as number
        from logloom_private.sealed_records($1, $2, $3) g
      ) g
      group by 1
    $query$,
    case when p_doubles then
      'array_agg(logloom_private.finite_double(g.number)) filter (where g.number is not null)'
      else 'null::double precision[]' end,
    array_to_string(
      array(
        select case
          when b.name like 'attrs.%' then format('(g.attrs -> %L)::text', substr(b.name, 7))
          else format('g.%I', b.name)
        end
        from unnest(p_by) with ordinality b (name, n)
        order by b.n
      ),
      ', '
    ),
    case when p_key is null then 'null::numeric'
      else format('logloom_private.json_number(g.attrs -> %L)', p_key) end
  )
  using p_block,
    case when bit_count(p_bits) < p_block.records then logloom_private.bit_positions(p_bits) end,
    array_remove(p_by || ('attrs.' || p_key), null), p_counts;
end;
$$;

-- The dictionaries of a block that have these names, by name. By itself: a variable of a row's type
-- that a statement does not name is one too many for Citus.
create function logloom_private.dictionaries_of(
  p_block logloom_private.blocks,
  p_names text[]
)
returns logloom_private.block_columns[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return array(
    select k
    from logloom_private.block_columns k
    where k.tenant_id = p_block.tenant_id and k.block_id = p_block.block_id
      and k.name = any(p_names) and k.kind = 'dictionary'
    order by k.name
  );
end;
$$;

-- A block's records at p_bits by the values of fields, as sealed_groups has them: with p_counts how
-- many there are. With p_key the numbers of this attribute, in rows of their own: with p_exact how
-- many, their sum and both ends, with p_doubles each as logloom_private.finite_double. No record is
-- made, but where a field has no dictionary, where the key may be among the others, and where
-- little is found.
create function logloom_private.block_groups(
  p_block logloom_private.blocks,
  p_bits varbit,
  p_by text[],
  p_counts boolean,
  p_key text,
  p_exact boolean,
  p_doubles boolean
)
returns table (
  keys text[],
  events bigint,
  numbers bigint,
  total numeric,
  minimum numeric,
  maximum numeric,
  doubles double precision[]
)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_names constant text[] := array(
    select b.name from unnest(p_by) b (name) where b.name not in ('service', 'level') order by 1
  );
  v_by_run constant boolean := cardinality(v_names) < cardinality(p_by);
  v_count constant bigint := bit_count(p_bits);
  v_columns logloom_private.block_columns[];
  v_number logloom_private.block_columns;
  v_keys text;
begin
  v_columns := logloom_private.dictionaries_of(p_block, v_names);
  if p_key is not null then
    select k.* into v_number
    from logloom_private.block_columns k
    where k.tenant_id = p_block.tenant_id and k.block_id = p_block.block_id
      and k.name in ('attrs', 'attrs.' || p_key) and k.dictionary is distinct from array['{}']
    order by k.name desc
    limit 1;
  end if;
  if cardinality(v_columns) < cardinality(v_names) or v_number.name = 'attrs'
    or v_count * 32 < p_block.records and cardinality(v_names) > 0
  then
    return query
    select r.*
    from logloom_private.read_groups(p_block, p_bits, p_by, p_counts, p_key, p_doubles) r;
    return;
  end if;

  v_keys := format('array[%s]::text[]', array_to_string(
    array(
      select case b.name
        when 'service' then '$3[g.run]'
        when 'level' then '$4[g.run]'
        else format('($5[%1$s]).dictionary[g.codes[%1$s]]', array_position(v_names, b.name))
      end
      from unnest(p_by) with ordinality b (name, n)
      order by b.n
    ),
    ', '
  ));
  if p_counts then
    return query execute format(
      $query$
        select %s, g.events, 0::bigint, null::numeric, null::numeric, null::numeric,
          null::double precision[]
        from %s g
      $query$,
      v_keys,
      case when cardinality(v_names) = 0
        then 'logloom_private.found_runs($1, $2, 1, $7)'
        else 'logloom_private.grouped_codes($1, $2, $5, $6, 1, $7, null::integer[], false, '
          || 'false)' end
    )
    using p_block.run_records, p_bits, p_block.run_services, p_block.run_levels, v_columns,
      v_by_run, p_block.records;
  end if;
  if v_number.name is not null then
    return query execute format(
      $query$
        select %s, 0::bigint, g.events, g.total, g.minimum, g.maximum, g.doubles
        from %s $7, $8, %s, $9, $10) g
      $query$,
      v_keys,
      case when cardinality(v_names) = 0
        then 'logloom_private.run_numbers($1, $2,'
        else 'logloom_private.grouped_codes($1, $2, $5, $6,' end,
      case
        when v_number.numbers is not null then '$11'
        when v_number.wide_numbers is not null then '$12'
        when v_number.kind = 'dictionary' and not p_exact then '$14'
        else '$13'
      end
    )
    using p_block.run_records, p_bits, p_block.run_services, p_block.run_levels, v_columns,
      v_by_run, v_number.first, v_number.last, p_exact, p_doubles, v_number.numbers,
      v_number.wide_numbers,
      case when v_number.kind not in ('numbers', case when p_exact then '' else 'dictionary' end)
        then logloom_private.column_numbers(v_number) end,
      -- Each value of a dictionary becomes a double once.
      case when v_number.kind = 'dictionary' and not p_exact
        then logloom_private.dictionary_numbers(v_number, array(
          select logloom_private.finite_double(logloom_private.json_number(d.value::jsonb))
          from unnest(v_number.dictionary) with ordinality d (value, n)
          order by d.n
        )) end;
  end if;
end;
$$;

-- blocks/scan/candidate_blocks.sql
-- The blocks of a tenant with records in [p_from, p_to), without those that hold none of the values
-- that the query needs. A search for a request over a month looks at a thousand blocks, so a look
-- must cost little.
create function logloom_private.candidate_blocks(
  p_tenant_id text,
  p_from timestamptz,
  p_to timestamptz,
  p_tree jsonb
)
returns setof bigint
language plpgsql
stable
set search_path = pg_catalog, pg_temp
-- Whoever asks may plan once for all values; a node is found by them.
set plan_cache_mode = 'auto'
rows 100
as $$
declare
  v_leaf constant jsonb := logloom_private.needed_leaf(p_tree);
  v_values constant text[] := array(select jsonb_array_elements_text(v_leaf -> 'values'));
begin
  return query
  select c.block_id
  from logloom_private.blocks c
  where c.tenant_id = p_tenant_id and c.last_ts >= p_from and c.first_ts < p_to
    and c.damaged_at is null and logloom_private.can_read(c.format)
    and (
      v_leaf is null or coalesce(
        (
          -- A value, not exists: that could be answered by looking at all of the tenant's blocks.
          select case
            when k.filter is not null
              then logloom_private.filter_may_hold(k.filter, v_values)
            when k.kind = 'dictionary' then k.dictionary && v_values
            else true
          end
          from logloom_private.block_columns k
          where k.tenant_id = p_tenant_id and k.block_id = c.block_id
            and k.name = v_leaf ->> 'field'
        ),
        -- Without the column no record has a value.
        false
      )
    );
end;
$$;

-- blocks/scan/column_bits.sql
-- A leaf over a column of the block, a field's or that of an attribute: a bit a record. Null where
-- no column alone tells, or, with p_is_quick, where its texts would have to be read. Without a
-- value a leaf is never true.
create function logloom_private.column_bits(
  p_block logloom_private.blocks,
  p_leaf jsonb,
  p_is_quick boolean
)
returns varbit
language plpgsql
stable
set search_path = pg_catalog, pg_temp
-- The values of a dictionary are no constants to plan with.
set plan_cache_mode = 'force_generic_plan'
set jit = off
as $$
declare
  v_is_attribute constant boolean := p_leaf ->> 'field' = 'attrs';
  v_column logloom_private.block_columns;
  v_found logloom_private.block_columns;
  v_has_rest boolean := false;
  v_key text;
  v_values text[];
  v_positions integer[];
  v_is_number boolean;
  v_test text;
  v_codes "char"[];
  v_wide_codes smallint[];
  v_flags text[];
  v_bits text;
begin
  for v_column in
    select c.*
    from logloom_private.block_columns c
    where c.tenant_id = p_block.tenant_id and c.block_id = p_block.block_id
      and c.name in (
        p_leaf ->> 'field', 'attrs.' || (p_leaf -> 'path' ->> 0), 'attrs.' || (p_leaf ->> 'joined')
      )
  loop
    if v_column.name = 'attrs' then
      v_has_rest := v_column.dictionary is distinct from array['{}'];
    elsif v_found.name is not null then
      return null;
    else
      v_found := v_column;
    end if;
  end loop;
  -- A key that has a column is not among the others.
  if v_has_rest and (v_found.name is null or p_leaf ->> 'joined' is not null)
    or p_is_quick and v_is_attribute and v_found.kind <> 'numbers'
  then
    return null;
  elsif v_found.name is null then
    return logloom_private.no_bits(p_block.records);
  end if;

  v_key := substr(v_found.name, 7);
  v_values := case when v_found.kind = 'dictionary' then v_found.dictionary end;
  -- A path that goes on within the value finds nothing in a number.
  v_is_number := v_found.kind = 'numbers' and p_leaf ->> 'decided_by' = 'numbers'
    and (p_leaf -> 'path' ->> 1 is null or v_key is not distinct from p_leaf ->> 'joined');
  if v_is_number then
    v_test := logloom_private.range_test(p_leaf -> 'bounds', v_found.least, v_found.greatest);
    if v_test is null then
      return logloom_private.no_bits(p_block.records);
    end if;
  else
    v_values := coalesce(v_values, logloom_private.column_texts(v_found));
    v_positions := case when p_leaf ->> 'test' = 'equal'
      then logloom_private.equal_positions(v_found, v_values, p_leaf) end;
    if v_positions is not null then
      return logloom_private.position_bits(v_positions, p_block.records);
    end if;
    v_test := logloom_private.query_sql(p_leaf, 'l');
  end if;
  execute format(
    $query$
      select string_agg(case when %1$s then '1' else '0' end, '')
      from (select %2$s as %3$I from (select unnest(%4$s) as value) v) l
    $query$,
    v_test,
    case when v_is_attribute and not v_is_number
      then format('jsonb_build_object(%L::text, v.value::jsonb)', v_key) else 'v.value' end,
    case when v_is_number then 'value' else p_leaf ->> 'field' end,
    case when not v_is_number then '$1' when v_found.numbers is not null then '$2' else '$3' end
  )
  into v_bits
  using v_values, v_found.numbers, v_found.wide_numbers;
  if v_found.kind = 'dictionary' then
    v_codes := v_found.codes;
    v_wide_codes := v_found.wide_codes;
    if strpos(v_bits, '1') = 0 then
      return logloom_private.no_bits(p_block.records);
    elsif v_codes is null and v_wide_codes is null then
      v_bits := repeat(v_bits, v_found.last - v_found.first + 1);
    else
      v_flags := string_to_array(v_bits, null);
      select string_agg(coalesce(v_flags[coalesce(c.code + 129, c.wide_code)], '0'), '')
      into v_bits
      from (select unnest(v_codes)::integer as code, unnest(v_wide_codes) as wide_code) c;
    end if;
  end if;
  return (
    repeat('0', v_found.first - 1) || v_bits || repeat('0', p_block.records - v_found.last)
  )::varbit;
end;
$$;

-- blocks/scan/damage_warnings.sql
-- A warning as those of a query, [] where no block of the tenant is damaged. Without a number or a
-- time: a reader with hidden fields does not learn where blocks begin.
create function logloom_private.damage_warnings(p_tenant_id text)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  perform
  from logloom_private.blocks c
  where c.tenant_id = p_tenant_id and c.damaged_at is not null
  limit 1;
  return case
    when found then jsonb_build_array(jsonb_build_object(
      'position', null,
      'message', 'some stored records are damaged and left out',
      'suggestion', 'Ask who runs the service: a verification has named them.'
    ))
    else '[]'
  end;
end;
$$;

-- blocks/scan/dictionary_count.sql
-- How many records a leaf finds in those of the blocks in which the counts of a dictionary tell it;
-- in none where the tree is not one leaf over one column. Without a value a leaf is never true.
create function logloom_private.dictionary_count(
  p_tenant_id text,
  p_blocks bigint[],
  p_leaf jsonb,
  out o_blocks bigint[],
  out o_events bigint
)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set jit = off
as $$
declare
  v_key constant text := p_leaf -> 'path' ->> 0;
  v_column constant text := coalesce('attrs.' || v_key, p_leaf ->> 'field');
begin
  o_blocks := array(
    select c.block_id
    from logloom_private.blocks c
    where c.tenant_id = p_tenant_id and c.block_id = any(p_blocks)
      and p_leaf ->> 'decided_by' in ('dictionary', 'numbers') and p_leaf ->> 'joined' is null
      and not exists (
        select
        from logloom_private.block_columns k
        where k.tenant_id = p_tenant_id and k.block_id = c.block_id
          and (
            k.name = v_column and k.kind <> 'dictionary'
            -- Keys that have no column.
            or v_key is not null and k.name = 'attrs'
              and (k.kind <> 'dictionary' or k.dictionary <> array['{}'])
          )
      )
  );
  if o_blocks = '{}' then
    return;
  end if;
  execute format(
    $query$
      select coalesce(sum(l.count), 0)
      from (
        select %1$s as %2$I, d.count
        from logloom_private.block_columns k
        cross join lateral unnest(k.dictionary, k.counts) d (value, count)
        where k.tenant_id = $1 and k.block_id = any($2) and k.name = %3$L
      ) l
      where %4$s
    $query$,
    case when v_key is not null
      then format('jsonb_build_object(%L::text, d.value::jsonb)', v_key) else 'd.value' end,
    p_leaf ->> 'field', v_column, logloom_private.query_sql(p_leaf, 'l')
  )
  into o_events
  using p_tenant_id, o_blocks;
end;
$$;

-- blocks/scan/filtered_positions.sql
-- Those of a block's ascending positions whose records a query finds: each is put to its row
-- filter, which takes the scan slot.
create function logloom_private.filtered_positions(
  p_block logloom_private.blocks,
  p_positions integer[],
  p_tree jsonb
)
returns integer[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set jit = off
as $$
declare
  v_found integer[];
begin
  execute format(
    $query$
      select array_agg(p.position order by p.n)
      from unnest($1) with ordinality p (position, n)
      join (
        select l.*, row_number() over () as n
        from logloom_private.sealed_records($2, $1, $3) l
      ) l on l.n = p.n
      where case when l.n & 255 <> 0 or logloom_private.take_scan_slot() then %s end
    $query$,
    logloom_private.query_sql(p_tree, 'l')
  )
  into v_found
  using p_positions, p_block, logloom_private.query_reads(p_tree);
  return coalesce(v_found, '{}');
end;
$$;

-- blocks/scan/first_positions.sql
-- Ascending positions of a block's p_limit records of [p_from, p_to) with the first ts in an order,
-- and of all that have the last one's ts; those with the ts p_past besides, which lies at or beyond
-- the range's end that the order begins with. p_positions: of these alone.
create function logloom_private.first_positions(
  p_block logloom_private.blocks,
  p_positions integer[],
  p_limit integer,
  p_is_descending boolean,
  p_past timestamptz,
  p_from timestamptz default '-infinity',
  p_to timestamptz default 'infinity'
)
returns integer[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set plan_cache_mode = 'force_generic_plan'
as $$
declare
  v_sign constant bigint := case when p_is_descending then -1 else 1 end;
  v_past constant bigint := case when p_past >= p_block.first_ts
    then logloom_private.step_at(p_block, p_past) end;
  v_from constant bigint := logloom_private.step_at(p_block, p_from);
  v_to constant bigint := logloom_private.step_at(p_block, p_to) - 1;
  v_last constant bigint := logloom_private.step_at(p_block, p_block.last_ts);
  -- The upper part of a step: ts_high where the block is of more than some hours.
  v_middle "char"[] := p_block.ts_middle;
  v_high smallint[] := p_block.ts_high;
  v_size constant bigint := case when v_high is null then 65536 else 16777216 end;
  v_outermost constant bigint := case when p_is_descending then v_to else v_from end / v_size;
  v_innermost constant bigint := case when p_is_descending then v_from else v_to end / v_size;
  -- Not all records of the outermost one count.
  v_is_cut constant boolean := p_past is not null
    or case when p_is_descending then v_to < v_last else v_from > 0 end;
  -- As many of these values as hold twice as many records, were they spread evenly.
  v_values constant bigint := v_is_cut::integer
    + ceil(2.0 * p_limit * (v_last / v_size + 1) / p_block.records);
  v_value integer;
  v_found integer[];
  v_count integer := 0;
  v_positions integer[] := p_positions;
  v_steps bigint[];
  v_edge bigint;
begin
  if p_positions is null and v_middle is not null and p_block.ts_top is null
    and v_values <= least(v_last / v_size, 30)
  then
    for v_at in 0..least(abs(v_innermost - v_outermost), 2 * v_values) loop
      v_value := v_outermost + v_sign * v_at;
      v_found := case when v_high is null then array_positions(v_middle, (v_value - 128)::"char")
        else array_positions(v_high, (v_value - 32768)::smallint) end;
      v_positions := v_positions || v_found;
      v_count := v_count + case when v_at = 0 and v_is_cut then 0 else cardinality(v_found) end;
      exit when v_count >= p_limit;
    end loop;
    -- Else all are looked at.
    if v_count < p_limit and v_value <> v_innermost then
      v_positions := null;
    end if;
  end if;
  v_steps := logloom_private.block_steps(p_block, v_positions);
  v_edge := (
    array(
      select s.step
      from unnest(v_steps) s (step)
      where s.step between v_from and v_to and s.step is distinct from v_past
      order by v_sign * s.step
      limit p_limit
    )
  )[p_limit];
  return array(
    select coalesce(v_positions[s.n], s.n::integer) as position
    from unnest(v_steps) with ordinality s (step, n)
    where s.step between v_from and v_to
      and (v_edge is null or v_sign * s.step <= v_sign * v_edge or s.step = v_past)
    order by position
  );
end;
$$;

-- blocks/scan/found_runs.sql
-- Which of p_run_records, the runs of a block, have records at p_bits from position p_first to
-- p_last: their parts within, how many records these have at p_bits, and whether that is all.
create function logloom_private.found_runs(
  p_run_records integer[],
  p_bits varbit,
  p_first integer,
  p_last integer
)
returns table (run integer, first integer, last integer, events bigint, is_whole boolean)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set plan_cache_mode = 'force_generic_plan'
rows 20
as $$
begin
  return query
  select f.run, f.first, f.last, f.events, f.events = f.last - f.first + 1
  from (
    select r.*, bit_count(substring(p_bits from r.first for r.last - r.first + 1)) as events
    from (
      select
        l.n::integer as run,
        greatest((sum(l.records) over w - l.records + 1)::integer, p_first) as first,
        least((sum(l.records) over w)::integer, p_last) as last
      from unnest(p_run_records) with ordinality l (records, n)
      window w as (order by l.n rows unbounded preceding)
    ) r
    where r.first <= r.last
  ) f
  where f.events > 0;
end;
$$;

-- blocks/scan/grouped_codes.sql
-- Of a block's records at p_bits how many there are of each combination of the values of p_columns,
-- dictionaries all of them, and of the runs where p_by_run. codes: places in each dictionary, null
-- without a value; run: the number of the run. With p_numbers, the values from position p_first to
-- p_last, only of the records that have one, and what sums and percentiles need of these.
create function logloom_private.grouped_codes(
  p_run_records integer[],
  p_bits varbit,
  p_columns logloom_private.block_columns[],
  p_by_run boolean,
  p_first integer,
  p_last integer,
  p_numbers anyarray,
  p_exact boolean,
  p_doubles boolean
)
returns table (
  run integer,
  codes integer[],
  events bigint,
  total numeric,
  minimum numeric,
  maximum numeric,
  doubles double precision[]
)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set work_mem = '16MB'
as $$
declare
  v_has_numbers constant boolean := p_numbers is not null;
  v_column logloom_private.block_columns;
  v_arrays text := '';
  v_values text := '';
  v_codes text := '';
  v_by text := '1';
begin
  for n in 1..cardinality(p_columns) loop
    v_column := p_columns[n];
    v_arrays := v_arrays || case
      when v_column.codes is not null then format('($4[%1$s]).codes || ''{}'' as c%1$s, ', n)
      when v_column.wide_codes is not null
        then format('($4[%1$s]).wide_codes || ''{}'' as c%1$s, ', n)
      else format(
        'array_fill(1::smallint, array[%s]) as c%s, ', v_column.last - v_column.first + 1, n
      )
    end;
    v_values := v_values || format(
      ', unnest(array_fill(null::%2$s, array[greatest(least(%3$s, s.last + 1) - s.first, 0)]) '
        || '|| a.c%1$s[s.first - %3$s + 1:s.last - %3$s + 1]) as c%1$s',
      n, case when v_column.codes is not null then '"char"' else 'smallint' end, v_column.first
    );
    v_codes := v_codes || case when n > 1 then ', ' else '' end
      || format('u.c%s::integer', n)
      || case when v_column.codes is not null then ' + 129' else '' end;
    v_by := v_by || format(', u.c%s', n);
  end loop;
  -- The records of a run follow one another; a run that has none of p_bits is not read. "|| '{}'"
  -- makes one array of which each takes its part.
  return query execute format(
    $query$
      select %1$s, array[%2$s]::integer[], count(*), %3$s
      from (
        select s.run, generate_series(s.first, s.last) as n%4$s
        from (select %5$s $5 || '{}' as numbers offset 0) a
        cross join logloom_private.found_runs($6, $1, $2, $3) s
      ) u
      where get_bit($1, u.n - 1) = 1 %6$s
      group by %7$s
    $query$,
    case when p_by_run then 'u.run' else 'null::integer' end,
    v_codes,
    case when v_has_numbers and p_exact
      then 'sum(u.number)::numeric, min(u.number)::numeric, max(u.number)::numeric'
      else 'null::numeric, null::numeric, null::numeric' end
      || case
        when not v_has_numbers or not p_doubles then ', null::double precision[]'
        when pg_typeof(p_numbers) = 'numeric[]'::regtype
          then ', array_agg(logloom_private.finite_double(u.number))'
        else ', array_agg(u.number::double precision)'
      end,
    v_values || case when v_has_numbers
      then ', unnest(a.numbers[s.first - $2 + 1:s.last - $2 + 1]) as number' else '' end,
    v_arrays,
    case when v_has_numbers then 'and u.number is not null' else '' end,
    v_by
  )
  using p_bits, p_first, p_last, p_columns, p_numbers, p_run_records;
end;
$$;

-- blocks/scan/message_bits.sql
-- A leaf over messages: its exact bits and its candidate bits.
create function logloom_private.message_bits(
  p_block logloom_private.blocks,
  p_leaf jsonb
)
returns varbit[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set jit = off
as $$
declare
  v_folded constant boolean := (p_leaf -> 'folds_case')::boolean;
  v_template constant jsonb := p_leaf -> 'template';
  v_literal constant text := v_template ->> 'literal';
  v_words constant text[] := array(select jsonb_array_elements_text(v_template -> 'words'));
  v_none constant varbit := logloom_private.no_bits(p_block.records);
  v_found integer[];
  v_templates text[];
  v_texts text[];
  v_bits varbit;
begin
  if v_literal is null then
    return array[v_none, ~v_none];
  end if;
  -- The runs whose words say that a template may pass.
  v_found := array(
    select l.n
    from unnest(p_block.run_words) with ordinality l (words, n)
    where l.words is null
      or not exists (select from unnest(v_words) w where strpos(l.words, w) = 0)
  );
  if v_found = '{}' then
    return array[v_none, v_none];
  end if;
  v_templates := p_block.templates;
  v_texts := array(
    select case when strpos(m.text, v_literal) > 0 then m.text end
    from (
      select u.n, case when u.n::integer = any(v_found) then
        case when v_folded then lower(u.templates collate pg_c_utf8) else u.templates end
        end as text
      from unnest(v_templates) with ordinality u (templates, n)
      offset 0
    ) m
    order by m.n
  );
  if cardinality(array_remove(v_texts, null)) = 0 then
    return array[v_none, v_none];
  end if;
  -- Without a message no leaf is true.
  execute format(
    $query$
      select string_agg(
        coalesce(
          (
            select string_agg(
              repeat(case when (%s) is true then '1' else '0' end, l.count), '' order by l.n
            )
            from unnest(string_to_array(s.text, $4), $5[s.last - s.templates + 1:s.last])
              with ordinality l (%s, count, n)
            where l.count is not null
          ),
          repeat('0', s.records)
        ),
        '' order by s.n
      )::varbit
      from (
        select u.*, (sum(u.templates) over (order by u.n))::integer as last
        from unnest($1, $2, $3) with ordinality u (text, templates, records, n)
      ) s
    $query$,
    logloom_private.template_sql(p_leaf), case when v_folded then 'folded' else 'msg' end
  )
  into v_bits
  using
    v_texts, p_block.run_templates, p_block.run_records, p_block.separator,
    p_block.template_records;
  return array[
    case when (v_template -> 'decides')::boolean then v_bits else v_none end, v_bits
  ];
end;
$$;

-- blocks/scan/node_bits.sql
-- A node of a query's tree: its exact bits and its candidate bits. What only the candidate bits
-- have is put to the row filter. p_is_quick: without reading the texts of a whole block.
create function logloom_private.node_bits(
  p_block logloom_private.blocks,
  p_node jsonb,
  p_is_quick boolean default false
)
returns varbit[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set jit = off
as $$
declare
  v_type constant text := p_node ->> 'type';
  v_none constant varbit := logloom_private.no_bits(p_block.records);
  v_bounds constant jsonb := p_node -> 'bounds';
  v_all constant varbit := ~v_none;
  v_flags boolean[];
  v_run_records integer[];
  v_bits varbit;
  v_item varbit[];
  v_result varbit[];
  v_node jsonb;
begin
  case v_type
    when 'all' then
      return array[v_all, v_all];
    when 'none' then
      return array[v_none, v_none];
    when 'not' then
      v_item := logloom_private.node_bits(p_block, p_node -> 'item', p_is_quick);
      return array[~v_item[2], ~v_item[1]];
    when 'and' then
      v_result := array[v_all, v_all];
      for v_node in
        -- What runs tell costs least, and may leave nothing to ask.
        select i.item
        from jsonb_array_elements(p_node -> 'items') with ordinality i (item, n)
        order by i.item ->> 'decided_by' is distinct from 'run', i.n
      loop
        v_item := logloom_private.node_bits(p_block, v_node, p_is_quick);
        v_result := array[v_result[1] & v_item[1], v_result[2] & v_item[2]];
        exit when bit_count(v_result[2]) = 0;
      end loop;
      return v_result;
    when 'or' then
      v_result := array[v_none, v_none];
      for v_node in select i from jsonb_array_elements(p_node -> 'items') i loop
        v_item := logloom_private.node_bits(p_block, v_node, p_is_quick);
        v_result := array[v_result[1] | v_item[1], v_result[2] | v_item[2]];
      end loop;
      return v_result;
    else
      -- Null: candidates, all of them.
      if p_is_quick and not (p_node -> 'block_quick')::boolean then
        v_bits := null;
      elsif p_node ->> 'field' = 'msg' then
        return logloom_private.message_bits(p_block, p_node);
      elsif p_node ->> 'field' = 'any' then
        return logloom_private.any_bits(p_block, p_node);
      elsif p_node ->> 'decided_by' = 'run' then
        execute format(
          'select array_agg(%s) from (select unnest($1) as service, unnest($2) as level) l',
          logloom_private.query_sql(p_node, 'l')
        )
        into v_flags
        using p_block.run_services, p_block.run_levels;
        v_run_records := p_block.run_records;
        v_bits := '';
        for v_run in 1..cardinality(v_flags) loop
          v_bits := v_bits || substring(
            case when v_flags[v_run] then v_all else v_none end from 1 for v_run_records[v_run]
          );
        end loop;
      elsif p_node ->> 'decided_by' = 'filter' then
        -- All records of the block may be within the bounds.
        v_bits := case
          when p_node ->> 'field' = 'ts'
            and coalesce((v_bounds ->> 'from')::timestamptz <= p_block.first_ts, true)
            and coalesce((v_bounds ->> 'to')::timestamptz > p_block.last_ts, true)
            then v_all
        end;
      else
        v_bits := logloom_private.column_bits(p_block, p_node, p_is_quick);
      end if;
      return array[coalesce(v_bits, v_none), coalesce(v_bits, v_all)];
  end case;
end;
$$;

-- blocks/scan/run_numbers.sql
-- Of the runs of a block what grouped_codes has of p_numbers, the values from position p_first to
-- p_last: each run takes its slice of them, so that nothing is grouped.
create function logloom_private.run_numbers(
  p_run_records integer[],
  p_bits varbit,
  p_first integer,
  p_last integer,
  p_numbers anyarray,
  p_exact boolean,
  p_doubles boolean
)
returns table (
  run integer,
  events bigint,
  total numeric,
  minimum numeric,
  maximum numeric,
  doubles double precision[]
)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set plan_cache_mode = 'force_generic_plan'
rows 20
as $$
declare
  v_is_numeric constant boolean := pg_typeof(p_numbers) = 'numeric[]'::regtype;
begin
  return query
  select
    f.run, t.events, t.total, t.minimum, t.maximum,
    case
      when not p_doubles then null
      when v_is_numeric then array(
        select logloom_private.finite_double(u.number::numeric)
        from (select unnest(f.numbers) as number) u
      )
      else f.numbers::double precision[]
    end
  from (
    -- "|| '{}'" makes one array of which each takes its part.
    select
      s.run, case
        when s.is_whole then a.numbers[s.first - p_first + 1:s.last - p_first + 1]
        else array(
          select u.number
          from (
            select
              generate_series(s.first, s.last) as n,
              unnest(a.numbers[s.first - p_first + 1:s.last - p_first + 1]) as number
          ) u
          where get_bit(p_bits, u.n - 1) = 1
        )
      end as numbers
    from (select p_numbers || '{}' as numbers offset 0) a
    cross join logloom_private.found_runs(p_run_records, p_bits, p_first, p_last) s
    offset 0
  ) f
  cross join lateral (
    select
      count(u.number) as events, sum(u.number)::numeric as total,
      min(u.number)::numeric as minimum, max(u.number)::numeric as maximum
    from (select unnest(f.numbers) as number) u
    where p_exact
  ) t;
end;
$$;

-- blocks/scan/sealed_counts.sql
-- How many sealed records of a tenant in [p_from, p_to) a query finds, by service and level as far
-- as p_by names them; several rows may be of the same ones. Where runs, templates or the counts of
-- a dictionary tell, one statement asks all blocks that lie whole in the range, and no record is
-- looked at.
create function logloom_private.sealed_counts(
  p_tenant_id text,
  p_from timestamptz,
  p_to timestamptz,
  p_tree jsonb,
  p_by text[] default array['service', 'level']
)
returns table (service text, level text, events bigint)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set jit = off
rows 100
as $$
declare
  v_blocks bigint[] := array(
    select logloom_private.candidate_blocks(p_tenant_id, p_from, p_to, p_tree)
  );
  v_whole constant bigint[] := array(
    select c.block_id
    from logloom_private.blocks c
    where c.tenant_id = p_tenant_id and c.block_id = any(v_blocks)
      and c.first_ts >= p_from and c.last_ts < p_to
  );
  v_sql constant text := logloom_private.template_counts_sql(p_tree);
  v_counted bigint[] := '{}';
  v_block logloom_private.blocks;
  v_bits varbit;
begin
  if v_sql is not null then
    v_counted := v_whole;
    return query execute v_sql
    using p_tenant_id, v_counted, current_setting('logloom.scan', true);
  elsif p_by = '{}' then
    select d.o_blocks, d.o_events into v_counted, events
    from logloom_private.dictionary_count(p_tenant_id, v_whole, p_tree) d;
    if v_counted <> '{}' then
      return next;
    end if;
  end if;
  for v_block in
    select c.*
    from logloom_private.blocks c
    where c.tenant_id = p_tenant_id
      and c.block_id = any(v_blocks) and c.block_id <> all(v_counted)
    order by c.last_ts
  loop
    v_bits := logloom_private.block_bits(v_block, p_tree, p_from, p_to);
    continue when bit_count(v_bits) = 0;
    return query
    select x.service, x.level, x.events
    from (
      select s.service, s.level, bit_count(substring(v_bits from s.first for s.records)) as events
      from (
        select u.*, (sum(u.records) over (order by u.n) - u.records + 1)::integer as first
        from unnest(v_block.run_services, v_block.run_levels, v_block.run_records)
          with ordinality u (service, level, records, n)
      ) s
    ) x
    where x.events > 0;
  end loop;
end;
$$;

-- blocks/scan/sealed_groups.sql
-- Those of a tenant's blocks that lie whole in [p_from, p_to) and have a dictionary of p_name, or
-- no value of it.
create function logloom_private.blocks_with_counts(
  p_tenant_id text,
  p_blocks bigint[],
  p_from timestamptz,
  p_to timestamptz,
  p_name text
)
returns bigint[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return array(
    select c.block_id
    from logloom_private.blocks c
    where c.tenant_id = p_tenant_id and c.block_id = any(p_blocks)
      and c.first_ts >= p_from and c.last_ts < p_to
      and coalesce(
        (
          select k.kind = 'dictionary'
          from logloom_private.block_columns k
          where k.tenant_id = p_tenant_id and k.block_id = c.block_id and k.name = p_name
        ),
        -- A key without a column of its own may be among the others.
        p_name not like 'attrs.%' or not exists (
          select
          from logloom_private.block_columns k
          where k.tenant_id = p_tenant_id and k.block_id = c.block_id and k.name = 'attrs'
            and (k.kind <> 'dictionary' or k.dictionary <> array['{}'])
        )
      )
  );
end;
$$;

-- The sealed records of a tenant in [p_from, p_to) that a query finds, by the values of fields: for
-- each combination the values in the order of p_by, those of attrs as JSON texts; several rows may
-- have the same. p_by: names of columns of blocks, service and level. Where blocks have
-- dictionaries of the one field and all of them is found, their counts answer. With p_key the
-- numbers of this attribute, as block_groups has them.
create function logloom_private.sealed_groups(
  p_tenant_id text,
  p_from timestamptz,
  p_to timestamptz,
  p_tree jsonb,
  p_by text[],
  p_key text default null,
  p_exact boolean default false,
  p_doubles boolean default false
)
returns table (
  keys text[],
  events bigint,
  numbers bigint,
  total numeric,
  minimum numeric,
  maximum numeric,
  doubles double precision[]
)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set jit = off
rows 1000
as $$
declare
  v_blocks constant bigint[] := array(
    select logloom_private.candidate_blocks(p_tenant_id, p_from, p_to, p_tree)
  );
  v_counted bigint[] := '{}';
  v_block logloom_private.blocks;
  v_bits varbit;
begin
  if p_tree ->> 'type' = 'all' and cardinality(p_by) = 1
    and p_by[1] not in ('service', 'level')
  then
    v_counted := logloom_private.blocks_with_counts(
      p_tenant_id, v_blocks, p_from, p_to, p_by[1]
    );
    return query
    with counted as materialized (
      select d.value, sum(d.count)::bigint as events
      from (
        select k.dictionary, k.counts
        from logloom_private.block_columns k
        where k.tenant_id = p_tenant_id and k.block_id = any(v_counted) and k.name = p_by[1]
          and logloom_private.take_scan_slot()
        -- Asked once a block, not once a value.
        offset 0
      ) k
      cross join lateral unnest(k.dictionary, k.counts) d (value, count)
      group by d.value
    ), valueless as (
      select sum(b.records)::bigint - coalesce((select sum(c.events) from counted c), 0) as events
      from logloom_private.blocks b
      where b.tenant_id = p_tenant_id and b.block_id = any(v_counted)
    )
    select
      array[c.value], c.events::bigint, 0::bigint, null::numeric, null::numeric, null::numeric,
      null::double precision[]
    from (
      select c.* from counted c
      union all
      select null, v.events from valueless v where v.events > 0
    ) c;
  end if;
  for v_block in
    select c.*
    from logloom_private.blocks c
    where c.tenant_id = p_tenant_id
      and c.block_id = any(v_blocks) and (p_key is not null or c.block_id <> all(v_counted))
    order by c.last_ts
  loop
    v_bits := logloom_private.block_bits(v_block, p_tree, p_from, p_to);
    continue when bit_count(v_bits) = 0;
    return query
    select g.*
    from logloom_private.block_groups(
      v_block, v_bits, p_by, v_block.block_id <> all(v_counted), p_key, p_exact, p_doubles
    ) g;
  end loop;
end;
$$;

-- blocks/scan/sealed_log.sql
-- The sealed record with an id, where its ts is in [p_from, p_to).
create function logloom_private.sealed_log(
  p_tenant_id text,
  p_from timestamptz,
  p_to timestamptz,
  p_id uuid
)
returns setof logloom.logs
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set jit = off
rows 1
as $$
declare
  v_prefix constant bytea := substring(uuid_send(p_id) for 14);
  v_number constant integer :=
    get_byte(uuid_send(p_id), 14) * 256 + get_byte(uuid_send(p_id), 15);
  v_index constant smallint := v_number - case when v_number > 32767 then 65536 else 0 end;
  v_block logloom_private.blocks;
  v_prefixes bytea;
  v_positions integer[];
begin
  for v_block in
    select c.*
    from logloom_private.blocks c
    where c.tenant_id = p_tenant_id
      and c.last_ts >= p_from and c.first_ts < p_to
      and p_id between c.first_id and c.last_id and c.damaged_at is null
  loop
    perform logloom_private.can_read(v_block.format);
    v_prefixes := v_block.batch_prefixes;
    continue when position(v_prefix in v_prefixes) = 0;
    v_positions := array_positions(v_block.id_indexes, v_index);
    -- Those of them that are of the batch: few, since an index is once in a batch.
    v_positions := array(
      select p.position
      from unnest(v_positions, logloom_private.block_batches(v_block, v_positions))
        p (position, batch)
      where substring(v_prefixes from 14 * (p.batch - 1) + 1 for 14) = v_prefix
      order by p.position
    );
    continue when v_positions = '{}';
    return query
    select r.*
    from logloom_private.sealed_records(v_block, v_positions, null) r
    where r.id = p_id and r.ts >= p_from and r.ts < p_to;
  end loop;
end;
$$;

-- blocks/scan/sealed_page.sql
-- The first p_limit of times and p_times, but for p_past, with the sizes of their records. edge:
-- the last time that a page of p_limit records and p_bytes can hold, which ends before the first
-- record that finds it full, whatever the ids of one time are. Null: it is not full. Without sizes
-- it is full of p_limit records.
create function logloom_private.page_edge(
  p_limit integer,
  p_bytes bigint,
  p_is_descending boolean,
  p_past timestamptz,
  p_times timestamptz[],
  p_sizes integer[],
  inout times timestamptz[],
  inout sizes integer[],
  out edge timestamptz
)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_sizes is null and sizes is null then
    times := array(
      select t
      from unnest(times || p_times) t
      where p_past is null or t <> p_past
      order by case when p_is_descending then t end desc, case when not p_is_descending then t end
      limit p_limit
    );
    edge := times[p_limit];
    return;
  end if;
  select
    array_agg(b.ts), array_agg(b.size),
    (
      array_agg(b.ts)
      filter (where b.n = p_limit or b.before >= p_bytes and b.ts <> b.ts_before)
    )[1]
  into times, sizes, edge
  from (
    select g.*, lag(g.through) over w as before, lag(g.ts) over w as ts_before
    from (
      select
        o.ts, o.size, row_number() over (rows unbounded preceding) as n,
        -- Of one time all.
        sum(o.size) over (
          order by case when p_is_descending then o.ts end desc, o.ts
        ) as through
      from (
        select u.ts, coalesce(u.size, 0) as size
        from (
          select unnest(times) as ts, unnest(sizes) as size
          union all
          select unnest(p_times), unnest(p_sizes)
        ) u
        where p_past is null or u.ts <> p_past
        order by
          case when p_is_descending then u.ts end desc,
          case when not p_is_descending then u.ts end
        limit p_limit
      ) o
    ) g
    window w as (order by g.n)
  ) b;
end;
$$;

-- Those of a block's positions after (p_ts, p_id) that p_bytes leave room for, and the one after
-- them.
create function logloom_private.positions_within_bytes(
  p_block logloom_private.blocks,
  p_bytes bigint,
  p_is_descending boolean,
  p_ts timestamptz,
  p_id uuid,
  inout positions integer[],
  out next integer[]
)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  select
    array_agg(f.position order by f.position) filter (where f.before < p_bytes),
    (array_agg(f.position order by f.n) filter (where f.before >= p_bytes))[1:1]
  into positions, next
  from (
    select
      o.position, row_number() over w as n,
      sum(coalesce(o.record_bytes, 0)) over w - coalesce(o.record_bytes, 0) as before
    from (
      select p.position, l.ts, l.id, l.record_bytes
      from unnest(positions) with ordinality p (position, n)
      join (
        select r.ts, r.id, r.record_bytes, row_number() over () as n
        from logloom_private.sealed_records(
          p_block, positions, array['ts', 'id', 'record_bytes']
        ) r
      ) l on l.n = p.n
      where p_ts is null
        or case when p_is_descending then (l.ts, l.id) < (p_ts, p_id)
          else (l.ts, l.id) > (p_ts, p_id) end
    ) o
    window w as (
      order by
        case when p_is_descending then o.ts end desc,
        case when p_is_descending then o.id end desc, o.ts, o.id
      rows unbounded preceding
    )
  ) f;
end;
$$;

-- Sealed records that a query finds, among them the first p_limit in the order of (ts, id), after
-- p_ts and p_id where they are given. Each record has ts, id and what p_reads names; all where it
-- is null. p_bytes: a page ends before the first record with so many bytes before it; of a block's
-- first such record ts, id and record_bytes are there, and none after it.
create function logloom_private.sealed_page(
  p_tenant_id text,
  p_from timestamptz,
  p_to timestamptz,
  p_tree jsonb,
  p_limit integer,
  p_order text,
  p_ts timestamptz,
  p_id uuid,
  p_reads text[] default null,
  p_bytes bigint default null
)
returns setof logloom.logs
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set jit = off
rows 100
as $$
declare
  v_is_descending constant boolean := p_order = 'desc';
  v_reads constant text[] := case
    when p_reads is not null then p_reads || array['ts', 'id', 'record_bytes']
  end;
  -- Null: all of the range.
  v_candidates constant bigint[] := case
    when logloom_private.needed_leaf(p_tree) is not null
      then array(select logloom_private.candidate_blocks(p_tenant_id, p_from, p_to, p_tree))
  end;
  -- Where deciding for all may read many texts; not again where it found too few.
  v_tries boolean := p_limit <= 250 and jsonb_path_exists(
    p_tree, '$.** ? (@.block_quick == false || @.field == "attrs")'
  );
  v_blocks refcursor;
  v_block logloom_private.blocks;
  v_bits varbit;
  v_page record;
  v_within record;
  v_positions integer[];
  v_times timestamptz[];
  v_sizes integer[];
  v_best timestamptz[] := '{}';
  v_best_sizes integer[];
  v_edge timestamptz;
begin
  -- Cursors, which are planned to give the first of many blocks soon.
  if v_is_descending then
    open v_blocks for
      select c.*
      from logloom_private.blocks c
      where c.tenant_id = p_tenant_id and c.last_ts >= p_from and c.first_ts < p_to
        and c.damaged_at is null and (v_candidates is null or c.block_id = any(v_candidates))
      order by c.last_ts desc;
  else
    open v_blocks for
      select c.*
      from logloom_private.blocks c
      where c.tenant_id = p_tenant_id and c.last_ts >= p_from and c.first_ts < p_to
        and c.damaged_at is null and (v_candidates is null or c.block_id = any(v_candidates))
      order by c.first_ts;
  end if;
  loop
    fetch v_blocks into v_block;
    exit when not found;
    perform logloom_private.can_read(v_block.format);
    -- The page is full, and nothing of this block and of those after it can come before its end.
    exit when case when v_is_descending then v_block.last_ts < v_edge
      else v_block.first_ts > v_edge end;
    -- Null: all of them.
    v_positions := null;
    if v_tries then
      v_positions := logloom_private.tried_positions(
        v_block, p_tree, p_limit, v_is_descending, p_ts, p_from, p_to
      );
      v_tries := v_positions is not null;
    end if;
    if p_tree ->> 'type' = 'all' then
      perform logloom_private.take_scan_slot();
    elsif v_positions is null then
      v_bits := logloom_private.block_bits(v_block, p_tree, p_from, p_to);
      if bit_count(v_bits) < v_block.records then
        v_positions := logloom_private.bit_positions(v_bits);
      end if;
    end if;
    continue when v_positions = '{}';
    v_positions := logloom_private.first_positions(
      v_block, v_positions, p_limit, v_is_descending, p_ts, p_from, p_to
    );
    continue when v_positions = '{}';
    v_times := logloom_private.block_times(v_block, v_positions);
    v_sizes := null;
    -- Records of the page before, of the same ts as its last, are more than p_limit.
    if p_bytes <= cardinality(v_positions)::bigint * (
      select coalesce(c.greatest, (select max(d::integer) from unnest(c.dictionary) d))
      from logloom_private.block_columns c
      where c.tenant_id = p_tenant_id and c.block_id = v_block.block_id
        and c.name = 'record_bytes'
    ) then
      v_sizes := array(
        select r.record_bytes
        from logloom_private.sealed_records(v_block, v_positions, array['record_bytes']) r
      );
    end if;
    v_page := logloom_private.page_edge(
      p_limit, p_bytes, v_is_descending, p_ts, v_times, v_sizes, v_best, v_best_sizes
    );
    v_best := v_page.times;
    v_best_sizes := v_page.sizes;
    v_edge := v_page.edge;
    select array_agg(p.position order by p.n), array_agg(p.size order by p.n)
    into v_positions, v_sizes
    from unnest(v_positions, v_times, v_sizes) with ordinality p (position, ts, size, n)
    where v_edge is null or case when v_is_descending then p.ts >= v_edge else p.ts <= v_edge end;
    continue when v_positions is null;
    -- Of more than a page holds no more is read.
    if (select sum(z) from unnest(v_sizes) z) >= p_bytes then
      v_within := logloom_private.positions_within_bytes(
        v_block, p_bytes, v_is_descending, p_ts, p_id, v_positions
      );
      v_positions := v_within.positions;
      return query
      select r.*
      from logloom_private.sealed_records(
        v_block, coalesce(v_within.next, '{}'), array['ts', 'id', 'record_bytes']
      ) r;
    end if;
    continue when v_positions is null;
    return query
    select r.*
    from logloom_private.sealed_records(
      v_block, case when cardinality(v_positions) < v_block.records then v_positions end,
      v_reads
    ) r
    where p_ts is null
      or case when v_is_descending then (r.ts, r.id) < (p_ts, p_id)
        else (r.ts, r.id) > (p_ts, p_id) end;
  end loop;
  close v_blocks;
end;
$$;

-- blocks/scan/sealed_patterns.sql
-- Of a block's records at p_bits the templates of their messages: how many have each, which of them
-- are the first and the last by ts. Null for those without a message.
create function logloom_private.block_templates(
  p_block logloom_private.blocks,
  p_bits varbit
)
returns table (template text, events integer, first integer, last integer)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  -- Read once: each use of what is stored reads it anew.
  v_template_records constant integer[] := p_block.template_records || '{}'::integer[];
begin
  -- A run whose records are not asked for is not read.
  return query
  with runs as materialized (
    select
      r.n, r.records, r.templates, r.texts, r.before, r.templates_before,
      bit_count(substring(p_bits from r.before + 1 for r.records)) as found
    from (
      select
        u.*,
        (sum(u.records) over w - u.records)::integer as before,
        (sum(u.templates) over w - u.templates)::integer as templates_before
      from unnest(p_block.run_records, p_block.run_templates, p_block.templates)
        with ordinality u (records, templates, texts, n)
      window w as (order by u.n rows unbounded preceding)
    ) r
  ), templates as materialized (
    select
      t.template, t.records, r.found = r.records as is_whole,
      r.before + (t.last - t.records)::integer as before
    from runs r
    cross join lateral (
      -- As they are stored: sorting them would take longer than all the rest.
      select u.*, sum(u.records) over (rows unbounded preceding) as last
      from (
        select
          unnest(string_to_array(r.texts, p_block.separator)) as template,
          unnest(
            v_template_records[r.templates_before + 1:r.templates_before + r.templates]
          ) as records
      ) u
    ) t
    where r.found > 0 and r.templates > 0 and t.records is not null
    union all
    select null, r.records, r.found = r.records, r.before
    from runs r
    where r.found > 0 and r.templates = 0
  )
  select t.template, t.records, t.before + 1, t.before + t.records
  from templates t
  where t.is_whole
  union all
  select
    t.template, bit_count(f.bits)::integer, t.before + position(b'1' in f.bits),
    t.before + length(rtrim(f.bits::text, '0'))
  from (select t.* from templates t where not t.is_whole) t
  cross join lateral (
    select substring(p_bits from t.before + 1 for t.records) as bits
    offset 0
  ) f
  where bit_count(f.bits) > 0;
end;
$$;

-- The messages of a tenant's sealed records in [p_from, p_to) that a query finds, by template: a
-- message with each digit replaced by 0. How many have it, when first and last in microseconds
-- since 1970, and the place of the first one, for sealed_messages; places sort by time. Several
-- rows may have the same template. The newest blocks come first, and none after p_limit rows.
create function logloom_private.sealed_patterns(
  p_tenant_id text,
  p_from timestamptz,
  p_to timestamptz,
  p_tree jsonb,
  p_limit integer default null
)
returns table (
  template text,
  events bigint,
  first_us bigint,
  last_us bigint,
  place bigint[]
)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set jit = off
rows 1000
as $$
declare
  v_blocks constant bigint[] := array(
    select logloom_private.candidate_blocks(p_tenant_id, p_from, p_to, p_tree)
  );
  v_block logloom_private.blocks;
  v_bits varbit;
  v_low smallint[];
  v_middle "char"[];
  v_high smallint[];
  v_top "char"[];
  v_from bigint;
  v_found integer;
  v_rows integer := 0;
begin
  for v_block in
    select c.*
    from logloom_private.blocks c
    where c.tenant_id = p_tenant_id
      and c.block_id = any(v_blocks)
    order by c.last_ts desc
  loop
    exit when v_rows > p_limit;
    v_bits := logloom_private.block_bits(v_block, p_tree, p_from, p_to);
    continue when bit_count(v_bits) = 0;
    v_low := v_block.ts_low;
    v_middle := v_block.ts_middle;
    v_high := v_block.ts_high;
    v_top := v_block.ts_top;
    v_from := extract(epoch from v_block.first_ts) * 1000000;
    -- Steps as block_steps has them, looked up where a row is made: to gather all positions, and
    -- then to put steps and templates side by side again, took as long as the rest.
    return query
    select
      u.template, u.events::bigint, v_from + u.first, v_from + u.last,
      array[v_from + u.first, v_block.block_id, u.position]
    from (
      select
        t.template, t.events, t.first as position, (
          v_low[t.first] + 32768 + coalesce(v_middle[t.first]::integer + 128, 0) * 65536
          + coalesce(v_high[t.first] + 32768, 0) * 16777216::bigint
          + coalesce(v_top[t.first]::integer + 128, 0) * 1099511627776
        ) * v_block.ts_unit as first,
        (
          v_low[t.last] + 32768 + coalesce(v_middle[t.last]::integer + 128, 0) * 65536
          + coalesce(v_high[t.last] + 32768, 0) * 16777216::bigint
          + coalesce(v_top[t.last]::integer + 128, 0) * 1099511627776
        ) * v_block.ts_unit as last
      from logloom_private.block_templates(v_block, v_bits) t
    ) u;
    get diagnostics v_found = row_count;
    v_rows := v_rows + v_found;
  end loop;
end;
$$;

-- The messages at places of sealed_patterns, with their places.
create function logloom_private.sealed_messages(p_tenant_id text, p_places bigint[])
returns table (place bigint[], msg text)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set jit = off
rows 100
as $$
declare
  v_block logloom_private.blocks;
  v_times bigint[];
  v_positions integer[];
  v_wanted record;
begin
  for v_wanted in
    select
      u.block_id, array_agg(u.time order by u.position) as times,
      array_agg(u.position order by u.position) as positions
    from (
      select p_places[n][1] as time, p_places[n][2] as block_id, p_places[n][3]::integer as position
      from generate_series(1, coalesce(array_length(p_places, 1), 0)) n
    ) u
    group by u.block_id
  loop
    select c.* into v_block
    from logloom_private.blocks c
    where c.tenant_id = p_tenant_id and c.block_id = v_wanted.block_id;
    return query
    select array[m.time, v_wanted.block_id, m.position], m.msg
    from unnest(
      v_wanted.times, v_wanted.positions,
      logloom_private.block_messages_at(v_block, v_wanted.positions)
    ) m (time, position, msg);
  end loop;
end;
$$;

-- blocks/scan/sealed_rows.sql
-- A tenant's sealed records in [p_from, p_to) that a query finds. Each record has
-- what p_reads names, or all where it is null.
create function logloom_private.sealed_rows(
  p_tenant_id text,
  p_from timestamptz,
  p_to timestamptz,
  p_tree jsonb,
  p_reads text[]
)
returns setof logloom.logs
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set jit = off
rows 1000
as $$
declare
  v_blocks constant bigint[] := array(
    select logloom_private.candidate_blocks(p_tenant_id, p_from, p_to, p_tree)
  );
  v_block logloom_private.blocks;
  v_bits varbit;
begin
  for v_block in
    select c.*
    from logloom_private.blocks c
    where c.tenant_id = p_tenant_id
      and c.block_id = any(v_blocks)
    order by c.last_ts
  loop
    v_bits := logloom_private.block_bits(v_block, p_tree, p_from, p_to);
    continue when bit_count(v_bits) = 0;
    return query
    select r.*
    from logloom_private.sealed_records(
      v_block,
      case when bit_count(v_bits) < v_block.records
        then logloom_private.bit_positions(v_bits) end,
      p_reads
    ) r;
  end loop;
end;
$$;

-- blocks/scan/sealed_write_seqs.sql
-- Sealed records from p_from on, of the writer's steps p_first to p_last, of the first step those
-- after p_id, that a query finds: of each block the first p_limit. The first record with p_bytes of
-- others before it has id, ts, write_seq and record_bytes alone.
create function logloom_private.sealed_write_seqs(
  p_tenant_id text,
  p_first bigint,
  p_id uuid,
  p_last bigint,
  p_from timestamptz,
  p_tree jsonb,
  p_limit integer,
  p_bytes bigint
)
returns setof logloom.logs
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set jit = off
rows 100
as $$
declare
  v_block logloom_private.blocks;
  v_write_seqs bigint[];
  v_positions integer[];
  v_next integer[];
begin
  for v_block in
    select c.*
    from logloom_private.blocks c
    where c.tenant_id = p_tenant_id and c.last_write_seq >= p_first and c.first_write_seq <= p_last
      and c.last_ts >= p_from and c.damaged_at is null
  loop
    perform logloom_private.can_read(v_block.format);
    v_write_seqs := v_block.batch_write_seqs;
    continue when not exists (
      select from unnest(v_write_seqs) a where a between p_first and p_last
    );
    v_positions := logloom_private.bit_positions(
      logloom_private.block_bits(v_block, p_tree, p_from, 'infinity')
    );
    v_positions := array(
      select u.position
      from unnest(v_positions, logloom_private.block_batches(v_block, v_positions))
        u (position, batch)
      where v_write_seqs[u.batch] between p_first and p_last
      order by u.position
    );
    select
      array_agg(f.position order by f.position) filter (where f.before < p_bytes),
      (array_agg(f.position order by f.n) filter (where f.before >= p_bytes))[1:1]
    into v_positions, v_next
    from (
      select
        o.position, o.n,
        coalesce(
          sum(o.record_bytes) over (order by o.n rows between unbounded preceding and 1 preceding),
          0
        ) as before
      from (
        select p.position, l.record_bytes, row_number() over (order by l.write_seq, l.id) as n
        from unnest(v_positions) with ordinality p (position, n)
        join (
          select r.id, r.write_seq, r.record_bytes, row_number() over () as n
          from logloom_private.sealed_records(
            v_block, v_positions, array['id', 'write_seq', 'record_bytes']
          ) r
        ) l on l.n = p.n
        where p_id is null or l.write_seq > p_first or l.id > p_id
        order by l.write_seq, l.id
        limit p_limit
      ) o
    ) f;
    continue when v_positions is null;
    return query
    select r.* from logloom_private.sealed_records(v_block, v_positions, null) r;
    if v_next is not null then
      return query
      select r.*
      from logloom_private.sealed_records(
        v_block, v_next, array['ts', 'id', 'write_seq', 'record_bytes']
      ) r;
    end if;
  end loop;
end;
$$;

-- blocks/scan/template_counts_sql.sql
-- A tree that service, level and templates decide, as SQL over the alias l of these: msg is a
-- template, folded the same in lower case. Null for any other tree.
create function logloom_private.templates_sql(p_node jsonb)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_type constant text := p_node ->> 'type';
  v_items text[];
begin
  if v_type in ('all', 'none') then
    return logloom_private.query_sql(p_node, 'l');
  elsif v_type = 'not' then
    return '(' || logloom_private.templates_sql(p_node -> 'item') || ' is not true)';
  elsif v_type in ('and', 'or') then
    v_items := array(
      select logloom_private.templates_sql(i) from jsonb_array_elements(p_node -> 'items') i
    );
    return case when array_position(v_items, null) is null
      then '(' || array_to_string(v_items, ' ' || v_type || ' ') || ')' end;
  elsif p_node ->> 'decided_by' = 'run' then
    return logloom_private.query_sql(p_node, 'l');
  elsif p_node ->> 'field' = 'msg'
    and (p_node -> 'template' -> 'decides')::boolean
  then
    return '(' || logloom_private.template_sql(p_node) || ')';
  end if;
  return null;
end;
$$;

-- What a run needs to hold a record that a tree of templates_sql finds: SQL over the alias l of
-- service, level and words, which are run_words; or else of service, level, templates and folded,
-- its templates in lower case.
create function logloom_private.runs_sql(p_node jsonb, p_by_words boolean)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_literal constant text := p_node -> 'template' ->> 'literal';
begin
  case p_node ->> 'type'
    when 'and', 'or' then
      return (
        select '(' || string_agg(
          logloom_private.runs_sql(i, p_by_words), ' ' || (p_node ->> 'type') || ' '
        ) || ')'
        from jsonb_array_elements(p_node -> 'items') i
      );
    when 'leaf' then
      if p_node ->> 'field' <> 'msg' then
        return logloom_private.query_sql(p_node, 'l');
      end if;
      return case
        when p_by_words then logloom_private.words_sql(p_node)
        when v_literal = '' then 'true'
        else format(
          'strpos(%s, %L) > 0',
          case
            when (p_node -> 'folds_case')::boolean then 'l.folded'
            else 'l.templates'
          end,
          v_literal
        )
      end;
    else
      return 'true';
  end case;
end;
$$;

-- SQL that counts what a tree finds in the blocks $2 of the tenant $1, by service and level, within
-- the slot of the scan $3; null where templates do not decide the tree.
create function logloom_private.template_counts_sql(p_tree jsonb)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_test constant text := logloom_private.templates_sql(p_tree);
  v_folds constant boolean := jsonb_path_exists(
    p_tree, 'strict $.** ? (@.field == "msg" && @.folds_case == true)'
  );
  v_keeps_case constant boolean := jsonb_path_exists(
    p_tree, 'strict $.** ? (@.field == "msg" && @.folds_case == false)'
  );
begin
  if v_test is null then
    return null;
  elsif not v_folds and not v_keeps_case then
    return $query$
      select l.service, l.level, sum(l.records)::bigint
      from logloom_private.blocks c
      cross join lateral unnest(c.run_services, c.run_levels, c.run_records)
        l (service, level, records)
      where c.tenant_id = $1 and c.block_id = any($2) and $query$ || v_test || $query$
      group by l.service, l.level
    $query$;
  end if;
  -- "|| '{}'" reads a stored array once, "offset 0" keeps it for all that use it. The templates are
  -- read where the words of a run say that it may have one.
  return format(
    $query$
      select l.service, l.level, sum(l.count)::bigint
      from (
        select
          x.*, x.stored_templates || '{}'::text[] as templates,
          x.stored_template_records || '{}'::integer[] as template_records
        from (
          select
            c.separator, c.run_services, c.run_levels, c.run_records, c.run_templates,
            c.templates as stored_templates, c.template_records as stored_template_records,
            array(
              select l.n::integer
              from unnest(c.run_services, c.run_levels, c.run_words)
                with ordinality l (service, level, words, n)
              where %1$s
              order by l.n
            ) as found
          from logloom_private.blocks c
          where c.tenant_id = $1 and c.block_id = any($2) and logloom_private.take_scan_slot($3)
          offset 0
        ) x
        where x.found <> '{}'
        offset 0
      ) c
      cross join lateral (
        select l.*, (
          select sum(u.templates)::integer from unnest(c.run_templates[1:l.n]) u (templates)
        ) as last
        from (
          select
            f.n, c.run_services[f.n] as service, c.run_levels[f.n] as level,
            c.run_records[f.n] as records, c.run_templates[f.n] as template_count,
            c.templates[f.n] as templates, %2$s as folded
          from unnest(c.found) f (n)
          offset 0
        ) l
        where %3$s
        offset 0
      ) s
      cross join lateral (
        select s.service, s.level, u.msg, u.folded, u.count
        from unnest(%4$s, %5$s, c.template_records[s.last - s.template_count + 1:s.last])
          u (msg, folded, count)
        where s.template_count > 0 and u.count is not null
        union all
        select s.service, s.level, null, null, s.records
        where s.template_count = 0
      ) l
      where %6$s
      group by l.service, l.level
    $query$,
    logloom_private.runs_sql(p_tree, true),
    case when v_folds then 'lower(c.templates[f.n] collate pg_c_utf8)'
      else 'null::text' end,
    logloom_private.runs_sql(p_tree, false),
    case when v_keeps_case then 'string_to_array(s.templates, c.separator)'
      else 'null::text[]' end,
    case when v_folds then 'string_to_array(s.folded, c.separator)'
      else 'null::text[]' end,
    v_test
  );
end;
$$;

-- blocks/scan/template_sql.sql
-- A leaf over messages as SQL over the alias l: msg is a template, folded the same in lower case.
create function logloom_private.template_sql(p_leaf jsonb)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_template constant jsonb := p_leaf -> 'template';
  v_literal constant text := v_template ->> 'literal';
  v_text constant text :=
    case when (p_leaf -> 'folds_case')::boolean then 'l.folded' else 'l.msg' end;
  v_sql constant text := logloom_private.query_text_test(
    jsonb_build_object('test', v_template ->> 'by', 'values', v_template -> 'values'), v_text
  );
begin
  return case
    when v_template ->> 'by' = 'exists' then '(' || v_text || ' is not null)'
    -- A plain text is found far quicker.
    when v_template ->> 'by' = 'regex' and v_literal <> '' then format(
      'case when strpos(%s, %L) > 0 then ', v_text, v_literal
    ) || v_sql || ' else false end'
    else '(' || v_sql || ')'
  end;
end;
$$;

-- blocks/scan/tried_positions.sql
-- Of the records that a page can hold those of a block, found by asking the outermost of them one
-- by one: a filter that lets many through need not be decided for all. All where nothing is to be
-- asked, null where it is cheaper to ask all.
create function logloom_private.tried_positions(
  p_block logloom_private.blocks,
  p_tree jsonb,
  p_limit integer,
  p_is_descending boolean,
  p_past timestamptz,
  p_from timestamptz,
  p_to timestamptz
)
returns integer[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_bits constant varbit[] := logloom_private.node_bits(p_block, p_tree, true);
  v_tried bigint := 4 * p_limit;
  v_all integer[];
  v_found integer[];
  v_count integer;
begin
  if bit_count(v_bits[2]) < p_block.records then
    v_all := logloom_private.bit_positions(v_bits[2]);
  end if;
  if v_bits[1] = v_bits[2] then
    perform logloom_private.take_scan_slot();
    return v_all;
  end if;
  for v_try in 1..2 loop
    if v_tried > bit_count(v_bits[2]) / 4 then
      return null;
    end if;
    v_found := logloom_private.filtered_positions(
      p_block,
      logloom_private.first_positions(
        p_block, v_all, v_tried::integer, p_is_descending, p_past, p_from, p_to
      ),
      p_tree
    );
    select count(*) into v_count
    from unnest(logloom_private.block_times(p_block, v_found)) t (ts)
    where t.ts is distinct from p_past;
    if v_count >= p_limit then
      return v_found;
    elsif v_count = 0 then
      return null;
    end if;
    -- As many as hold half as many again as are wanted.
    v_tried := v_tried * p_limit * 3 / 2 / v_count;
  end loop;
  return null;
end;
$$;

-- blocks/block_days.sql
-- How many days a block of a tenant with such a retention spans at most: a quarter of it and at
-- least one, whole weeks where it is more than one, and a month of four weeks at most.
create function logloom_private.block_days(p_retention_days integer)
returns integer
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return case
    when p_retention_days < 28 then greatest(p_retention_days / 4, 1)
    else least(p_retention_days / 28, 4) * 7
  end;
end;
$$;

-- blocks/count_sealed.sql
-- Adds records of a block, all where p_positions is null, to the counts, or takes them away.
create function logloom_private.count_sealed(
  p_block logloom_private.blocks,
  p_positions integer[],
  p_sign integer
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into logloom_private.log_counts (tenant_id, minute, service, level, events)
  select
    p_block.tenant_id, date_bin('1 minute', r.ts, 'epoch'), r.service, r.level,
    p_sign * count(*)
  from logloom_private.sealed_records(p_block, p_positions, array['ts', 'service', 'level']) r
  group by 2, 3, 4
  order by 2;
end;
$$;

-- blocks/recount_records.sql
-- Counts a UTC day anew from its records: for an operator who put records back or took them away by
-- hand, and after a restore. Waits for the writer and holds it up meanwhile.
create function logloom_private.recount_records(p_day date)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
-- Called by hand: a date style writes the project's zone by a name that may be another's, too.
set timezone = 'UTC'
set datestyle = 'ISO'
as $$
begin
  -- Nothing is added, removed, sealed or summed up meanwhile.
  perform pg_advisory_xact_lock(logloom_private.lock_key('deletion'));
  perform pg_advisory_xact_lock(logloom_private.lock_key('writer'));
  perform pg_advisory_xact_lock(logloom_private.lock_key('log_counts'));
  lock table logloom_private.log_counts in share row exclusive mode;
  -- Tenant by tenant, as the index leads with it.
  delete from logloom_private.log_counts c
  using (
    select d.tenant_id from logloom_private.log_days d where d.day = p_day
    union
    select s.tenant_id
    from logloom_private.blocks s
    where s.last_ts >= logloom_private.day_start(p_day)
      and s.first_ts < logloom_private.day_start(p_day + 1)
  ) t
  where c.tenant_id = t.tenant_id
    and c.minute >= logloom_private.day_start(p_day)
    and c.minute < logloom_private.day_start(p_day + 1);
  delete from logloom_private.log_days d where d.day = p_day;
  delete from logloom_private.log_writes a where a.day = p_day;
  execute format(
    $query$
      with records as materialized (
        select l.tenant_id, l.ts, l.service, l.level, l.write_seq, false as holds_counts
        from logloom.logs l
        where l.ts >= %2$L::timestamptz and l.ts < %3$L::timestamptz
        union all
        select r.tenant_id, r.ts, r.service, r.level, r.write_seq, c.holds_counts
        from logloom_private.blocks c,
          logloom_private.block_records(
            c.tenant_id, c.block_id, null, array['ts', 'service', 'level', 'write_seq']
          ) r
        where c.last_ts >= %2$L::timestamptz and c.first_ts < %3$L::timestamptz
          and r.ts >= %2$L::timestamptz and r.ts < %3$L::timestamptz
      ), days as (
        insert into logloom_private.log_days (tenant_id, day)
        select distinct l.tenant_id, %1$L::date
        from logloom.logs l
        where l.ts >= %2$L::timestamptz and l.ts < %3$L::timestamptz
      ), write_seqs as (
        insert into logloom_private.log_writes (write_seq, day)
        select max(l.write_seq), %1$L::date
        from records l
        having count(*) > 0
      )
      insert into logloom_private.log_counts (tenant_id, minute, service, level, events)
      select l.tenant_id, date_bin('1 minute', l.ts, 'epoch'), l.service, l.level, count(*)
      from records l
      where not l.holds_counts
      group by 1, 2, 3, 4
      order by 1, 2
    $query$,
    p_day, p_day::timestamp at time zone 'UTC', (p_day + 1)::timestamp at time zone 'UTC'
  );
end;
$$;

-- blocks/rewrite_blocks.sql
-- Writes blocks of a tenant anew, in this transaction: as one, or with p_days one for each span of
-- so many days. All of them hold their counts, or none.
create function logloom_private.rewrite_blocks(
  p_tenant_id text,
  p_block_ids bigint[],
  p_days integer default null
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_block logloom_private.blocks;
  v_from date := 'infinity';
  v_to date := '-infinity';
  v_records bigint := 0;
  v_day date;
begin
  for v_block in
    select c.*
    from logloom_private.blocks c
    where c.tenant_id = p_tenant_id and c.block_id = any(p_block_ids)
  loop
    perform logloom_private.require_intact(v_block);
    v_from := least(v_from, logloom_private.utc_day(v_block.first_ts));
    v_to := greatest(v_to, logloom_private.utc_day(v_block.last_ts));
    v_records := v_records + v_block.records;
  end loop;
  v_day := logloom_private.span_start(v_from, coalesce(p_days, 1));
  while v_day <= v_to loop
    v_from := v_day;
    v_day := v_day + coalesce(p_days, v_to - v_from + 1);
    v_records := v_records - coalesce(
      (logloom_private.write_block(
        p_tenant_id,
        logloom_private.read_records(
          format(
            'select r.* from unnest(%L::bigint[]) c (block_id), '
              || 'logloom_private.block_records(%L, c.block_id, null, null) r '
              || 'where r.ts >= %L::timestamptz and r.ts < %L::timestamptz',
            p_block_ids, p_tenant_id, logloom_private.day_start(v_from),
            logloom_private.day_start(v_day)
          )
        ),
        v_block.holds_counts
      )).records,
      0
    );
  end loop;
  if v_records <> 0 then
    raise sqlstate 'LL001' using message = 'Blocks have not as many records as they say';
  end if;
  delete from logloom_private.blocks c
  where c.tenant_id = p_tenant_id and c.block_id = any(p_block_ids);
end;
$$;

-- blocks/span_start.sql
-- The first day of the span of p_days days that a day lies in. Spans of weeks begin on Mondays.
create function logloom_private.span_start(p_day date, p_days integer)
returns date
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  -- The first Monday of the calendar.
  return p_day - (p_day - date '0001-01-01') % p_days;
end;
$$;

select logloom_private.finish_migration();
