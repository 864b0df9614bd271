import { strictEqual } from "node:assert/strict";
import { createLocalJWKSet, importJWK, jwtVerify } from "jose";
import { anonKey, keySet, publicKeySet, serviceRoleKey, userToken } from "./signing_keys.ts";
import { command } from "./run_command.ts";
import { npmProgram } from "./system.ts";
import { checkout } from "./stack.ts";

Deno.test("the API keys equal those of every local Supabase stack", () => {
  const head = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9";
  strictEqual(
    anonKey,
    `${head}.eyJpc3MiOiJzdXBhYmFzZS1kZW1vIiwicm9sZSI6ImFub24iLCJleHAiOjE5ODM4MTI5OTZ9.` +
      "CRXP1A7WOeoJeXxjNni43kdQwgnWNReilDMblYTn_I0",
  );
  strictEqual(
    serviceRoleKey,
    `${head}.eyJpc3MiOiJzdXBhYmFzZS1kZW1vIiwicm9sZSI6InNlcnZpY2Vfcm9sZSIsImV4cCI6MTk4MzgxMjk5Nn0.` +
      "EGIM96RAZx35lJzdJsyH-qQwv8Hdp7fsn3W0YpN81IU",
  );
});

Deno.test("a demo user's token verifies with the shared secret and names the tenant", async () => {
  const secret = await importJWK(keySet.keys[0]);
  const { payload } = await jwtVerify(userToken("user-1", "demo"), secret);
  strictEqual(payload.sub, "user-1");
  strictEqual(payload.tenant_id, "demo");
  strictEqual(payload.role, "authenticated");
});

Deno.test("a token of the supabase CLI verifies with the published key", async () => {
  const printed = await command(
    [npmProgram("supabase"), "gen", "bearer-jwt", "--role", "authenticated", "--sub", "user-1"],
    { failure: "Making a token failed", cwd: checkout },
  );
  const token = /eyJ\S+/.exec(printed)?.[0] ?? "";
  const { payload } = await jwtVerify(token, createLocalJWKSet(publicKeySet));
  strictEqual(payload.sub, "user-1");
});
