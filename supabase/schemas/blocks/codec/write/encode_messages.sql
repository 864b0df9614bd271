-- Adds runs, templates and digits to a block, and decides the positions of its records. The given
-- arrays are in the order of ts and id.
create function logloom_private.encode_messages(
  p_block logloom_private.blocks,
  p_services text[],
  p_levels text[],
  p_messages text[],
  out o_block logloom_private.blocks,
  -- o_order[position]: the place of the record in the given arrays.
  out o_order integer[]
)
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
set work_mem = '48MB'
-- The planner expects 16 kB for the array of each group, but it needs less than 2 kB.
set hash_mem_multiplier = 8
as $$
declare
  v_templates text[];
  v_texts text[];
begin
  o_block := p_block;
  o_block.separator := logloom_private.separator_for(array_to_string(p_messages, ' '));
  v_templates := logloom_private.templates_of(p_messages, o_block.separator);
  -- Group records by service, level and template. array_agg keeps the records of a group in the
  -- order of ts and id.
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
