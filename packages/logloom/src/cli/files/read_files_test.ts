import assert from "node:assert/strict";
import { jsonOf } from "../../../../../supabase/functions/_shared/exact_numbers.ts";
import type { FileDocument } from "../../read/types.ts";
import { Failure } from "../failure.ts";
import { documentOf, readFiles } from "./read_files.ts";

/** Reads a folder with these files. */
async function readAll(...texts: (string | Uint8Array)[]) {
  const folder = await Deno.makeTempDir();
  try {
    for (const [n, text] of texts.entries()) {
      const bytes = typeof text === "string" ? new TextEncoder().encode(text) : text;
      await Deno.writeFile(`${folder}/${["all", "others"][n]}.yaml`, bytes);
    }
    return await readFiles(folder, "files");
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** The documents of a file, or why it is refused. */
async function read(text: string | Uint8Array) {
  try {
    const { items, tenants } = await readAll(text);
    return items.map((item) => documentOf(item, tenants.get("acme") ?? {}));
  } catch (error) {
    if (error instanceof Failure) return error.message;
    throw error;
  }
}

const rule = (members: string) => `alert_rules:\n  - name: a\n    ${members}\n`;

Deno.test("variables of secrets begin with SECRET_, and are replaced once", async () => {
  const tenant = (hook: string) => `tenants: { acme: { hook: "${hook}" } }\n`;
  const secret = rule("secrets: { slack_url: '${hook}' }");
  const told = "files/all.yaml:4: variables of secrets begin with SECRET_: rename PATH to ";
  assert.equal(await read(tenant("${PATH}") + secret), `${told}SECRET_PATH.`);
  Deno.env.set("SECRET_HOOK", "https://a.example/${PATH}");
  const [{ fields }] = await read(tenant("${SECRET_HOOK}?") + secret) as FileDocument[];
  assert.deepEqual(fields.secrets, { slack_url: "https://a.example/${PATH}?" });
});

Deno.test("a tenant's variable may contain others, but no setting of the command", async () => {
  const others = "a: '${b}/${b}', b: '${c}', c: '1', self: 'a ${self}'";
  const many = Array.from({ length: 20 }, (_, n) => `m${n}: '\${m${n + 1}}\${m${n + 1}}'`);
  const tenant = `tenants: { acme: { ${others}, ${many}, m20: '' } }\n`;
  Deno.env.set("b", "2");
  const [{ fields }] = await read(tenant + rule("description: '${a}'")) as FileDocument[];
  assert.deepEqual(fields, { description: "1/1" });
  const refused: [member: string, told: string][] = [
    ["description: '${self}'", "the variable self contains itself."],
    ["description: '${m0}'", "its variables contain too many others."],
    [
      "config: { url: 'https://a.example/${LOGLOOM_TOKEN}' }",
      "LOGLOOM_TOKEN is a setting of this command: no file has it.",
    ],
  ];
  for (const [member, told] of refused) {
    assert.equal(await read(tenant + rule(member)), `files/all.yaml:4: ${told}`);
  }
  const { tenants } = await readAll("tenants: { acme: { a: 1 } }", "tenants: { acme: { b: 2 } }");
  assert.deepEqual(tenants.get("acme"), { a: 1, b: 2 });
  const message = "files/others.yaml:2: the tenant has self in another file, too.";
  await assert.rejects(readAll(tenant, "tenants:\n  acme: { self: 2 }"), { message });
});

Deno.test("a variable of the environment is a number where a number belongs", async () => {
  Deno.env.set("DAYS", "7");
  const members = "recurrence: { minutes: '${DAYS}' }, group: { n: '${DAYS}' }";
  const documents = await read(
    `retention_rules: [{ days: "\${DAYS}" }]\nsilences: [{ comment: a, ${members} }]\n`,
  );
  assert.deepEqual((documents as FileDocument[]).map(({ fields }) => fields), [
    { rules: [{ days: 7 }] },
    { recurrence: { minutes: 7 }, group: { n: "7" } },
  ]);
});

Deno.test("what cannot be read is refused with its line", async () => {
  const refused: [text: string, told: string][] = [
    [rule('description: "a\\0"'), "3: a text has a NUL or half a surrogate pair."],
    [rule('description: "\\ud800"'), "3: a text has a NUL or half a surrogate pair."],
    [rule("description: !env HOME"), "3: Unresolved tag: !env"],
    [rule("group: { 404: a, '404': b }"), "3: 404 is there twice."],
    ["tenants: [acme]\n", "1: tenants has ids and their variables, such as acme: { limit: 10 }."],
  ];
  for (const [text, told] of refused) assert.equal(await read(text), `files/all.yaml:${told}`);
  const latin1 = Uint8Array.from([0x23, 0xe9]);
  const told = "files/all.yaml cannot be read: it is not a file with UTF-8.";
  assert.equal(await read(latin1), told);
});

Deno.test("a number keeps all digits, and one that is none is refused with its line", async () => {
  const refused: [written: string, becomes: string][] = [["1e400", "Infinity"], [".nan", "NaN"]];
  for (const [number, becomes] of refused) {
    const told = `files/all.yaml:3: ${number} would become ${becomes}: put it in quotes.`;
    assert.equal(await read(rule(`threshold: ${number}`)), told);
  }
  for (const number of ["+5", "0x1F", "1e-7", "1.10", "1E+23", ".5", "9007199254740991"]) {
    const fields = { threshold: Number(number) };
    assert.deepEqual(await read(rule(`threshold: ${number}`)), [
      { type: "alert_rules", name: "a", fields },
    ]);
  }
  const kept: [written: string, sent: string][] = [
    ["9007199254740993", "9007199254740993"],
    ["[{ a: -9007199254740993 }]", '[{"a":-9007199254740993}]'],
    ["0x20000000000001", "9007199254740993"],
    ["+1.00000000000000000001", "1.00000000000000000001"],
    ["-.12345678901234567890", "-0.12345678901234567890"],
    ["a ${n}", '"a 9007199254740995"'],
    ["${n}", "9007199254740995"],
  ];
  for (const [number, sent] of kept) {
    const variables = "tenants: { acme: { n: 9007199254740995 } }\n";
    const [{ fields }] = await read(variables + rule(`display: ${number}`)) as FileDocument[];
    assert.equal(jsonOf(fields.display), sent);
  }
  const tenant = "tenants:\n  007: { limit: 1 }\n";
  assert.equal(await read(tenant), "files/all.yaml:2: 007 would become 7: put it in quotes.");
});

Deno.test("a name that is not a text is refused with its line", async () => {
  const refused: [text: string, told: string][] = [
    ["views:\n  - query_dsl: a\n    name: { a: 1 }\n", "3: name is a text: put it in quotes."],
    ["views: [{ name: 404 }]\n", "1: name is a text: put it in quotes."],
    ["members:\n  - user_id: [a]\n", "2: user_id is a text: put it in quotes."],
    [rule("renamed_from: [b]"), "3: renamed_from is a text: put it in quotes."],
    [
      `tenants: { acme: { list: [1] } }\n${rule("description: a ${list}")}`,
      "4: list is not a text: it cannot be part of one.",
    ],
  ];
  for (const [text, told] of refused) assert.equal(await read(text), `files/all.yaml:${told}`);
  const [document] = await read(rule("renamed_from:")) as FileDocument[];
  assert.deepEqual(document, { type: "alert_rules", name: "a", fields: {} });
});

Deno.test("retention rules are one thing, also without a rule", async () => {
  const lists: [text: string, rules: unknown][] = [
    ["retention_rules:\n", []],
    ["retention_rules: []\n", []],
    [
      "retention_rules:\n  - { level: debug, days: '${DAYS}' }\n  - { service: pay, days: 7 }\n" +
      "tenants: { acme: { DAYS: 3 } }\n",
      [{ level: "debug", days: 3 }, { service: "pay", days: 7 }],
    ],
  ];
  for (const [text, rules] of lists) {
    const fields = { rules };
    const document = { type: "retention_rules", name: "retention_rules", fields };
    assert.deepEqual(await read(text), [document]);
  }
  const told = "files/all.yaml:1: an item of retention_rules has members.";
  assert.equal(await read("retention_rules: [7]\n"), told);
});
