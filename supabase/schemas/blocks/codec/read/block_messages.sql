-- The messages of a block.
create function logloom_private.all_messages(p_block logloom_private.blocks)
returns text[]
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
set plan_cache_mode = 'force_generic_plan'
set work_mem = '32MB'
as $$
declare
  v_templates text[];
  v_texts text[];
begin
  -- A run's templates end each with the separator; a run without messages has none.
  v_templates := string_to_array(array_to_string(p_block.templates, ''), p_block.separator);
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

-- Of ascending positions of a block those that have a message, and which of its messages that is.
create function logloom_private.message_ordinals(
  p_block logloom_private.blocks,
  p_positions integer[],
  out o_positions integer[],
  out o_ordinals integer[]
)
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
set plan_cache_mode = 'force_generic_plan'
as $$
begin
  with s as (
    select
      array_agg(x.first order by x.n) as firsts, array_agg(x.silent order by x.n) as silent,
      array_agg(x.templates > 0 order by x.n) as speaks
    from (
      select
        u.n, u.templates, (sum(u.records) over w - u.records + 1)::integer as first,
        coalesce(sum(u.records) filter (where u.templates = 0) over w, 0)::integer as silent
      from unnest(p_block.run_records, p_block.run_templates)
        with ordinality u (records, templates, n)
      window w as (order by u.n)
    ) x
  ), p as (
    select u.position, width_bucket(u.position, s.firsts) as run
    from s, unnest(p_positions) u (position)
  )
  select
    coalesce(array_agg(p.position order by p.position), '{}'),
    coalesce(array_agg(p.position - s.silent[p.run] order by p.position), '{}')
  into o_positions, o_ordinals
  from p, s
  where s.speaks[p.run];
end;
$$;

-- The messages at ascending positions of a block, or all where p_positions is null.
create function logloom_private.block_messages(
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
  v_counts integer[] := p_block.template_records;
  v_offset_records integer[] := p_block.offset_records;
  v_offset_digits integer[] := p_block.offset_digits;
  v_offset_bytes integer[] := p_block.offset_bytes;
  v_bytes bytea;
  v_found record;
  v_ordinal integer;
  v_next_ordinal integer;
  v_offset integer;
  v_template integer;
  v_templates text[];
  v_digits_each integer;
  v_last integer;
  v_last_digit integer;
  v_found_templates text[] := '{}';
  v_found_counts integer[] := '{}';
  v_found_places integer[] := '{}';
  v_texts text[];
begin
  if p_positions is null then
    return logloom_private.all_messages(p_block);
  -- Reading a message by its place takes several times as long as reading it in passing.
  elsif cardinality(p_positions) > p_block.records / 4 then
    return logloom_private.texts_at(logloom_private.all_messages(p_block), p_positions);
  end if;
  v_found := logloom_private.message_ordinals(p_block, p_positions);
  if v_found.o_positions = '{}' then
    return array_fill(null::text, array[cardinality(p_positions)]);
  end if;
  v_bytes := convert_to(array_to_string(p_block.templates, ''), 'UTF8');
  -- From offset to offset, and from there to the template that holds the message.
  foreach v_ordinal in array v_found.o_ordinals loop
    if v_next_ordinal is null or v_ordinal >= v_next_ordinal then
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
  v_texts := logloom_private.fill_each(
    v_found_templates, v_found_counts, v_found_places, p_block.digits || ''::bytea
  );
  if cardinality(v_found.o_positions) = cardinality(p_positions) then
    return v_texts;
  end if;
  -- Those without a message stand between the others.
  return array(
    select v_texts[array_position(v_found.o_positions, p.position)]
    from unnest(p_positions) with ordinality p (position, n)
    order by p.n
  );
end;
$$;
