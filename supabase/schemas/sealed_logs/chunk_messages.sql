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
  -- "|| ''" reads what is stored once, not at each use.
  v_digits bytea := p_chunk.digits || ''::bytea;
  v_separator constant text := p_chunk.separator;
  v_masks text[];
  v_texts text[];
  v_wanted_digits text;
  v_found integer[];
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

  with sections as (
    select
      s.n, s.masks, s.digits, (s.last_record - s.records)::integer as before,
      (s.last_mask - s.masks)::integer as masks_before
    from (
      select
        u.*, sum(u.records) over w as last_record, sum(u.masks) over w as last_mask
      from unnest(p_chunk.section_records, p_chunk.section_masks, p_chunk.section_digits)
        with ordinality u (records, masks, digits, n)
      window w as (order by u.n)
    ) s
    where s.masks > 0 and width_bucket((s.last_record - s.records)::integer, p_positions)
      < width_bucket(s.last_record::integer, p_positions)
  ), texts as (
    select p_chunk.masks || '{}'::text[] as masks, p_chunk.mask_records || '{}'::integer[] as records
    offset 0
  ), groups as (
    -- Of each mask of these sections where its records and their digits end.
    select g.mask, g.digits, g.last - g.count as before, g.last, g.last_digit - g.count * g.digits
      as digits_before
    from sections s
    cross join texts t
    cross join lateral (
      select
        m.mask, m.count, m.digits, s.before + sum(m.count) over w as last,
        s.digits + sum(m.count * m.digits) over w as last_digit
      from (
        select u.*, octet_length(u.mask) - octet_length(replace(u.mask, '0', '')) as digits
        from unnest(
          string_to_array(t.masks[s.n], v_separator),
          t.records[s.masks_before + 1:s.masks_before + s.masks]
        ) with ordinality u (mask, count, n)
        where u.count is not null
        offset 0
      ) m
      window w as (order by m.n rows unbounded preceding)
    ) g
  ), found as (
    select
      g.mask, g.digits, p.position,
      (g.digits_before + (p.position - g.before - 1) * g.digits)::integer as place
    from groups g
    cross join lateral (
      select
        width_bucket(g.before::integer, p_positions) as lower,
        width_bucket(g.last::integer, p_positions) as upper
      offset 0
    ) b
    cross join lateral unnest(p_positions[b.lower + 1:b.upper]) p (position)
    where b.lower < b.upper
  )
  select
    array_agg(f.position order by f.position), array_agg(f.mask order by f.position),
    string_agg(
      substr(
        encode(substring(v_digits from f.place / 2 + 1 for f.digits / 2 + 1), 'hex'),
        1 + f.place % 2, f.digits
      ),
      '' order by f.position
    )
  into v_found, v_masks, v_wanted_digits
  from found f;
  if v_found is null then
    return array_fill(null::text, array[cardinality(p_positions)]);
  end if;
  v_texts := logloom_private.fill_masks(
    v_masks, array_fill(1, array[cardinality(v_masks)]), v_wanted_digits, v_separator
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

revoke all on function logloom_private.chunk_messages(
  logloom_private.sealed_chunks, integer[]
) from public;

comment on function logloom_private.chunk_messages(logloom_private.sealed_chunks, integer[]) is
  'The messages at ascending positions of a chunk, all where null.';
