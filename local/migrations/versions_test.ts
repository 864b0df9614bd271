import assert from "node:assert/strict";
import { migrations } from "./released.ts";
import { followingVersion, isTime } from "../../packages/logloom/src/cli/guest/versions.ts";

Deno.test("the version of each migration is a valid time", async () => {
  const names = await migrations();
  assert.ok(names.length > 2);
  assert.deepEqual(names.filter((name) => !isTime(name.slice(0, 14))), []);
});

Deno.test("times outside the calendar or clock are invalid", () => {
  for (const version of ["20261121000100", "20240229235959", "99991231235959"]) {
    assert.ok(isTime(version), version);
  }
  for (
    const version of [
      "20261121235960",
      "20261121006000",
      "20261121240000",
      "20260229000000",
      "20261301000000",
      "20260001000000",
      "20261121",
      "2026112123595900",
      "x",
    ]
  ) assert.ok(!isTime(version), version);
});

Deno.test("the version after another one is a valid time, and sorts after it", () => {
  for (
    const [version, following] of [
      ["20261121000100", "20261121000101"],
      ["20261121000159", "20261121000200"],
      ["20261121235959", "20261122000000"],
      ["20281231235959", "20290101000000"],
      ["20240228235959", "20240229000000"],
      // Versions that are not times, as in some projects.
      ["20261121000160", "20261121000200"],
      ["20261121006000", "20261121010000"],
      ["20261121990000", "20261122000000"],
      ["20260230000000", "20260301000000"],
      ["20260299999999", "20260301000000"],
      ["20260100000001", "20260101000000"],
      ["20261301000000", "20270101000000"],
      ["20260000000000", "20260101000000"],
      ["20261201", "20261202000000"],
      ["202612", "20270101000000"],
      ["3", "40000101000000"],
      ["2026112123595912", "20261122000000"],
      ["99991231235958", "99991231235959"],
      ["99991231235959", null],
      ["99999999999999", null],
    ] as const
  ) {
    assert.equal(followingVersion(version), following, version);
    if (following === null) continue;
    assert.ok(isTime(following) && following > version, version);
    assert.ok(`${following}_` > `${version}_`, version);
  }
});
