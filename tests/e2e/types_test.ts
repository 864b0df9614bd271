import assert from "node:assert/strict";
import { checkout } from "../../local/stack.ts";
import { databaseTypes } from "../../types/generate.ts";
import { stack } from "../support/stack.ts";

Deno.test("types/database.ts is what the database says (else: deno run -A types/generate.ts)", async () => {
  assert.equal(
    await Deno.readTextFile(`${checkout}/types/database.ts`),
    await databaseTypes(stack.databaseUrl),
  );
});
