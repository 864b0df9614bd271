import assert from "node:assert/strict";

/** What Postgres accepts: no NUL, no half surrogate pair, no deep nesting, parallel arrays. */
export function assertStorable(sent: string): void {
  assert.ok(sent.isWellFormed());
  const escapes = sent.match(/\\(?:u[0-9a-f]{4}|.)/g) ?? [];
  assert.ok(!escapes.some((escape) => /^\\u(?:0000|d[89a-f])/.test(escape)));
  let depth = 0;
  let deepest = 0;
  for (const [token] of sent.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{}]/gs)) {
    if (token === "[" || token === "{") deepest = Math.max(deepest, ++depth);
    if (token === "]" || token === "}") depth--;
  }
  assert.equal(depth, 0);
  assert.ok(deepest <= 66, String(deepest));
  const parameters: Record<string, unknown> = JSON.parse(sent);
  const { p_ts: ts, p_positions: positions } = parameters;
  if (ts === undefined) return;
  assert.ok(Array.isArray(ts));
  assert.ok(positions === undefined || Array.isArray(positions) && positions.length === ts.length);
  for (const [name, column] of Object.entries(parameters)) {
    if (!Array.isArray(column) || name === "p_errors") continue;
    assert.equal(column.length, ts.length, name);
    for (const value of column) {
      if (value === null || name === "p_positions") continue;
      assert.equal(typeof value, name === "p_attrs" ? "object" : "string");
    }
  }
}
