import assert from "node:assert/strict";
import { partsOf, say, takeLabels } from "../../console/src/shared/translate.ts";
import { remarks } from "../../supabase/functions/_shared/record_fields.ts";
import { count } from "../../console/src/shared/format-number.ts";
import { untranslatedIn } from "./untranslated.ts";

const texts = await printed();
const sentences: ReadonlySet<string> = new Set(Object.keys(texts));
const folder = new URL("../../console/src/", import.meta.url);
/** Files with words of the query language, which are not translated. */
const grammar = /\/language\/(highlighting|regex|stage-words|stages|tokenizer)\.ts$/;

async function sources(): Promise<{ path: string; source: string }[]> {
  const found = [];
  for await (const path of filesBelow(folder)) {
    if (!/\.tsx?$/.test(path) || path.endsWith("/singular-sentences.ts")) continue;
    found.push({ path, source: await Deno.readTextFile(path) });
  }
  return found;
}

Deno.test("every text that people read can be translated", async () => {
  const untranslated = (await sources()).filter(({ path }) => !grammar.test(path))
    .flatMap(({ path, source }) =>
      untranslatedIn(path, source, sentences)
        .map(({ line, text }) => `${path.slice(folder.pathname.length)}:${line} ${text}`)
    );
  assert.deepEqual(untranslated, []);
});

Deno.test("texts that cannot be translated are found", () => {
  const found = (source: string) => untranslatedIn("x.tsx", source, new Set(["Two words"]));
  assert.deepEqual(found("const a = <p>\n  Hello {name}\n</p>;"), [{ line: 1, text: "Hello" }]);
  assert.deepEqual(found('<b title="Close" />'), [{ line: 1, text: "Close" }]);
  assert.deepEqual(found('<b>{isMine ? "Two words" : say("Two words")}</b>'), [
    { line: 1, text: "Two words" },
  ]);
  assert.deepEqual(found('say("Two words"); tell("Other words")'), [
    { line: 1, text: "Other words" },
  ]);
  assert.deepEqual(found('f([["a", "Other"]]); key === "Other"'), [{ line: 1, text: "Other" }]);
  assert.deepEqual(found("const a = `${n} records`;"), [{ line: 1, text: "${} records" }]);
  assert.deepEqual(found('const a = `${say("Two words")} ${n}`;'), [{ line: 1, text: "${} ${}" }]);
  assert.deepEqual(
    found('<p className="two words"><code>npm start</code>{`a${b}c`}{new Error("two words")}</p>'),
    [],
  );
});

Deno.test("the printed labels include singular forms", () => {
  assert.equal(texts["Copy"], "Copy");
  assert.deepEqual(texts["{count} records"], { one: "{count} record", other: "{count} records" });
  // Texts from a table, from a type's values, from an element, and from another part of the project.
  const expected = [
    "Rules",
    "owner",
    "This is the only time that {key} is shown.",
    ...Object.values(remarks),
  ];
  assert.deepEqual(expected.filter((text) => !sentences.has(text)), []);
});

Deno.test("no component file is longer than 200 lines", async () => {
  const long = (await sources())
    .filter(({ path, source }) => path.endsWith(".tsx") && source.split("\n").length > 201)
    .map(({ path }) => path.slice(folder.pathname.length));
  assert.deepEqual(long, []);
});

Deno.test("a sentence gets its values and the right plural form", () => {
  assert.equal(say("{count} records", { count: 1 }), "1 record");
  assert.equal(say("{count} records", { count: 1234 }), `${count(1234)} records`);
  assert.equal(say("Delete {name}", { name: "{count}" }), "Delete {count}");
  assert.deepEqual(partsOf("The same {field}", undefined), ["The same ", "field", ""]);
  // A translation may leave a value out or move it.
  takeLabels({
    "Delete {name}": "{name} löschen",
    "{count} records": { one: "{count} wpis", few: "{count} wpisy", many: "{count} wpisów" },
    Copy: { nothing: 7 },
  }, "pl");
  assert.equal(say("Delete {name}", { name: "a" }), "a löschen");
  assert.deepEqual(
    [1, 3, 5].map((count) => say("{count} records", { count })),
    ["1 wpis", "3 wpisy", "5 wpisów"],
  );
  assert.equal(say("Copy"), "Copy");
  takeLabels({ "{count} records": { other: "{count} Einträge" } }, "no language!");
  assert.equal(say("{count} records", { count: 1 }), "1 Einträge");
  takeLabels({}, undefined);
});

async function* filesBelow(folder: URL): AsyncGenerator<string> {
  for await (const entry of Deno.readDir(folder)) {
    const url = new URL(`${entry.name}${entry.isDirectory ? "/" : ""}`, folder);
    if (entry.isDirectory) yield* filesBelow(url);
    else yield url.pathname;
  }
}

async function printed(): Promise<Record<string, string | Record<string, string>>> {
  const { success, stdout } = await new Deno.Command("node", {
    args: [new URL("../../console/texts.js", import.meta.url).pathname],
    stderr: "inherit",
  }).output();
  assert.ok(success, "console/texts.js failed, see its output above");
  return JSON.parse(new TextDecoder().decode(stdout));
}
