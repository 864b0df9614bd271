import { checkout } from "../stack.ts";

/** An error of the register: the answer to a refused request, without its values. */
export interface RegisteredError {
  /** Its register, a dot, and its name. */
  name: string;
  status: number;
  /** A format as PostgreSQL's format() takes it. */
  message: string;
  hint: string | null;
  explanation: string | null;
}

/** A file of foundations/errors. */
export interface Register {
  name: string;
  /** The hint for errors without their own. */
  hint: string | null;
  errors: RegisteredError[];
}

const folder = `${checkout}/supabase/schemas/foundations/errors`;

/** Writes the page with a table for each register. */
export const errorsFile = `${checkout}/docs/reference/errors.md`;

export async function registers(): Promise<Register[]> {
  const names: string[] = [];
  for await (const { name } of Deno.readDir(folder)) {
    if (name.endsWith(".sql")) names.push(name);
  }
  return await Promise.all(
    names.sort().map(async (name) => {
      const text = await Deno.readTextFile(`${folder}/${name}`);
      return { name: name.replace(/\.sql$/, ""), ...registerIn(text) };
    }),
  );
}

const texts = String.raw`'(?:[^']|'')*'(?:\s+'(?:[^']|'')*')*`;
const row = new RegExp(
  String.raw`\((${texts}), (\d{3}),\s+(${texts}),\s+(${texts}|null),\s+(${texts}|null)\)`,
  "gy",
);

/** Reads the rows of a register's values list, which has only literals. */
export function registerIn(sql: string): Omit<Register, "name"> {
  const start = /(?:return query|from \()\s*values\s+/.exec(sql);
  if (!start) throw new Error("A register is a function that returns a list of values.");
  row.lastIndex = start.index + start[0].length;
  const errors: RegisteredError[] = [];
  while (true) {
    const found = row.exec(sql);
    if (!found) {
      throw new Error(
        `A row is not (name, status, message, hint, explanation): ${sql.slice(-200)}`,
      );
    }
    const end = found.index + found[0].length;
    errors.push({
      name: textOf(found[1])!,
      status: Number(found[2]),
      message: textOf(found[3])!,
      hint: textOf(found[4]),
      explanation: textOf(found[5]),
    });
    const next = /^,\s+|^;|^\s+\) e \(name, status, message, hint, explanation\)/.exec(
      sql.slice(end),
    );
    if (!next) throw new Error(`The text after a row is not a row: ${sql.slice(end, end + 80)}`);
    if (!next[0].startsWith(",")) break;
    row.lastIndex = end + next[0].length;
  }
  const hint = new RegExp(String.raw`coalesce\(\s+e\.hint,\s+(${texts})\s+\)`).exec(sql);
  return { hint: hint ? textOf(hint[1]) : null, errors };
}

/** Returns the value of a literal, or null for null. Literals on consecutive lines are one literal. */
function textOf(literal: string): string | null {
  if (literal === "null") return null;
  return [...literal.matchAll(/'((?:[^']|'')*)'/g)]
    .map(([, part]) => part.replaceAll("''", "'"))
    .join("");
}

/** Returns the page with current tables, each between two markers. */
export function pageOfErrors(page: string, all: Register[]): string {
  for (const register of all) {
    const opening = `<!-- errors: ${register.name} -->`;
    const start = page.indexOf(opening) + opening.length;
    const end = page.indexOf("<!-- errors -->", start);
    if (start < opening.length || end < 0) {
      throw new Error(`docs/reference/errors.md has no marks ${opening} and <!-- errors -->`);
    }
    page = `${page.slice(0, start)}\n\n${tableOf(register)}\n\n${page.slice(end)}`;
  }
  return page;
}

function tableOf({ hint, errors }: Register): string {
  const rows = errors.map((error) => {
    const when = error.explanation ?? (error.hint === null ? "" : plain(shown(error.hint)));
    return `| \`PT${error.status}\` | \`${error.name}\` | \`${cell(shown(error.message))}\` | ${
      cell(when)
    } |`;
  });
  const table = [
    "| code | name | message | when, or what to do |",
    "| --- | --- | --- | --- |",
    ...rows,
  ];
  if (hint === null) return table.join("\n");
  return [`The hint of errors without one here: ${plain(shown(hint))}`, "", ...table].join("\n");
}

/** Makes a format readable: … stands for a value. */
function shown(format: string): string {
  return format.replace(/(?:%(?:\d+\$)?s)+|%%/g, (found) => found === "%%" ? "%" : "…");
}

/** Escapes a text, so that Markdown shows it literally. */
function plain(text: string): string {
  return text.replace(/[\\*<~[]/g, "\\$&");
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|");
}
