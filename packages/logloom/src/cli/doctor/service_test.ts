import assert from "node:assert/strict";
import { runCommand } from "../../../../../cli/testing.ts";
import { startPeer } from "../../../../../supabase/functions/_shared/testing.ts";
import { tempFolder } from "../../../../../tests/support/temp_folder.ts";
import type { Finding } from "./finding.ts";

Deno.test("doctor finds a JWT secret of the functions that is not the project's", async () => {
  await using peer = await startPeer(({ path }) =>
    path.startsWith("/rest/v1/")
      ? Response.json({ valid: true })
      : path.endsWith("/ingest")
      ? Response.json({ error: "Invalid token" }, { status: 401 })
      : Response.json({ status: "healthy", timestamp: new Date().toISOString() })
  );
  const claims = btoa(JSON.stringify({ sub: "ann", tenant_id: "acme" }));
  const env = { LOGLOOM_URL: peer.url, LOGLOOM_TOKEN: `e30.${claims}.x`, LOGLOOM_API_KEY: "" };
  const { code, out } = await runCommand(["doctor", "--json"], {
    ...env,
    LOGLOOM_DATABASE_URL: "",
    XDG_CONFIG_HOME: "/nonexistent",
  });
  const findings = JSON.parse(out) as Finding[];
  const [{ message, todo }] = findings.filter(({ check }) => check === "session");
  assert.equal(code, 1);
  assert.equal(
    message,
    "PostgREST accepts the token, the function ingest does not: 401 Invalid token",
  );
  assert.match(
    todo ?? "",
    /^If the project signs tokens with a shared secret: supabase secrets set LOGLOOM_JWT_SECRET=/,
  );
});

Deno.test("doctor asks health by the name that it has in the project", async () => {
  await using peer = await startPeer(({ path }) =>
    path.startsWith("/functions/v1/logs-health")
      ? Response.json({ status: "healthy", timestamp: new Date().toISOString() })
      : new Response("the project's own", { status: 404 })
  );
  const says = async (folder: string, ...options: string[]) => {
    const env = { LOGLOOM_DATABASE_URL: "", LOGLOOM_TOKEN: "", XDG_CONFIG_HOME: folder };
    const { out } = await runCommand(["doctor", "--json", ...options], env);
    const findings = JSON.parse(out) as Finding[];
    return findings.filter(({ check }) => check === "health").map(({ status }) => status);
  };
  assert.deepEqual(
    await says("/nonexistent", "--url", peer.url, "--health-as", "logs-health"),
    ["ok"],
  );
  await using home = await tempFolder();
  const folder = home.path;
  await Deno.mkdir(`${folder}/logloom`);
  const profile = { url: peer.url, api_key: "ll_x", health: "logs-health" };
  await Deno.writeTextFile(`${folder}/logloom/profiles.json`, JSON.stringify({ default: profile }));
  assert.deepEqual(await says(folder), ["ok"], "as init stored it");
});
