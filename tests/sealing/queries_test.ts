import { deepStrictEqual } from "node:assert/strict";
import fc from "fast-check";
import { event, now, query } from "../query/random_queries.ts";
import { openDatabase } from "../support/database.ts";
import { tell } from "../support/trial_counts.ts";
import { timestamp } from "./arbitrary.ts";

// Random queries over random records, as rows and as two blocks: records, counts and aggregates
// must be equal. Repeat a run by its seed: SEALING_SEED=… SEALING_BATCHES=…

const seed = Number(Deno.env.get("SEALING_SEED") ?? Math.floor(Math.random() * 2 ** 31));
const batches = Number(Deno.env.get("SEALING_BATCHES") ?? 12);
const eventsInBatch = 24;
const queriesInBatch = 40;

interface Outcome {
  query: string;
  error: string | null;
  rows: unknown;
  sealed: unknown;
}

Deno.test(`a query finds the same records sealed as in rows, seed ${seed}`, async () => {
  await using sql = openDatabase(undefined, 1);
  await sql.unsafe(setup);
  let matching = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(event, { minLength: eventsInBatch, maxLength: eventsInBatch }),
      fc.array(query, { minLength: queriesInBatch, maxLength: queriesInBatch }),
      async (events, queries) => {
        const rows = events.map((each, n) => ({
          ...each,
          // The ids are unique. They share their beginning, like ids of a few requests.
          id: `${each.id.slice(0, 32)}${n.toString(16).padStart(4, "0")}`,
          ts: timestamp(each.ts),
          received_at: timestamp(each.received_at),
          // One field gets a dictionary, and attributes become columns of whole numbers; in half of
          // the batches the queries use one of them.
          env: events[n % 3].env,
          attrs: each.attrs && {
            ...each.attrs,
            ...events[0].level === null || events[0].level === "info" ? { a: n * n - 9 } : {},
            n: n * n - 99,
          },
        }));
        const [{ outcomes }] = await sql`
          select pg_temp.compare(
            ${JSON.stringify(rows)}::text::jsonb, ${queries}::text[], ${timestamp(now)}::timestamptz
          ) as outcomes`;
        for (const outcome of outcomes as Outcome[]) {
          deepStrictEqual(outcome.sealed, outcome.rows, JSON.stringify(outcome));
          deepStrictEqual(outcome.error, null, outcome.query);
          if (JSON.stringify(outcome.rows).includes("-")) matching++;
        }
      },
    ),
    { seed, numRuns: batches, endOnFailure: Deno.env.has("SEALING_NO_SHRINK") },
  );
  tell({ sealedQueries: batches * queriesInBatch });
  console.log(`seed ${seed}: ${batches * queriesInBatch} queries, ${matching} with matches`);
});

const setup = `
  create temporary table given (like logloom.logs);
  alter table given alter column tenant_id drop not null, alter column write_seq drop not null;
  -- Returns counts and aggregates of numbers: from rows, or as operations answer them without reading records.
  create function pg_temp.numbers(
    p_query logloom_private.compiled_query, p_at integer, p_rows text, p_tenant text
  )
  returns jsonb
  language plpgsql
  as $$
  declare
    v_part constant integer := p_at / 4 % 4;
    v_answer jsonb;
    v_source logloom_private.counted_source;
    v_aggregates jsonb;
    v_keys text[];
    -- Every second aggregate has a condition; the first three are on level and service alone.
    v_conditions constant text[] := array[
      'level:error', 'service:a*', 'level:>=warn -service:api', 'env:*', '@a:>0', '@b:null',
      '-host:api @a:5', '@"a.b":* OR -@n:>0'
    ];
    v_by constant logloom_private.compiled_query := logloom_private.compile_query(
      '| count()' || (array[
        '', ' by service', ' by level, service', ' by level', ' by env', ' by host, level',
        ' by service, attrs.b, env', ' by attrs.a', ' by user_id', ' by level, env'
      ])[case v_part when 2 then p_at % 4 else p_at % 10 end + 1]
    );
  begin
    p_query.by_fields := v_by.by_fields;
    p_query.by_sql := v_by.by_sql;
    -- Tries aggregates in turn: all together, with count, and alone.
    v_aggregates := (
      select jsonb_agg(jsonb_build_object(
        'kind', k, 'name', k, 'fraction', substring(k from '^p([0-9.]+)$')::numeric / 100,
        'field', case when k <> 'count' then jsonb_build_object(
          'field', 'attrs', 'path', array[(array['a', 'n', 'b'])[1 + p_at % 3]], 'joined', null
        ) end
      ) || case when (p_at + length(k)) % 2 = 0 then jsonb_build_object(
        'condition', (logloom_private.compile_query(
          v_conditions[1 + (p_at + length(k)) % case v_part when 2 then 3 else 8 end]
        )).tree
      ) else '{}' end)
      from unnest((array['p99.9 count', 'sum avg min max p50 p37.5 count', 'count', 'avg'])[v_part + 1:v_part + 1]) p,
        string_to_table(p, ' ') k
    );
    p_query.plan := jsonb_build_object(
      'aggregates', v_aggregates, 'by', coalesce(v_by.plan -> 'by', '[]')
    );
    if p_tenant is null then
      v_source := (
        logloom_private.rows_from(p_rows), 'count(*)', null, false
      );
    elsif v_part = 2 then
      v_source := (
        logloom_private.rows_from(
          '(' || logloom_private.sealed_counts_sql(p_tenant, p_query, '-infinity', 'infinity')
            || ') l'
        ), 'sum(l.events)', null, false
      );
    else
      p_query.ts_from := '-infinity';
      p_query.ts_to := 'infinity';
      v_source := logloom_private.groups_source(
        p_tenant, p_query, 'infinity', logloom_private.only_number(p_query)
      );
    end if;
    v_keys := coalesce(v_source.keys_sql, p_query.by_sql);
    execute 'select jsonb_agg(r order by r) from (select jsonb_build_array('
      || array_to_string(
        v_keys || logloom_private.stats_values_sql(v_aggregates, v_source, 1), ', '
      )
      || ') as r ' || logloom_private.source_sql(v_source.rows_sql)
      || case when v_keys = '{}' then '' else ' group by ' || array_to_string(v_keys, ', ') end
      || ') r'
    into v_answer;
    return jsonb_build_array(v_answer);
  end;
  $$;
  -- Groups records by the values of fields, and by the shape of messages, in the same two ways.
  create function pg_temp.groups(
    p_query logloom_private.compiled_query, p_at integer, p_rows text, p_tenant text
  )
  returns jsonb
  language plpgsql
  as $$
  declare
    v_by logloom_private.compiled_query := logloom_private.compile_query(
      '| count() by ' || (array[
        'env', 'host', 'attrs.a', 'attrs.n, level', 'service, attrs.b, env', 'user_id, req_id',
        'attrs."a.b", attrs.a', 'route'
      ])[1 + p_at % 8]
    );
    v_source logloom_private.counted_source;
    v_keys text := array_to_string(v_by.by_sql, ', ');
    v_shape constant text := format(
      'logloom_private.shape(logloom_private.rough_shape(l.%s))',
      case when p_tenant is null then 'msg' else 'template' end
    );
    v_groups jsonb;
    v_shapes jsonb;
    v_others bigint := 0;
  begin
    v_by.tree := p_query.tree;
    v_by.ts_from := '-infinity';
    v_by.ts_to := 'infinity';
    if p_tenant is not null then
      v_source := logloom_private.groups_source(p_tenant, v_by, 'infinity');
      v_keys := array_to_string(v_source.keys_sql, ', ');
    end if;
    execute 'select jsonb_agg(r order by r) from (select jsonb_build_array(' || v_keys || ', '
      || case when p_tenant is null then 'count(*)) as r from ' || p_rows else 'sum(l.events)) as r '
        || logloom_private.source_sql(v_source.rows_sql) end
      || ' group by ' || v_keys || ') q'
    into v_groups;
    execute 'select jsonb_agg(r order by r) from (select jsonb_build_array(' || v_shape || ', '
      || case when p_tenant is null then 'count(*), (extract(epoch from min(l.ts)) * 1000000)::bigint, '
          || '(extract(epoch from max(l.ts)) * 1000000)::bigint) as r from ' || p_rows
        else 'sum(l.events), min(l.first_us), max(l.last_us)) as r from '
          || 'logloom_private.sealed_patterns($1, ''-infinity'', ''infinity'', $2) l' end
      || ' group by ' || v_shape || ') q'
    into v_shapes
    using p_tenant, p_query.tree;
    if p_tenant is not null then
      -- The message at a place must have the template of its row.
      select count(*) into v_others
      from (
        select array_agg(s.place) as places, array_agg(s.template) as templates
        from logloom_private.sealed_patterns(p_tenant, '-infinity', 'infinity', p_query.tree) s
      ) s
      cross join lateral logloom_private.sealed_messages(p_tenant, s.places) m
      where array_position(s.templates, logloom_private.template_of(m.msg)) is null;
    end if;
    return jsonb_build_array(v_groups, v_shapes, v_others);
  end;
  $$;
  create function pg_temp.compare(p_events jsonb, p_queries text[], p_now timestamptz)
  returns jsonb
  language plpgsql
  as $$
  declare
    v_query logloom_private.compiled_query;
    v_outcomes jsonb := '[]';
    v_expected jsonb;
    v_found jsonb;
    v_aggregate text;
    v_source text;
    v_rows text;
  begin
    truncate given;
    insert into given select (jsonb_populate_record(null::given, e)).* from jsonb_array_elements(p_events) e;
    update given set tenant_id = 'sealed-queries', write_seq = ascii(id::text);
    delete from logloom_private.blocks c where c.tenant_id = 'sealed-queries';
    perform logloom_private.write_block(
      'sealed-queries',
      logloom_private.read_records(format('select * from given where right(id::text, 1) in %s', w))
    )
    from unnest(array['(''0'', ''1'', ''2'', ''7'', ''b'')', '(''3'', ''4'', ''5'', ''6'', ''8'', ''9'', ''a'', ''c'', ''d'', ''e'', ''f'')']) w;
    foreach v_source in array p_queries loop
      begin
        v_query := logloom_private.compile_query(v_source, p_now);
        v_query.filter := logloom_private.filter_by_scan_slot(v_query.tree);
      exception when others then
        continue;
      end;
      begin
        v_aggregate := case when v_query.aggregate is null then 'null' else
          '(select jsonb_agg(r) from (select jsonb_build_array('
          || array_to_string(v_query.by_sql || v_query.aggregate_sql, ', ') || ') as r from %1$s l'
          || case when v_query.by_sql = '{}' then '' else ' group by '
            || array_to_string(v_query.by_sql, ', ') end || ' order by 1) q)' end;
        execute replace(
          'select jsonb_build_array((select jsonb_agg(to_jsonb(l) order by l.ts, l.id) from %1$s l), '
            || '(select count(*) from %1$s l), ' || v_aggregate || ')',
          '%1$s', '(select l.* from given l where ' || v_query.filter || ')'
        )
        into v_expected;
        execute 'select jsonb_build_array((select jsonb_agg(to_jsonb(l) order by l.ts, l.id) '
          || 'from logloom_private.sealed_rows(''sealed-queries'', ''-infinity'', ''infinity'', $1, null) l), '
          || '(select coalesce(sum(l.events), 0) from logloom_private.sealed_counts(''sealed-queries'', ''-infinity'', ''infinity'', $1) l), '
          || replace(v_aggregate, '%1$s', 'logloom_private.sealed_rows(''sealed-queries'', ''-infinity'', ''infinity'', $1, $2)')
          || ')'
        into v_found
        using v_query.tree,
          logloom_private.query_reads(jsonb_build_array(v_query.tree, v_query.plan));
        v_rows := format('(select l.* from given l where %s) l', v_query.filter);
        v_expected := v_expected
          || pg_temp.numbers(v_query, jsonb_array_length(v_outcomes), v_rows, null)
          || pg_temp.groups(v_query, jsonb_array_length(v_outcomes), v_rows, null);
        v_found := v_found
          || pg_temp.numbers(v_query, jsonb_array_length(v_outcomes), null, 'sealed-queries')
          || pg_temp.groups(v_query, jsonb_array_length(v_outcomes), null, 'sealed-queries');
        v_outcomes := v_outcomes || jsonb_build_object(
          'query', v_source, 'error', null, 'rows', v_expected, 'sealed', v_found
        );
      exception when others then
        v_outcomes := v_outcomes || jsonb_build_object(
          'query', v_source, 'error', sqlstate || ': ' || sqlerrm, 'rows', null, 'sealed', null
        );
      end;
    end loop;
    return v_outcomes;
  end;
  $$;
`;
