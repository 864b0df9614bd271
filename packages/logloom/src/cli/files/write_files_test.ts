import assert from "node:assert/strict";
import {
  jsonOf,
  parseExactly,
  rewrites,
} from "../../../../../supabase/functions/_shared/exact_numbers.ts";
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

Deno.test("hidden characters are written as escapes", async () => {
  const text = "\u{e0041}a\u202eb\u0007\u200b\u2028\u{e9}\t日";
  const { files, read } = await pulledAndRead(JSON.stringify([
    { type: "views", name: text, fields: { query_dsl: `${text}\n\u0085`, hidden_fields: [text] } },
    { type: "saved_searches", name: "s", fields: { display: { [text]: text } } },
  ]));
  const [search, item] = read;
  assert.deepEqual([item.name, item.fields.hidden_fields], [text, [text]]);
  assert.equal(item.fields.query_dsl, `${text}\n\u0085`);
  assert.deepEqual(search.fields.display, { [text]: text });
  const written = [...files.values()].join("");
  assert.match(written, /name: "\\U000e0041a\\u202eb\\a\\u200b\\u2028é\\t日"/);
  // deno-lint-ignore no-control-regex
  assert.doesNotMatch(written, /[\u202e\u200b\u2028\u0085\u0007\u{e0041}]/u);
});

Deno.test("each secret has a variable of its own, by the order of names", () => {
  const names = ["api errors", "API-errors", "日本", "中国", "5xx", "API errors"];
  const secrets = { slack_url: { set: true } };
  const documents = names.map((name) => ({ type: "alert_rules", name, fields: { secrets } }));
  const text = filesOf(documents).get("alert_rules.yaml")!;
  assert.deepEqual([...text.matchAll(/slack_url: (.*)/g)].map(([, variable]) => variable), [
    "${SECRET_API_ERRORS_SLACK_URL_3}",
    "${SECRET_API_ERRORS_SLACK_URL_2}",
    "${SECRET_SLACK_URL_2}",
    "${SECRET_SLACK_URL}",
    "${SECRET_5XX_SLACK_URL}",
    "${SECRET_API_ERRORS_SLACK_URL}",
  ]);
});

Deno.test("a number in a display that JavaScript would round is pulled and read as it is", async () => {
  const answer =
    '[{"type":"saved_searches","name":"a","fields":{"display":{"id":9007199254740993}}}]';
  assert.equal(jsonOf((await pulledAndRead(answer)).read), answer);
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
