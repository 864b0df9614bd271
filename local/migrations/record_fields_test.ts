import assert from "node:assert/strict";
import { filesOfFields, pageWithFields, type RecordField, sqlWithFields } from "./record_fields.ts";

Deno.test("files generated from the list of fields are current: npm run migration", async () => {
  const files = await filesOfFields();
  for (const [path, text] of files) assert.equal(await Deno.readTextFile(path), text, path);
});

const fields: RecordField[] = [
  { name: "ts", type: "timestamptz", sent: true, shown: 2, kind: "time", aliases: ["time"] },
  { name: "id", type: "uuid", sent: false, shown: 1, kind: "id" },
  { name: "msg", type: "text", sent: true, shown: 3, kind: "msg", aliases: ["text"], also: "a" },
  { name: "size", type: "integer", sent: false },
];

Deno.test("a section has a line for each field, or items with commas between them", () => {
  const sql = (all: string[], joined: string[]) =>
    [
      "create type t as (",
      "  -- fields sent but ts: p_{name} {type}[],",
      ...all,
      "  -- fields end",
      "  more text",
      ");",
      "  -- fields shown joined: l.{name}",
      ...joined,
      "  -- fields end",
      "",
    ].join("\n");
  const expected = sql(["  p_msg text[],"], ["  l.id, l.ts, l.msg"]);
  assert.equal(sqlWithFields(sql([], ["  l.other,", "  l.more"]), fields), expected);
  assert.equal(sqlWithFields(expected, fields), expected);
});

Deno.test("a section may number the sent fields", () => {
  const sql =
    "-- fields sent but ts: v_{name} := v_parts[{n}];\nv_msg := v_parts[2];\n-- fields end\n";
  assert.equal(sqlWithFields(sql, fields), sql);
});

Deno.test("a section without an end, or with an unknown template, is refused", () => {
  assert.throws(() => sqlWithFields("  -- fields sent: {name}\n", fields), /malformed/);
  assert.throws(
    () => sqlWithFields("  -- fields every: {name}\n  -- fields end\n", fields),
    /malformed/,
  );
});

Deno.test("a page lists the fields of queries, and the other names of fields in events", () => {
  const page = (names: string) => `<!-- fields: names -->\n${names}\n<!-- fields -->\n`;
  assert.equal(pageWithFields(page(""), fields), page("\n`ts`, `id`, `msg`\n"));
  const aliases = pageWithFields("<!-- fields: aliases -->\n\n<!-- fields -->\n", fields);
  assert.match(aliases, /\| `ts` \| `time` \|\n\| `msg` \| `text`, a \|\n\n<!-- fields -->/);
  assert.throws(() => pageWithFields("<!-- fields: more -->\n\n<!-- fields -->", fields), /more/);
});
