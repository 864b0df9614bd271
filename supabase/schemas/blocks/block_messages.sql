-- The messages of a block at positions, all where null.
-- The messages at ascending positions of a block, all where null.
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
set work_mem = '32MB'
as $$
declare
  -- "|| ''" reads what is stored once, not at each use.
  v_digits bytea := p_block.digits || ''::bytea;
  v_separator constant text := p_block.separator;
  v_templates text[];
  v_texts text[];
  v_counts integer[] := p_block.template_records;
  v_mark_records integer[] := p_block.offset_records;
  v_mark_digits integer[] := p_block.offset_digits;
  v_mark_bytes integer[] := p_block.offset_bytes;
  v_bytes bytea;
  v_found integer[];
  v_ordinals integer[];
  v_ordinal integer;
  v_next_ordinal integer;
  v_mark integer;
  v_template integer;
  v_count integer;
  v_digits_each integer;
  v_last integer;
  v_last_digit integer;
  v_found_templates text[] := '{}';
  v_lengths integer[] := '{}';
  v_places integer[] := '{}';
begin
  -- Reading a message by its place takes several times as long as reading it in passing.
  if cardinality(p_positions) > p_block.records / 4 then
    v_texts := logloom_private.block_messages(p_block, null);
    return logloom_private.texts_at(v_texts, p_positions);
  elsif p_positions is null then
    -- A run's templates end each with the separator; a run without messages has none.
    v_templates := string_to_array(array_to_string(p_block.templates, ''), v_separator);
    v_templates := v_templates[:cardinality(v_templates) - 1];
    v_texts := logloom_private.fill_templates(
      v_templates, p_block.template_records, v_digits, v_separator
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
  end if;

  -- Those that have a message, and which of the block's messages it is.
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
    array_agg(p.position order by p.position),
    array_agg(p.position - s.silent[p.run] order by p.position)
  into v_found, v_ordinals
  from p, s
  where s.speaks[p.run];
  if v_found is null then
    return array_fill(null::text, array[cardinality(p_positions)]);
  end if;
  v_bytes := convert_to(array_to_string(p_block.templates, ''), 'UTF8');
  -- From mark to mark, and from there to the template that holds the message.
  foreach v_ordinal in array v_ordinals loop
    if v_next_ordinal is null or v_ordinal >= v_next_ordinal then
      v_mark := width_bucket(v_ordinal - 1, v_mark_records);
      v_next_ordinal := coalesce(v_mark_records[v_mark + 1], p_block.records) + 1;
      v_template := 0;
      v_last := v_mark_records[v_mark];
      v_last_digit := v_mark_digits[v_mark];
      v_templates := string_to_array(
        convert_from(
          substring(
            v_bytes from v_mark_bytes[v_mark] + 1
            for coalesce(v_mark_bytes[v_mark + 1], octet_length(v_bytes)) - v_mark_bytes[v_mark]
          ),
          'UTF8'
        ),
        v_separator
      );
    end if;
    while v_last < v_ordinal loop
      v_template := v_template + 1;
      v_count := v_counts[16 * (v_mark - 1) + v_template];
      v_digits_each := octet_length(v_templates[v_template])
        - octet_length(replace(v_templates[v_template], '0', ''));
      v_last := v_last + v_count;
      v_last_digit := v_last_digit + v_count * v_digits_each;
    end loop;
    v_found_templates := v_found_templates || v_templates[v_template];
    v_lengths := v_lengths || v_digits_each;
    v_places := v_places || v_last_digit - (v_last - v_ordinal + 1) * v_digits_each;
  end loop;
  v_texts := array(
    select
      case
        when f.length = 0 then f.template
        when f.length > 1000 then logloom_private.fill_template(f.template, v_digits, f.place)
        else format(
          replace(replace(f.template, '%', '%%'), '0', '%s'),
          variadic string_to_array(
            substr(
              encode(substring(v_digits from f.place / 2 + 1 for f.length / 2 + 1), 'hex'),
              1 + f.place % 2, f.length
            ),
            null
          )
        )
      end
    from unnest(v_found_templates, v_lengths, v_places)
      with ordinality f (template, length, place, n)
    order by f.n
  );
  if cardinality(v_found) = cardinality(p_positions) then
    return v_texts;
  end if;
  -- Those without a message stand between the others.
  return array(
    select v_texts[array_position(v_found, p.position)]
    from unnest(p_positions) with ordinality p (position, n)
    order by p.n
  );
end;
$$;
