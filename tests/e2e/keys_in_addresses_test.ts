import assert from "node:assert/strict";
import { call, createKey, newTenant } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { isBack, killProcess, stackState } from "../support/processes.ts";

Deno.test("a key in an address is taken, and no log holds it", async () => {
  const tenant = await newTenant();
  const { key_value: key } = await createKey(tenant);
  const mark = `trace-${crypto.randomUUID()}`;
  const send = (path: string) =>
    call(`/functions/v1/ingest${path}`, { method: "POST", body: '[{"message":"a"}]' });
  assert.equal((await send(`/lines?api_key=${key}&mark=${mark}`)).status, 200);
  assert.equal((await send(`/gelf?token=${key}`)).status, 202);
  assert.equal((await send(`/v1/input/${key}`)).status, 200);
  // While the function is away the gateway writes of the request what it knows.
  const killed = await killProcess("ingest");
  await send(`/lines?api_key=${key}`);
  await send(`/v1/input/${key}`);
  await isBack("ingest", killed);

  const { accessLog } = await stackState();
  await eventually(
    "the requests are in the access log",
    async () => (await Deno.readTextFile(accessLog)).includes("/functions/v1/ingest/gelf"),
  );
  const written = await Deno.readTextFile(accessLog);
  assert.ok(!written.includes(key.slice(12)));
  assert.ok(!written.includes(mark));
  const folder = (await stackState()).logs;
  for await (const { name } of Deno.readDir(folder)) {
    assert.ok(!(await Deno.readTextFile(`${folder}/${name}`)).includes(key.slice(12)), name);
  }
});
