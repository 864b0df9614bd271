import assert from "node:assert/strict";
import { parseExactly, rewrites } from "../../../../../supabase/functions/_shared/exact_numbers.ts";
import type { FileDocument } from "../../read/types.ts";
import { documentOf, readFiles } from "./read_files.ts";
import { filesLeft, filesOf } from "./write_files.ts";

/** What is pulled from the service's answer, and what apply reads from these files. */
async function pulledAndRead(answer: string) {
  const files = filesOf(parseExactly(answer, rewrites) as FileDocument[]);
  const folder = await Deno.makeTempDir();
  try {
    for (const [name, text] of files) await Deno.writeTextFile(`${folder}/${name}`, text);
    const { items } = await readFiles(folder, "files");
    return { files, read: items.map((item) => documentOf(item, {})) };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("names, texts and members that look like variables are no variables", async () => {
  const documents = ["${HOME}", "$${HOME}", "a ${HOME} b", "$ {HOME}", "404", "- a: # b\n"].map(
    (text) => ({
      type: "saved_searches",
      name: text,
      fields: { query_dsl: text, tags: [text], display: { [text]: { [text]: text } } },
    }),
  );
  assert.deepEqual((await pulledAndRead(JSON.stringify(documents))).read, documents);
});

Deno.test("numbers that JavaScript writes in another way are pulled as numbers", async () => {
  const thresholds = ["0.0000001", "1.10", "1e5", "100000000000000000", "-0.5"];
  const { files, read } = await pulledAndRead(
    `[${
      thresholds.map((number) =>
        `{"type":"alert_rules","name":"a","fields":{"threshold":${number}}}`
      )
    }]`,
  );
  const written = [...files.get("alert_rules.yaml")!.matchAll(/threshold: (.*)/g)];
  assert.deepEqual(written.map(([, number]) => number), thresholds);
  assert.deepEqual(read.map(({ fields }) => fields.threshold), thresholds.map(Number));
});

Deno.test("each secret has a variable of its own, whose name a shell takes", () => {
  const names = ["API errors", "API-errors", "日本", "中国", "5xx", "api errors"];
  const secrets = { slack_url: { set: true } };
  const documents = names.map((name) => ({ type: "alert_rules", name, fields: { secrets } }));
  const text = filesOf(documents).get("alert_rules.yaml")!;
  assert.deepEqual([...text.matchAll(/slack_url: (.*)/g)].map(([, variable]) => variable), [
    "${API_ERRORS_SLACK_URL}",
    "${API_ERRORS_SLACK_URL_2}",
    "${X__SLACK_URL}",
    "${X__SLACK_URL_2}",
    "${X5XX_SLACK_URL}",
    "${API_ERRORS_SLACK_URL_3}",
  ]);
});

Deno.test("files that a pull does not replace are named if they have its types", () => {
  const present = new Map([
    ["alert_rules.yaml", "alert_rules:\n"],
    ["all.yaml", "views: []\nalert_rules:\n  - name: [\n"],
    ["streams.yaml", "streams: []\n"],
    ["tenants.yaml", "tenants: { acme: {} }\n"],
  ]);
  const replaced = filesOf([{ type: "alert_rules", name: "a", fields: {} }]);
  assert.deepEqual(filesLeft(present, replaced, ["alert_rules"]), ["all.yaml"]);
  assert.deepEqual(filesLeft(present, replaced, ["streams"]), ["streams.yaml"]);
});
