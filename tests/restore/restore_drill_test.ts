import assert from "node:assert/strict";
import { exists } from "../../local/files.ts";
import { checkout, stackNamed } from "../../local/stack.ts";
import { ingest, newTenant } from "../support/client.ts";
import { openDatabase, recordsOf } from "../support/database.ts";
import { Sender } from "../support/sender.ts";
import { stack, system } from "../support/second_server.ts";

async function drill(): Promise<{ code: number; text: string }> {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--allow-all", `${checkout}/local/restore_drill.ts`, `--stack=${stack.name}`],
    stdin: "null",
  }).output();
  const decoder = new TextDecoder();
  return { code, text: decoder.decode(stdout) + decoder.decode(stderr) };
}

async function assertNothingIsLeft(): Promise<void> {
  const copy = stackNamed("drill");
  assert.ok(!await exists(copy.folder));
  assert.ok(!await exists(system.outside(system.folder(copy))));
}

Deno.test("a drill restores while events arrive, and reports what would be lost", async () => {
  const sender = new Sender(await newTenant("drill"), { eventsPerRequest: 10, mostPerSecond: 100 });
  await sender.send(20);
  sender.start();
  const { code, text } = await drill();
  await sender.stop();
  assert.equal(code, 0, text);
  for (const step of ["dump", "restore", "repair", "write", "verify"]) {
    assert.match(text, new RegExp(`^${step} +\\d+\\.\\d s`, "m"));
  }
  const records = Number(/^([\d,]+) records? of \d+ tenants?/m.exec(text)?.[1].replaceAll(",", ""));
  const lost = Number(/^([\d,]+) events? acknowledged since/m.exec(text)?.[1].replaceAll(",", ""));
  assert.ok(records >= 200, text);
  assert.ok(lost > 0 && lost < sender.acknowledged, text);
  assert.match(text, /^0 differences found\.$/m);
  await assertNothingIsLeft();
});

Deno.test("a drill that finds a difference names it and fails", async () => {
  await using sql = openDatabase();
  const tenant = await newTenant("damaged");
  await ingest(tenant.headers, [{ level: "error", service: "shop", msg: "one" }]);
  await recordsOf(sql, tenant.id, 1);
  const countAs = (more: number) =>
    sql`
      update logloom_private.log_counts set events = events + ${more}
      where tenant_id = ${tenant.id}`;
  await countAs(1);
  try {
    const { code, text } = await drill();
    assert.equal(code, 1, text);
    assert.match(text, /^1 difference found\.$/m);
    assert.match(
      text,
      new RegExp(`count of ${tenant.id}, .*-1 more records than counted for service "shop"`),
    );
    await assertNothingIsLeft();
  } finally {
    await countAs(-1);
    // Otherwise health would report the difference in later tests.
    await sql`delete from logloom_private.verifications`;
  }
});
