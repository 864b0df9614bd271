import assert from "node:assert/strict";
import { progressLine } from "./progress.ts";

const totals = {
  events: 2000,
  bytes: 1_500_000,
  batches: 2,
  accepted: 1999,
  rejected: 1,
  reasons: [],
};

Deno.test("progress shows counts, and for files the share that is done and the time that remains", () => {
  const counts = "1,999 accepted, 1 rejected · 1.5 MB · 1,000/s";
  const cases: [number, number, string][] = [
    [25, 100, `${counts} · 25 % · 6 s left`],
    [1, 100, `${counts} · 1 % · 3 min 18 s left`],
    [1, 10_000, `${counts} · 0 % · 5 h 33 min left`],
    [100, 100, `${counts} · 100 % · 0 s left`],
  ];
  for (const [read, total, line] of cases) {
    assert.equal(progressLine(totals, 2000, { read, total }), line);
  }
  assert.equal(progressLine(totals, 2000), counts);
});
