import assert from "node:assert/strict";
import { lockedFolders, otherLicences } from "./dependencies.ts";

Deno.test("every dependency has an allowed licence", async () => {
  const folders = await lockedFolders();
  assert.ok(folders.length >= 4, "the lock files are found");
  for (const folder of folders) {
    const lock = JSON.parse(await Deno.readTextFile(`${folder}/package-lock.json`));
    assert.deepEqual(otherLicences(lock), [], folder);
  }
});

Deno.test("a licence that is not allowed is found", () => {
  const packages = {
    "": { license: "GPL-3.0" },
    "node_modules/a": { license: "MIT" },
    "node_modules/b": { license: "(MIT OR GPL-3.0)" },
    "node_modules/c": { license: "MIT AND GPL-3.0" },
    "node_modules/d": {},
    "node_modules/e": { link: true },
  };
  assert.deepEqual(otherLicences({ packages }), [
    "node_modules/c: MIT AND GPL-3.0",
    "node_modules/d: no licence",
  ]);
});
