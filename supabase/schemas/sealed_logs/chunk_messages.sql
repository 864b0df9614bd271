-- The messages of a chunk at positions, all where null.
create function logloom_private.chunk_messages(
  p_chunk logloom_private.sealed_chunks,
  p_positions integer[]
)
returns text[]
language plpgsql
stable
parallel safe
security invoker
set search_path = ''
set work_mem = '32MB'
as $$
declare
  v_digits bytea := p_chunk.digits;
  v_separator constant text := p_chunk.separator;
  v_records integer[] := p_chunk.section_records;
  v_counts integer[] := p_chunk.section_masks;
  v_digits_before integer[] := p_chunk.section_digits;
  v_section_masks text[] := p_chunk.masks;
  v_mask_records integer[] := p_chunk.mask_records;
  v_masks text[];
  v_texts text[] := '{}';
  v_wanted text[];
  v_wanted_digits text;
  v_before integer := 0;
  v_mask integer := 0;
  v_lower integer;
  v_upper integer;
begin
  -- Reading a message by its place takes several times as long as reading it in passing.
  if cardinality(p_positions) > p_chunk.records / 4 then
    v_texts := logloom_private.chunk_messages(p_chunk, null);
    return logloom_private.texts_at(v_texts, p_positions);
  elsif p_positions is null then
    -- A section's masks end each with the separator; a section without messages has none.
    v_masks := string_to_array(array_to_string(p_chunk.masks, ''), v_separator);
    v_masks := v_masks[:cardinality(v_masks) - 1];
    v_texts := logloom_private.fill_masks(
      v_masks, p_chunk.mask_records, encode(v_digits, 'hex'), v_separator
    );
    if array_position(p_chunk.section_masks, 0) is null then
      return v_texts;
    end if;
    -- Sections without messages stand between the others.
    return array(
      select case when s.masks > 0 then v_texts[s.before + i] end
      from (
        select
          x.n, x.records, x.masks,
          sum(case when x.masks > 0 then x.records else 0 end) over (order by x.n)
            - case when x.masks > 0 then x.records else 0 end as before
        from unnest(p_chunk.section_records, p_chunk.section_masks)
          with ordinality x (records, masks, n)
      ) s, generate_series(1, s.records) i
      order by s.n, i
    );
  end if;

  for v_section in 1..cardinality(v_records) loop
    -- Those of the wanted positions that lie within the section.
    v_lower := width_bucket(v_before, p_positions) + 1;
    v_upper := width_bucket(v_before + v_records[v_section], p_positions);
    if v_lower <= v_upper and v_counts[v_section] = 0 then
      v_texts := v_texts || array_fill(null::text, array[v_upper - v_lower + 1]);
    elsif v_lower <= v_upper then
      v_masks := string_to_array(v_section_masks[v_section], v_separator);
      with starts as (
        select
          array_agg(m.before + 1 order by m.n) as starts,
          array_agg(m.digits order by m.n) as digits,
          array_agg(m.digits_before order by m.n) as digits_before
        from (
          select
            k.n, k.digits,
            sum(k.count) over (order by k.n) - k.count as before,
            v_digits_before[v_section] + sum(k.count * k.digits) over (order by k.n)
              - k.count * k.digits as digits_before
          from (
            select
              u.n, u.count, octet_length(u.mask) - octet_length(replace(u.mask, '0', '')) as digits
            from unnest(
              v_masks, v_mask_records[v_mask + 1:v_mask + v_counts[v_section]]
            ) with ordinality u (mask, count, n)
            where u.count is not null
          ) k
        ) m
      ), placed as (
        select p.n, s.*, p.position, width_bucket(p.position, s.starts) as mask
        from (
          select u.position - v_before as position, u.n
          from unnest(p_positions[v_lower:v_upper]) with ordinality u (position, n)
        ) p, starts s
      ), found as (
        select
          p.n, p.mask, p.digits[p.mask] as digits,
          (p.digits_before[p.mask]
            + (p.position - p.starts[p.mask]) * p.digits[p.mask])::integer as place
        from placed p
      )
      select
        array_agg(v_masks[f.mask] order by f.n),
        string_agg(
          substr(
            encode(substring(v_digits from f.place / 2 + 1 for f.digits / 2 + 1), 'hex'),
            1 + f.place % 2, f.digits
          ),
          '' order by f.n
        )
      into v_wanted, v_wanted_digits
      from found f;
      v_texts := v_texts || logloom_private.fill_masks(
        v_wanted, array_fill(1, array[cardinality(v_wanted)]), v_wanted_digits, v_separator
      );
    end if;
    v_before := v_before + v_records[v_section];
    v_mask := v_mask + v_counts[v_section];
  end loop;
  return v_texts;
end;
$$;

revoke all on function logloom_private.chunk_messages(
  logloom_private.sealed_chunks, integer[]
) from public;

comment on function logloom_private.chunk_messages(logloom_private.sealed_chunks, integer[]) is
  'The messages at ascending positions of a chunk, all where null.';
