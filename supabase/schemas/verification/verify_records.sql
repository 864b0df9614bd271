-- How a tenant's records in [p_from, p_to), whole minutes of a UTC day, differ from their counts
-- and from each other, and how many there are. All of it in one statement, so of one snapshot: the
-- statements that change records change their counts too. Counts that a block holds itself are its
-- records, and there is nothing to compare. A block that the verification found damaged is left
-- out, and so are the counts where there is one.
create function logloom_private.verify_records(
  p_verification_id bigint,
  p_tenant_id text,
  p_from timestamptz,
  p_to timestamptz
)
returns table (records bigint, kinds text[], details text[])
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query execute
  $query$
    with records as materialized (
      select l.id, l.ts, l.service, l.level, true as is_counted
      from logloom.logs l
      where l.tenant_id = $1 and l.ts >= $2 and l.ts < $3
      union all
      select r.id, r.ts, r.service, r.level, not b.holds_counts
      from logloom_private.blocks b,
        logloom_private.block_records(
          b.tenant_id, b.block_id, null, array['id', 'ts', 'service', 'level']
        ) r
      where b.tenant_id = $1 and b.last_ts >= $2 and b.first_ts < $3
        and r.ts >= $2 and r.ts < $3 and b.block_id <> all ($4)
    ), counts as materialized (
      select c.*
      from logloom_private.log_counts c
      where c.tenant_id = $1 and c.minute >= $2 and c.minute < $3
    ), sides as (
      select date_bin('1 minute', r.ts, 'epoch') as minute, r.service, r.level, count(*) as events
      from records r
      where r.is_counted
      group by 1, 2, 3
      union all
      select c.minute, c.service, c.level, -c.events
      from counts c
    ), counted as (
      select
        s.minute, s.level, sum(s.events) as difference,
        -- Where services were counted together, none can be told from the counts.
        case when not exists (
          select from counts c where c.is_other and c.minute = s.minute
        ) then s.service end as service
      from sides s
      group by s.minute, s.level, 4
      having sum(s.events) <> 0
    ), doubled as (
      select r.id, count(*) as times from records r group by r.id having count(*) > 1
    ), found as (
      (
        select
          'count' as kind,
          format(
            '%s: %s records more than counted of service %s, level %s', c.minute, c.difference,
            coalesce(to_json(left(c.service, 100))::text, 'none'), coalesce(c.level, 'none')
          ) as detail
        from counted c
        where cardinality($4) = 0
        order by c.minute
        limit 100
      )
      union all
      (
        select 'id', format('%s is there %s times', d.id, d.times)
        from doubled d
        order by d.id
        limit 100
      )
    )
    select
      (select count(*) from records),
      array(select f.kind from found f order by f.kind, f.detail),
      array(select f.detail from found f order by f.kind, f.detail)
  $query$
  using
    p_tenant_id, p_from, p_to,
    array(
      select b.block_id
      from logloom_private.blocks b
      where b.tenant_id = p_tenant_id and b.last_ts >= p_from and b.first_ts < p_to
        and exists (
          select
          from logloom_private.verification_differences d
          where d.verification_id = p_verification_id and d.block_id = b.block_id
        )
    );
end;
$$;
