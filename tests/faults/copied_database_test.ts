import assert from "node:assert/strict";
import { dirname } from "node:path";
import { createKey, health, ingest, newTenant } from "../support/client.ts";
import { changeSettings, openDatabase, recordsOf } from "../support/database.ts";
import { eventually } from "../support/eventually.ts";
import { receiveWebhooks } from "../support/receivers.ts";
import { stack } from "../support/stack.ts";
import { newStream } from "../support/streams.ts";

/** Returns the log of the function logloom-stream. */
async function streamLog(): Promise<string> {
  const folder = `${dirname(stack.stateFile)}/logs`;
  const names = [...Deno.readDirSync(folder)].map(({ name }) => name)
    .filter((name) => name.startsWith("logloom-stream"));
  return (await Promise.all(names.map((name) => Deno.readTextFile(`${folder}/${name}`)))).join();
}

Deno.test("a copy of the database sends nothing until begin_anew, then only new records", async () => {
  await using sql = openDatabase();
  await using _settings = await changeSettings(sql, { stream_interval: "0" });
  await using receiver = receiveWebhooks();
  const tenant = await newTenant("copied");
  const { key_value } = await createKey(tenant);
  await newStream(tenant, { p_kind: "webhook", p_config: { url: receiver.url } });
  const send = (msg: string) => ingest({ "x-api-key": key_value }, [{ msg }]);
  const sent = async (count: number) =>
    (await receiver.wait(count)).map(({ body }) => JSON.parse(body)[0].msg);
  await send("before");
  assert.deepEqual(await sent(1), ["before"]);

  // Simulates that this database is a copy of another project's.
  await sql`update logloom_private.installation set project_url = 'https://first.example'`;
  await send("between");
  await recordsOf(sql, tenant.id, 2);
  await eventually(
    "the function was woken, and refused",
    async () =>
      (await streamLog()).includes("This database belongs to the project https://first.example"),
  );
  const { status, body } = await health("/ready");
  assert.deepEqual([status, Object(body).checks.installation.status], [503, "unhealthy"]);

  await sql`select logloom_private.begin_anew()`;
  await send("after");
  assert.deepEqual(await sent(2), ["before", "after"]);
  assert.equal((await health("/ready")).status, 200);
});
