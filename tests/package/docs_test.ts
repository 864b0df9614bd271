import assert from "node:assert/strict";
import { packageTool } from "../../local/npm_package.ts";
import { checkout } from "../../local/stack.ts";
import { eventually } from "../support/eventually.ts";
import { stack } from "../support/stack.ts";
import { freePort } from "../support/free_port.ts";
import { newTrial, records, runProgram } from "./programs.ts";
import { project } from "./project.ts";

const programs = await Deno.readTextFile(`${checkout}/docs/guides/send/programs.md`);
const tutorial = await Deno.readTextFile(`${checkout}/docs/start/README.md`);

function block(name: string, page = programs): string {
  const text = new RegExp(`^\`\`\`js ${name.replace(".", "\\.")}\n([\\s\\S]*?)^\`\`\``, "m")
    .exec(page)?.[1];
  assert.ok(text, name);
  return text;
}

const examples: Record<string, [level: string, msg: string, original: unknown][]> = {
  "logger.mjs": [["info", "card checked", undefined], ["error", "card declined", undefined]],
  "pino.mjs": [["error", "card declined", undefined], ["info", "card checked", 35]],
  "winston.mjs": [["error", "card declined", undefined], ["debug", "a detail", "silly"]],
};

for (const [name, wanted] of Object.entries(examples)) {
  Deno.test(`docs/guides/send/programs.md: ${name} sends what it shows`, async () => {
    const { tenant, env } = await newTrial("package-docs");
    const { code, said } = await runProgram(block(name), env);
    assert.deepEqual({ code, said }, { code: 0, said: "" });
    const all = (await records(tenant)).map(({ level, msg, service, attrs }) => ({
      said: [level, msg, attrs?.original_level],
      service,
      order: attrs?.order,
    }));
    const sorted = all.toSorted((a, b) => Number(a.order) - Number(b.order));
    assert.deepEqual(sorted.map(({ service, order }) => [service, order]), [["shop", 7], [
      "shop",
      8,
    ]]);
    assert.deepEqual(
      sorted.map(({ said }) => said),
      wanted.toSorted(([, a], [, b]) =>
        Number(b === "card declined") - Number(a === "card declined")
      ),
    );
  });
}

Deno.test("the tutorial's second step, pasted as one block, logs what the tutorial shows", async () => {
  const { tenant, env } = await newTrial("package-tutorial");
  const [, step = ""] = /^```sh\n([\s\S]*?)^```/m.exec(tutorial) ?? [];
  // The package is installed already.
  const pasted = step.replaceAll(/^npm .*\n/gm, "").replaceAll("../shop", `${project}/shop`)
    .replaceAll("8787", `${freePort()}`);
  const { code, stderr } = await new Deno.Command("bash", {
    args: ["-euc", `${pasted}kill $!; wait $! || true`],
    env: { BASE_URL: env.LOGLOOM_URL, KEY: env.LOGLOOM_API_KEY },
  }).output();
  assert.deepEqual([code, new TextDecoder().decode(stderr)], [0, ""]);
  assert.deepEqual(
    (await records(tenant)).map(({ level, msg, service }) => [level, msg, service]),
    [
      ["info", "order placed", "shop"],
      ["info", "order placed", "shop"],
      ["error", "card declined", "shop"],
    ],
  );
});

Deno.test("the README's sample compiles strictly, and reads as a user", async () => {
  const { tenant, env } = await newTrial("package-readme");
  const sent = await fetch(`${stack.url}/functions/v1/ingest`, {
    method: "POST",
    headers: { "X-API-Key": env.LOGLOOM_API_KEY },
    body: '{"level":"error","service":"api","msg":"card declined"}',
  });
  assert.equal(sent.status, 200);
  await eventually("the record", async () => (await records(tenant)).length === 1);
  const readme = await Deno.readTextFile(`${checkout}/README.md`);
  const [, sample = ""] = /^```ts\n([\s\S]*?)^```/m.exec(readme) ?? [];
  await Deno.writeTextFile(`${project}/errors.mts`, sample);
  await packageTool(
    "typescript/bin/tsc",
    [
      ...[
        "--ignoreConfig",
        "--noEmit",
        "--strict",
        "--module",
        "node16",
        "--skipLibCheck",
        "--types",
        "node",
      ],
      ...["--typeRoots", `${checkout}/node_modules/@types`, `${project}/errors.mts`],
    ],
    "The README's sample does not compile",
  );
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--allow-all",
      "--no-check",
      "--no-lock",
      "--node-modules-dir=manual",
      "errors.mts",
    ],
    cwd: project,
    env: { SUPABASE_URL: stack.url, SUPABASE_PUBLISHABLE_KEY: stack.anonKey, TOKEN: tenant.token },
  }).output();
  assert.equal(code, 0, new TextDecoder().decode(stderr));
  assert.match(new TextDecoder().decode(stdout), /^\S+ api card declined\n$/);
});

Deno.test("the package's README compiles", async () => {
  const readme = await Deno.readTextFile(`${checkout}/packages/logloom/README.md`);
  const blocks = [...readme.matchAll(/^```ts\n([\s\S]*?)^```/gm)].map(([, text]) => text);
  assert.equal(blocks.length, 2);
  for (const [n, text] of blocks.entries()) {
    const file = `${project}/readme_${n}.ts`;
    await Deno.writeTextFile(file, text);
    const { code, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["check", "--quiet", "--node-modules-dir=manual", "--no-lock", file],
      cwd: project,
    }).output();
    assert.equal(code, 0, new TextDecoder().decode(stderr));
  }
});
