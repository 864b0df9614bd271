import assert from "node:assert/strict";
import { call, createKey, newTenant } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { isBack, killProcess, stackState } from "../support/processes.ts";

Deno.test("a key or token in an address is in no log", async () => {
  const tenant = await newTenant();
  const { key_value: key } = await createKey(tenant);
  const mark = `trace-${crypto.randomUUID()}`;
  const send = (path: string) =>
    call(`/functions/v1/ingest${path}`, { method: "POST", body: '[{"message":"a"}]' });
  assert.equal((await send(`/lines?api_key=${key}&mark=${mark}`)).status, 200);
  assert.equal((await send(`/gelf?token=${key}`)).status, 202);
  assert.equal((await send(`/v1/input/${key}`)).status, 200);
  // A token in an address does not count and is not logged either, although PostgREST logs refused requests.
  const query = `?token=${tenant.token}&apikey=${mark}`;
  for (
    const path of ["/rest/v1/rpc/no_such", "/rest/v1/plans", "/functions/v1/logloom-read/v1/x"]
  ) {
    assert.ok((await call(path + query)).status >= 400, path);
  }
  // While the function is down, the gateway logs the request.
  const killed = await killProcess("ingest");
  await send(`/lines?api_key=${key}&token=${tenant.token}&apikey=${mark}`);
  await send(`/v1/input/${key}`);
  await isBack("ingest", killed);

  const { accessLog } = await stackState();
  await eventually(
    "the requests are in the access log",
    async () => (await Deno.readTextFile(accessLog)).includes("/functions/v1/ingest/gelf"),
  );
  const written = await Deno.readTextFile(accessLog);
  const secrets = [key.slice(12), mark, tenant.token.split(".")[2]];
  for (const secret of secrets) assert.ok(!written.includes(secret));
  const folder = (await stackState()).logs;
  for await (const { name } of Deno.readDir(folder)) {
    const said = await Deno.readTextFile(`${folder}/${name}`);
    for (const secret of secrets) assert.ok(!said.includes(secret), name);
  }
});
