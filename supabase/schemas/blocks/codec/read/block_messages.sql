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
  -- The templates of a run end with the separator. A run without messages has no templates.
  v_templates constant text[] := string_to_array(
    array_to_string(p_block.templates, ''), p_block.separator
  );
  v_texts text[];
begin
  v_texts := logloom_private.fill_templates(
    v_templates[:cardinality(v_templates) - 1], p_block.template_records,
    -- "|| ''" reads the stored value once, not at each use.
    p_block.digits || ''::bytea, p_block.separator
  );
  if array_position(p_block.run_templates, 0) is null then
    return v_texts;
  end if;
  -- Insert the nulls of the runs without messages.
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

-- Returns the messages at p_positions of a block (ascending).
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
  -- How many records up to the end of the current run have no message.
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
    -- Jump to the nearest stored offset. From there, go on template by template to the wanted one.
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
