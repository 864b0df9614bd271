import assert from "node:assert/strict";
import { copyFunctions, load, packageEnv } from "../../local/function_packages.ts";
import { findRuntime, hostedVersion } from "../../local/deno_runtimes.ts";
import { checkout } from "../../local/stack.ts";
import { installableFunctions } from "../../packages/logloom/src/cli/guest/files.ts";
import { eventually } from "../support/eventually.ts";
import { freePort } from "../support/free_port.ts";

const runtime = await findRuntime(hostedVersion, () => {});

const env = {
  SUPABASE_URL: "http://127.0.0.1:9",
  SUPABASE_SECRET_KEYS: '{"default":"sb_secret_of_nobody"}',
};

for (const name of installableFunctions) {
  Deno.test(`${name} is loaded with its unchanged lock file, and answers`, async () => {
    await using copy = await copyFunctions();
    const folder = `${copy.path}/${name}`;
    const { imports } = JSON.parse(await Deno.readTextFile(`${folder}/deno.json`));
    if (Object.keys(imports).length > 0) {
      const lock = JSON.parse(await Deno.readTextFile(`${folder}/deno.lock`));
      assert.equal(lock.version, "4");
      const pinned = Object.values(imports).toSorted();
      assert.deepEqual(lock.workspace.dependencies.toSorted(), pinned);
      // Our deno.json pins each of them, because the lock file is not deployed.
      assert.deepEqual(Object.keys(lock.specifiers).toSorted(), pinned);
      const loaded = Object.keys(lock.npm).map((name) => `npm:${name.split("_")[0]}`);
      assert.deepEqual(loaded.toSorted(), pinned);
    }
    await load(runtime, folder, ["--frozen"]);

    const port = freePort();
    const program = `${folder}/program.ts`;
    const imported = [`${checkout}/local/processes/serve_at.ts`, "./index.ts"];
    const lines = imported.map((path) => `import ${JSON.stringify(path)};\n`);
    await Deno.writeTextFile(program, lines.join(""));
    await using child = new Deno.Command(runtime.program, {
      args: ["run", "--frozen", "--cached-only", "--allow-net", "--allow-env", program],
      cwd: folder,
      env: { ...packageEnv, ...env, LOGLOOM_FUNCTION_PORT: `${port}` },
      stdin: "null",
      stdout: "null",
    }).spawn();
    const response = await eventually(`${name} answers`, () => {
      return fetch(`http://127.0.0.1:${port}/${name}`, { method: "PUT" });
    });
    // logloom-read has nothing at its root.
    assert.equal(response.status, name === "logloom-read" ? 404 : 405);
    assert.equal(response.headers.get("content-type"), "application/json");
    await response.body?.cancel();
    child.kill();
  });
}
