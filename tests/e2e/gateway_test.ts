import assert from "node:assert/strict";
import { assertAnswer, call, newTenant, rpc } from "../support/client.ts";

Deno.test("what is not the API is 404 with an error", async () => {
  const error = "No such path; the API is under /rest/v1/ and /functions/v1/";
  for (const path of ["/", "/functions/v1/", "/functions/v1/nothing", "/storage/v1/", "/rest"]) {
    assertAnswer(await call(path), 404, { error });
  }
});

Deno.test("a malformed address is 400 with an error", async () => {
  for (const path of ["/functions/v1/health/%00", "/%zz"]) {
    assertAnswer(await call(path), 400, { error: "Malformed HTTP request" });
  }
});

Deno.test("a refused request leaves the ones after it alone", async () => {
  const { token } = await newTenant();
  for (let i = 0; i < 20; i++) {
    const head = rpc(token, "list_api_keys", {}, { method: "HEAD", body: undefined });
    assert.equal((await head).status, 405);
    assertAnswer(await rpc(token, "list_api_keys"), 200, []);
  }
});
