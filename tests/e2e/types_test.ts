import assert from "node:assert/strict";
import { checkout } from "../../local/stack.ts";
import { reads } from "../../packages/logloom/src/read/service.ts";
import { generated } from "../../types/generate.ts";
import { openDatabase } from "../support/database.ts";
import { stack } from "../support/stack.ts";

Deno.test("the generated types are current (else: deno run -A types/generate.ts)", async () => {
  const text = await Deno.readTextFile(`${checkout}/types/database.ts`);
  assert.equal(text, await generated(stack.databaseUrl));
});

Deno.test("the client has every operation of users, and retries only the reading ones", async () => {
  await using sql = openDatabase();
  const operations = await sql<{ name: string; changes: boolean }[]>`
    select p.proname as name, p.provolatile = 'v' as changes
    from pg_proc p
    where p.pronamespace = 'public'::regnamespace
      and (has_function_privilege('authenticated', p.oid, 'execute') or p.proname = 'set_log_plans')
    order by p.proname`;
  const types = await Deno.readTextFile(`${checkout}/packages/logloom/src/read/types.ts`);
  const [answers] = /(?<=^export interface Answers \{\n)[\s\S]*?(?=^\})/m.exec(types)!;
  assert.deepEqual(
    [...answers.matchAll(/^ {2}(\w+):/gm)].map(([, name]) => name),
    operations.map(({ name }) => name),
  );
  const again = operations.filter(({ name }) => reads.test(name));
  // get_tenant_usage is volatile because it waits for a lock; preview_tenant_files undoes its changes; run_saved_search
  // counts its runs.
  assert.deepEqual(
    again.filter(({ changes }) => changes).map(({ name }) => name),
    ["get_tenant_usage", "preview_tenant_files", "run_saved_search"],
  );
  assert.deepEqual(operations.filter(({ name, changes }) => !changes && !reads.test(name)), []);
});
