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
