import assert from "node:assert/strict";
import { checkout } from "../../local/stack.ts";
import { freePort, newTrial, records, runProgram } from "./programs.ts";
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

Deno.test("the tutorial's app logs what the tutorial shows", async () => {
  const { tenant, env } = await newTrial("package-tutorial");
  const orders = ["1", "2", "declined"];
  const port = freePort();
  const app = block("shop.mjs", tutorial).replace(".listen(8787, ", `.listen(${port}, `);
  assert.ok(app.includes(`.listen(${port}, `));
  // The app serves until it is stopped; here it ends once it was asked.
  const asked = `
    for (const order of ${JSON.stringify(orders)}) {
      await fetch("http://127.0.0.1:${port}/orders/" + order);
    }
    await log.flush();
    process.exit();`;
  const { code, said } = await runProgram(app + asked, {
    ...env,
    BASE_URL: env.LOGLOOM_URL,
    KEY: env.LOGLOOM_API_KEY,
  });
  assert.deepEqual({ code, said }, { code: 0, said: "" });
  assert.deepEqual(
    (await records(tenant)).map(({ level, msg, service }) => [level, msg, service]),
    [
      ["info", "order placed", "shop"],
      ["info", "order placed", "shop"],
      ["error", "card declined", "shop"],
    ],
  );
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
