import { command } from "../run_command.ts";
import { checkout } from "../stack.ts";
import { schemaFiles } from "./schemas.ts";

/** A field of the list, as the comment of logloom_private.record_field explains it. */
export interface RecordField {
  name: string;
  type: "timestamptz" | "bigint" | "uuid" | "text" | "jsonb" | "integer";
  sent: boolean;
  shown?: number;
  kind?: "time" | "id" | "level" | "msg" | "text" | "host" | "attrs";
  block?: string;
  bloom?: boolean;
  place?: number;
  near?: string[];
  aliases?: string[];
  also?: string;
  remark?: string;
}

const listFile = `${checkout}/supabase/schemas/foundations/record_fields.sql`;
const levelsFile = `${checkout}/supabase/schemas/query/literals.sql`;
const moduleFile = `${checkout}/supabase/functions/_shared/record_fields.ts`;
const pages = ["docs/reference/query-language.md", "docs/guides/send/README.md"];

export async function recordFields(): Promise<RecordField[]> {
  const list = /'(\[\n[\s\S]*?\])'/.exec(await Deno.readTextFile(listFile))?.[1];
  if (list === undefined) throw new Error(`${listFile} has no list.`);
  return JSON.parse(list.replaceAll("''", "'"));
}

/** Returns the query language's words for each level. */
async function levelWords(): Promise<Record<string, string[]>> {
  const sql = await Deno.readTextFile(levelsFile);
  const [list = ""] = /^ +values\n[^]*?\) l \(level, words\)$/m.exec(sql) ?? [];
  const rows = [...list.matchAll(/\('(\w+)', '([^)]+)'\)/g)];
  if (rows.length === 0) throw new Error(`${levelsFile} has no words for levels.`);
  return Object.fromEntries(
    rows.map(([, level, words]) => [level, words.replaceAll(/'\s+'/g, "").split(" ")]),
  );
}

/** Returns every file that is written from the list, with its text. */
export async function filesOfFields(): Promise<Map<string, string>> {
  const fields = await recordFields();
  const texts = new Map<string, string>();
  for (const file of await schemaFiles()) {
    const path = `${checkout}/${file}`;
    const sql = await Deno.readTextFile(path);
    if (sql.includes(" -- fields ")) texts.set(path, sqlWithFields(sql, fields));
  }
  for (const file of pages) {
    const path = `${checkout}/${file}`;
    const page = pageWithFields(await Deno.readTextFile(path), fields);
    texts.set(path, await formatted(page, ".md"));
  }
  texts.set(moduleFile, await formatted(moduleOf(fields, await levelWords()), ".ts"));
  return texts;
}

/** Formats a text with `deno fmt`. */
export async function formatted(text: string, suffix: string): Promise<string> {
  const file = await Deno.makeTempFile({ suffix });
  try {
    await Deno.writeTextFile(file, text);
    await command([Deno.execPath(), "fmt", "--quiet", `--config=${checkout}/deno.json`, file], {
      failure: "Formatting what is written from a list failed",
    });
    return await Deno.readTextFile(file);
  } finally {
    await Deno.remove(file);
  }
}

const section =
  /^( *)-- fields (all|sent|shown|text|json|column)(?: but ([\w, ]+?))?( joined)?: (.+)\n(?:[^\n]*\n)*?\1-- fields end$/gm;

/**
 * Writes the generated sections of an SQL text. After "-- fields sent but ts: p_{name} {type}," comes such a line for
 * each of these fields. After "-- fields text joined: l.{name}" come items with commas between them. {n} is a field's
 * place among the sent fields, from 1.
 */
export function sqlWithFields(sql: string, fields: RecordField[]): string {
  const found = sql.replaceAll(
    section,
    (whole, indent: string, which: string, but: string, joined: string, template: string) => {
      const ofField = joined ? template.replace(/,$/, "") : template;
      const sent = chosen(fields, "sent", []);
      const items = chosen(fields, which, but?.split(", ") ?? []).map((field) =>
        ofField.replaceAll("{name}", field.name).replaceAll("{type}", field.type)
          .replaceAll("{n}", `${sent.indexOf(field) + 1}`)
      );
      if (ofField !== template) items.push(`${items.pop()},`);
      const lines = joined ? wrapped(items, 100 - indent.length) : items;
      return [
        whole.slice(0, whole.indexOf("\n")),
        ...lines.map((line) => indent + line),
        `${indent}-- fields end`,
      ].join("\n");
    },
  );
  const marks = (text: string) => [...text.matchAll(/^ *-- fields /gm)].length;
  if (marks(sql) !== 2 * [...sql.matchAll(section)].length) {
    throw new Error(`A section of fields is malformed: ${/^ *-- fields .*/m.exec(sql)?.[0]}`);
  }
  return found;
}

function chosen(fields: RecordField[], which: string, but: string[]): RecordField[] {
  const all = which === "shown"
    ? fields.filter(({ shown }) => shown !== undefined).sort((a, b) => a.shown! - b.shown!)
    : which === "sent"
    ? fields.filter(({ sent }) => sent)
    : which === "text"
    ? fields.filter(({ sent, type }) => sent && type === "text")
    : which === "json"
    ? fields.filter(({ sent, type }) => sent && type === "jsonb")
    : which === "column"
    ? fields.filter(({ block }) => block === "column")
    : fields;
  return all.filter(({ name }) => !but.includes(name));
}

/** Joins items by commas, in as few lines as possible. */
function wrapped(items: string[], width: number): string[] {
  const lines: string[] = [];
  items.forEach((item, index) => {
    const text = index < items.length - 1 ? `${item},` : item;
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + text.length > width) lines.push(text);
    else lines[lines.length - 1] = `${last} ${text}`;
  });
  return lines;
}

/** Writes the generated parts of a page, which are between two marks. */
export function pageWithFields(page: string, fields: RecordField[]): string {
  const parts: Record<string, string> = {
    names: wrapped(
      fields.filter(({ kind }) => kind !== undefined).map(({ name }) =>
        name === "attrs" ? "`attrs.…`" : `\`${name}\``
      ),
      98,
    ).join("\n"),
    aliases: [
      "| field | other names |",
      "| --- | --- |",
      ...fields.filter(({ aliases }) => aliases !== undefined).map(({ name, aliases, also }) =>
        `| \`${name}\` | ${
          [...aliases!.map((alias) => `\`${alias}\``), ...(also ? [also] : [])].join(", ")
        } |`
      ),
    ].join("\n"),
  };
  return page.replaceAll(
    /(<!-- fields: (\w+) -->\n)[\s\S]*?\n(<!-- fields -->)/g,
    (_, opening, part, closing) => {
      if (!(part in parts)) throw new Error(`No part of a page is called ${part}.`);
      return `${opening}\n${parts[part]}\n\n${closing}`;
    },
  );
}

/** Returns the TypeScript module of the fields. */
function moduleOf(fields: RecordField[], levels: Record<string, string[]>): string {
  const named = (members: { name: string }[]) => JSON.stringify(members.map(({ name }) => name));
  const sent = fields.filter((field) => field.sent);
  const lists = (all: [name: string, words: string[]][]) =>
    `{${all.map(([name, words]) => `"${name}": ${JSON.stringify(words.join(" "))}.split(" ")`)}}`;
  return `// Written from supabase/schemas/foundations/record_fields.sql by npm run migration: change it there.

/** The fields of an event in the order of their columns. */
export const eventFields = ${named(sent)} as const;

/** The text fields of an event, in the order of their columns. */
export const textFields = ${
    named(sent.filter(({ name, type }) => type === "text" && name !== "level"))
  } as const;

export type TextField = typeof textFields[number];

/** The fields with few values, in the order in which the console shows them. */
export const labels = ${
    named(
      fields.filter(({ place }) => place !== undefined).sort((a, b) => a.place! - b.place!),
    )
  } as const;

/** The tests that a query may make of a field depend on its kind. */
export type FieldKind = ${
    [...new Set(fields.flatMap(({ kind }) => kind ?? []))].map((kind) => JSON.stringify(kind))
      .join(" | ")
  };

export const fieldKinds: Readonly<Record<string, FieldKind>> = ${
    JSON.stringify(
      Object.fromEntries(fields.flatMap(({ name, kind }) => kind ? [[name, kind]] : [])),
    )
  };

/** The console's remark on a field, beside its name. */
export const remarks = ${
    JSON.stringify(
      Object.fromEntries(fields.flatMap(({ name, remark }) => remark ? [[name, remark]] : [])),
    )
  } as const;

/**
 * Names of a field in libraries and protocols, the most important first. A dotted name is a flat key or a path. The
 * field's own name is not listed: it always wins.
 */
export const aliases = ${
    lists(sent.flatMap(({ name, aliases }) => aliases ? [[name, aliases]] : []))
  };

/** Words for levels in libraries and protocols, in lower case: those of supabase/schemas/query/literals.sql. */
export const levelWords = ${lists(Object.entries(levels))};
`;
}
