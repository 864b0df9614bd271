import { deepStrictEqual } from "node:assert/strict";
import fc from "fast-check";
import { openDatabase } from "../support/database.ts";
import { ofTexts } from "../support/each_text_field.ts";
import { type Row, row } from "./arbitrary.ts";

// Random records become a block and are read back: each field must be equal, whichever positions
// are read. Repeat a run by its seed: SEALING_SEED=… SEALING_BATCHES=…

const seed = Number(Deno.env.get("SEALING_SEED") ?? Math.floor(Math.random() * 2 ** 31));
const batches = Number(Deno.env.get("SEALING_BATCHES") ?? 40);

Deno.test(`sealed records are read back unchanged, seed ${seed}`, async () => {
  await using sql = openDatabase(undefined, 1);
  await sql.unsafe("create temporary table given (like logloom.logs)");
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(row, { minLength: 1, maxLength: 120, selector: (r) => r.id + r.ts }),
      fc.array(fc.nat(119), { maxLength: 20 }),
      (rows, wanted) => agree(sql, rows, wanted),
    ),
    { seed, numRuns: batches },
  );
});

Deno.test("records as large as a request are sealed and read back", async () => {
  await using sql = openDatabase(undefined, 1);
  await sql.unsafe("create temporary table given (like logloom.logs)");
  const large = "Größe 12345 🚀 ".repeat(25_000);
  const rows = [large, large.slice(1), "\u001e".repeat(500_000), "7".repeat(512_000)].map((
    msg,
    n,
  ) => ({
    ts: `2026-11-02T00:00:0${n}Z`,
    received_at: "2026-11-02T00:00:09Z",
    write_seq: 1,
    id: `019a9e8f-9000-7e50-8eb7-598b5803000${n}`,
    level: "info",
    ...ofTexts(() => null),
    msg,
    service: "api",
    req_id: msg.slice(0, 40_000),
    attrs: JSON.stringify({ body: msg, [`k${n}`]: Array.from({ length: 5000 }, (_, i) => i) }),
  }));
  await agree(sql, rows, [0, 2]);
});

async function agree(sql: ReturnType<typeof openDatabase>, rows: Row[], wanted: number[]) {
  await sql.begin(async (tx) => {
    await tx.unsafe("truncate given");
    await tx.unsafe(
      `insert into given
      select p.*
      from jsonb_array_elements($1::text::jsonb) r,
        jsonb_populate_record(
          null::logloom.logs,
          r || jsonb_build_object('tenant_id', 'round-trip', 'attrs', (r ->> 'attrs')::jsonb)
        ) p`,
      [JSON.stringify(rows)],
    );
    const [{ block_id }] = await tx.unsafe(
      `select b.block_id
      from logloom_private.write_block(
        'round-trip', logloom_private.read_records('select * from given')
      ) b`,
    );
    const given = await tx.unsafe(
      `select ${columns} from given r order by r.service collate "C", r.level collate "C",
        logloom_private.template_of(r.msg) collate "C" nulls last, r.ts, r.id`,
    );
    const read = async (positions: string) =>
      await tx.unsafe(
        `select ${columns} from logloom_private.blocks c,
          logloom_private.sealed_records(c, ${positions}, null) r
        where c.block_id = ${block_id}`,
      );
    deepStrictEqual([...await read("null")], [...given]);
    const positions = [...new Set(wanted.filter((n) => n < rows.length))].sort((a, b) => a - b);
    deepStrictEqual(
      [...await read(`'{${positions.map((n) => n + 1)}}'::integer[]`)],
      positions.map((n) => given[n]),
    );
    const [{ differing }] = await tx.unsafe(
      `with times as materialized (
        select t.n as position, t.ts
        from logloom_private.blocks c,
          unnest(logloom_private.block_times(c, null)) with ordinality t (ts, n)
        where c.block_id = ${block_id}
      ), ranges as (
        select reversed.yes as reversed, r.*
        from unnest('{t,f}'::boolean[]) reversed (yes)
        cross join lateral (
          select null::timestamptz as past, '-infinity'::timestamptz as first,
            'infinity'::timestamptz as until
          union all
          -- The page after a record, and ranges that cut the block.
          select t.ts, case when reversed.yes then '-infinity' else t.ts end,
            case when reversed.yes then t.ts + interval '1 microsecond' else 'infinity' end
          from times t where t.position in (1, 3, 20)
          union all
          select null, t.ts, t.ts + interval '10 minutes' from times t where t.position in (2, 9)
        ) r
      )
      select array_agg(row(limits.n, ranges)::text) as differing
      from logloom_private.blocks c
      cross join unnest('{1,2,7,40,1000}'::integer[]) limits (n)
      cross join ranges
      cross join lateral (
        select coalesce(array_agg(r.position::integer order by r.position), '{}') as positions
        from (
          select t.position, t.ts is not distinct from ranges.past as is_past, rank() over (
            partition by t.ts is not distinct from ranges.past
            order by case when ranges.reversed then t.ts end desc, t.ts
          ) as rank
          from times t
          where t.ts >= ranges.first and t.ts < ranges.until
        ) r
        where r.is_past or r.rank <= limits.n
      ) expected
      where c.block_id = ${block_id} and expected.positions <> logloom_private.first_positions(
        c, null, limits.n, ranges.reversed, ranges.past, ranges.first, ranges.until
      )`,
    );
    deepStrictEqual(differing, null, "the newest and the oldest");
    await tx.unsafe("delete from logloom_private.blocks where block_id = $1", [block_id]);
  });
}

const columns = `to_jsonb(r) - 'attrs' as record, r.attrs::text as attrs, r.msg is null as no_msg`;
