import assert from "node:assert/strict";
import { traceOf, type TraceRecord } from "./trace.ts";

let next = 0;

/** A span whose times are milliseconds. */
function span(id: string, parent: string | null, start: number, end: number, more: object = {}) {
  return record(start, {
    kind: "span",
    span_id: id,
    ...parent !== null && { parent_id: parent },
    duration_ms: end - start,
  }, more);
}

function record(at: number, attrs: Record<string, unknown>, more: object = {}): TraceRecord {
  return {
    id: String(next++),
    ts: new Date(1_800_000_000_000 + at).toISOString().replace("Z", "000Z"),
    level: "info",
    msg: String(attrs.span_id ?? "log"),
    service: "shop",
    attrs,
    ...more,
  };
}

const shown = (records: TraceRecord[]) =>
  traceOf(records).spans.map(({ id, depth }) => `${"-".repeat(depth)}${id}`);

Deno.test("parents come before their children, and siblings in the order of their starts", () => {
  const records = [
    span("c", "a", 5, 9),
    span("d", "b", 2, 3),
    span("b", "a", 1, 4),
    span("a", null, 0, 10),
  ];
  assert.deepEqual(shown(records), ["a", "-b", "--d", "-c"]);
  const { spans, start, duration } = traceOf(records);
  assert.deepEqual([start, duration], [1_800_000_000_000_000, 10_000]);
  assert.deepEqual(spans.map(({ start, duration }) => [start, duration]), [
    [0, 10_000],
    [1000, 3000],
    [2000, 1000],
    [5000, 4000],
  ]);
});

Deno.test("a span without its parent is a root that says so", () => {
  const { spans } = traceOf([span("a", null, 0, 9), span("b", "gone", 1, 4)]);
  assert.deepEqual(spans.map(({ id, depth, lacksParent }) => [id, depth, lacksParent]), [
    ["a", 0, false],
    ["b", 0, true],
  ]);
});

Deno.test("spans in a circle, its own parent, and twice the same id are all shown once", () => {
  const records = [
    span("a", "b", 0, 1),
    span("b", "a", 1, 2),
    span("s", "s", 2, 3),
    span("t", null, 3, 9),
    span("t", null, 4, 9),
    span("u", "t", 5, 6),
  ];
  assert.deepEqual(shown(records), ["s", "t", "-u", "t", "a", "-b"]);
});

Deno.test("10,000 nested spans are a tree", () => {
  const many = Array.from(
    { length: 10_000 },
    (_, n) => span(`s${n}`, n === 0 ? null : `s${n - 1}`, 0, 1),
  );
  assert.equal(traceOf(many).spans.at(-1)?.depth, 9999);
});

Deno.test("log records belong to their span, else to the trace", () => {
  const own = record(1, { parent_id: "a" });
  const logged = record(2, { span_id: "a" });
  const other = record(3, { span_id: "a", parent_id: "category-7" });
  const loose = record(30, {});
  const trace = traceOf([loose, other, logged, own, span("a", null, 0, 9)]);
  assert.deepEqual(trace.spans[0].logs, [own, logged, other]);
  assert.deepEqual(trace.logs, [loose]);
  assert.equal(trace.duration, 30_000);
});

Deno.test("the critical path is what the trace's end waited for", () => {
  const { spans } = traceOf([
    span("root", null, 0, 100),
    span("early", "root", 0, 40),
    span("beside", "root", 10, 30),
    span("late", "root", 40, 90),
    span("in late", "late", 50, 80),
    span("outlives", "late", 85, 200),
  ]);
  assert.deepEqual(
    spans.filter(({ isCritical }) => isCritical).map(({ id }) => id),
    ["root", "early", "late", "in late", "outlives"],
  );
});

Deno.test("times and durations that cannot be read are 0", () => {
  const { spans } = traceOf([
    span("a", null, 0, 1, { ts: "never" }),
    { ...span("b", null, 0, 0), attrs: { kind: "span", span_id: "b", duration_ms: "soon" } },
  ]);
  assert.deepEqual(spans.map(({ duration }) => duration), [1000, 0]);
});
