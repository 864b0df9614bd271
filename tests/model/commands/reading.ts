import assert from "node:assert/strict";
import fc from "fast-check";
import type { LogRecord } from "../../../packages/logloom/src/read.ts";
import { days, filter, rangeOf } from "../random_values.ts";
import { all, assertFound, numbersOf, onOneDay, timesOf } from "../assertions.ts";
import { command } from "../command.ts";
import { sealOf } from "../sealing.ts";
import { everything, today } from "../tenant_model.ts";

const order = fc.constantFrom("asc" as const, "desc" as const);

const search = command("search", { filter, days, order }, async (
  { known, real, service },
  { filter, days, order },
) => {
  await service.settle();
  await onOneDay(async (today) => {
    const range = rangeOf(days);
    const found = await all(real.asOwner, filter, range, order);
    assertFound(found, known.found(filter, range, today), order);
  });
});

/** Pages through records. A day may be sealed or unsealed between pages. */
const page = command("page", {
  filter,
  order,
  limit: fc.integer({ min: 1, max: 9 }),
  between: fc.constantFrom("nothing", "seal", "unseal"),
}, async (at, { filter, order, limit, between }) => {
  const { known, real, service } = at;
  await service.settle();
  await onOneDay(async (today) => {
    const range = everything();
    const found: LogRecord[] = [];
    let cursor: string | undefined;
    do {
      const page = await real.asOwner.search(filter, { ...timesOf(range), order, limit, cursor });
      assert.ok(page.logs.length <= limit);
      found.push(...page.logs);
      cursor = page.next_cursor ?? undefined;
      if (between !== "nothing") await sealOf(at, found.length, between);
    } while (cursor !== undefined);
    assertFound(found, known.found(filter, range, today), order);
  });
});

/** Exports records. Records of the newest half minute may be missing. */
const exported = command("export", { filter, order }, async (
  { known, real, service },
  { filter, order },
) => {
  await service.settle();
  await onOneDay(async (today) => {
    const sure = Date.now() - 60_000;
    const pages = await Array.fromAsync(
      real.asOwner.export(filter, { ...timesOf(everything()), order }),
    );
    const lines = pages.flatMap(({ text }) => (text ?? "").split("\n").filter((line) => line));
    const found = lines.map((line): LogRecord => JSON.parse(line));
    const numbers = new Set(numbersOf(found));
    const expected = known.found(filter, everything(), today).filter(({ attrs }) =>
      numbers.has(attrs.n) || (known.acknowledgedAt.get(attrs.n) ?? 0) < sure
    );
    assertFound(found, expected, order);
  });
});

const aggregate = command(
  "aggregate",
  { filter, days, by: fc.constantFrom("level", "service") },
  async ({ known, real, service }, { filter, days, by }) => {
    await service.settle();
    await onOneDay(async (today) => {
      const range = rangeOf(days);
      const query =
        `${filter} | count() as n, sum(attrs.size) as total, max(attrs.n) as newest by ${by}`;
      const rows = await real.asOwner.stats(query, timesOf(range));
      const groups = Map.groupBy(known.found(filter, range, today), (one) => one[by]);
      assert.deepEqual(
        new Map(rows.map(({ group, values }) => [group[by], { ...values }])),
        new Map(
          [...groups].map(([name, records]) => [name, {
            n: records.length,
            total: records.reduce((sum, { attrs }) => sum + attrs.size, 0),
            newest: Math.max(...records.map(({ attrs }) => attrs.n)),
          }]),
        ),
      );
    });
  },
);

/** The tail returns everything since the last one, once. */
const tail = command("tail", { limit: fc.constantFrom(2, 1000) }, async (
  { known, real, service },
  { limit },
) => {
  await service.settle();
  const found: LogRecord[] = [];
  for (let more = true; more;) {
    const page = await real.asOwner.call("tail_logs", {
      p_query_dsl: "",
      p_limit: limit,
      p_cursor: known.tailCursor,
    });
    found.push(...page.logs);
    known.tailCursor = page.next_cursor;
    more = page.more;
  }
  assert.deepEqual(
    numbersOf(found),
    numbersOf(known.untailed.filter(({ ts }) => known.keeps(ts, today()))),
  );
  known.untailed = [];
});

export const reading = { search, page, exported, aggregate, tail };
