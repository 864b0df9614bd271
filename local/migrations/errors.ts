import { checkout } from "../stack.ts";
import { schemaFiles } from "./schemas.ts";

/** An error that a function of the database raises; … stands for what differs from case to case. */
export interface RaisedError {
  code: string;
  message: string;
  /** How to mend it, as the answer says so. */
  hint?: string;
  /** The room of the schemas that raises it. */
  room?: string;
}

/** What the schemas can raise, read from their text: each code with each message, once. */
export async function raisedErrors(): Promise<RaisedError[]> {
  const found = new Map<string, RaisedError>();
  for (const path of await schemaFiles()) {
    const room = path.split("/")[2];
    for (const error of errorsIn(await Deno.readTextFile(`${checkout}/${path}`))) {
      const key = `${error.code} ${error.message}`;
      if (!found.has(key)) found.set(key, { ...error, room });
    }
  }
  return [...found.values()];
}

/** The page with a row for each error. */
export const errorsFile = `${checkout}/docs/errors.md`;

/** Under which heading of the page an error of a room goes; others are under "Parameters". */
const headings: Record<string, string> = {
  tenants: "Tenants and settings",
  api_keys: "API keys",
  audit: "Usage, deletion and audit",
  usage: "Usage, deletion and audit",
  retention: "Usage, deletion and audit",
  ingest: "Ingest",
  writer: "Ingest",
  query: "Query language",
  search: "Logs",
  saved_searches: "Saved searches and alert rules",
  alerts: "Saved searches and alert rules",
  notifications: "Alert deliveries and previews",
};

/**
 * The page as the schemas are now: a row whose error nothing raises is gone, and an error without a row has one, with its
 * hint, until somebody writes there what a reader should know.
 */
export function pageOfErrors(page: string, raised: RaisedError[]): string {
  const keys = new Set(raised.map(({ code, message }) => `${code} ${message}`));
  const listed = new Set<string>();
  const lines = page.split("\n").filter((line) => {
    const row = /^\| `(PT\d{3})` *\| `(.*?)` *\|/.exec(line);
    if (!row) return true;
    const key = `${row[1]} ${row[2].replaceAll("\\|", "|")}`;
    const stays = keys.has(key) && !listed.has(key);
    listed.add(key);
    return stays;
  });
  for (const { code, message, hint = "", room = "" } of raised) {
    if (listed.has(`${code} ${message}`)) continue;
    const heading = lines.indexOf(`## ${headings[room] ?? "Parameters"}`);
    const next = lines.findIndex((line, at) => at > heading && line.startsWith("## "));
    const last = lines.findLastIndex((line, at) => at < next && line.startsWith("| `PT"));
    const cell = (text: string) => text.replaceAll("|", "\\|");
    lines.splice(last + 1, 0, `| \`${code}\` | \`${cell(message)}\` | ${cell(hint)} |`);
  }
  return lines.join("\n");
}

/**
 * Functions that raise for others: what they are called with, and what they put before it. Where
 * code is null, the first argument is the status.
 */
const carriers: Record<string, { code: string | null; argument: number; prefix: string }> = {
  "logloom_private.query_refuse": { code: "PT400", argument: 1, prefix: "" },
  "logloom_private.query_regex_refuse": {
    code: "PT400",
    argument: 1,
    prefix: "Regular expression: ",
  },
  "logloom_private.refuse_ingest": { code: null, argument: 1, prefix: "" },
  "logloom_private.refuse_for_now": { code: "PT429", argument: 0, prefix: "" },
  "logloom_private.refuse_and_keep": { code: "PT400", argument: 0, prefix: "" },
  "logloom_private.refuse_rate": { code: "PT429", argument: 0, prefix: "Rate limit reached: … " },
};

const handedThrough = ["", ...Object.values(carriers).map(({ prefix }) => prefix)]
  .map((prefix) => `${prefix}…`);

export function errorsIn(sql: string): RaisedError[] {
  const errors: RaisedError[] = [];
  const add = (code: string, expression: string, hinted: string | undefined, prefix = "") => {
    const hint = hinted === undefined ? undefined : templates(hinted)[0].replace(/…+/g, "…");
    for (const template of templates(expression)) {
      const message = (prefix + template).replace(/…+/g, "…");
      // What is only handed through is found where it is handed in.
      if (!handedThrough.includes(message)) {
        errors.push(hint ? { code, message, hint } : { code, message });
      }
    }
  };
  for (const raise of sql.matchAll(/raise sqlstate '(PT\d{3})' using\s+message = /g)) {
    const [message, ...options] = splitAtCommas(sql.slice(raise.index + raise[0].length));
    const hint = options.find((option) => option.startsWith("hint = "));
    add(raise[1], message, hint?.slice("hint = ".length));
  }
  for (const [name, { code, argument, prefix }] of Object.entries(carriers)) {
    const call = new RegExp(`(?:perform|return) ${name.replace(".", "\\.")}\\(`, "g");
    for (const { 0: text, index } of sql.matchAll(call)) {
      const given = splitAtCommas(sql.slice(index + text.length));
      add(code ?? `PT${given[0]}`, given[argument], given[argument + 1], prefix);
    }
  }
  for (
    const [, text] of sql.matchAll(/comment on constraint \w+ on [\w.]+ is\s+'(Invalid[^\n]*)/g)
  ) {
    errors.push({ code: "PT400", message: text.replaceAll("''", "'") });
  }
  return errors;
}

/** The expressions that stand before the end of a statement or of the bracket they are in. */
function splitAtCommas(sql: string): string[] {
  const parts = [""];
  let depth = 0;
  for (const token of tokens(sql)) {
    if (token === "(") depth += 1;
    if (token === ")") depth -= 1;
    if (depth < 0 || (depth === 0 && token === ";")) break;
    if (depth === 0 && token === ",") parts.push("");
    else parts[parts.length - 1] += token;
  }
  return parts.map((part) => part.trim());
}

/** The texts that an expression can have, … for what is not written in it. */
function templates(expression: string): string[] {
  const operands = split(expression, (token) => token === "||");
  if (operands.length > 1) {
    return operands.map(templates).reduce((heads, tails) =>
      heads.flatMap((head) => tails.map((tail) => head + tail))
    );
  }
  const literal = /^'((?:[^']|'')*)'$/.exec(expression);
  if (literal) return [literal[1].replaceAll("''", "'")];
  const format = /^format\(([\s\S]*)\)$/.exec(expression);
  if (format) {
    return templates(splitAtCommas(format[1])[0])
      .map((text) => text.replace(/%[sIL]/g, "…"));
  }
  const choice = /^case\b([\s\S]*)\bend$/.exec(expression);
  if (choice) {
    const words = ["when", "then", "else"];
    const branches = split(choice[1], (token) => words.includes(token), true);
    return branches.filter((branch) => /^(then|else)\b/.test(branch))
      .flatMap((branch) => templates(branch.slice("then".length).trim()));
  }
  return ["…"];
}

/** Splits where a token outside brackets is a separator, which the next part keeps if told so. */
function split(sql: string, separates: (token: string) => boolean, keep = false): string[] {
  const parts = [""];
  let depth = 0;
  let cases = 0;
  for (const token of tokens(sql)) {
    if (token === "(") depth += 1;
    if (token === ")") depth -= 1;
    if (token === "case") cases += 1;
    if (depth === 0 && cases === 0 && separates(token)) parts.push(keep ? token : "");
    else parts[parts.length - 1] += token;
    if (token === "end") cases -= 1;
  }
  return parts.map((part) => part.trim());
}

function* tokens(sql: string): Generator<string> {
  for (const [token] of sql.matchAll(/'(?:[^']|'')*'|\|\||\w+|\s+|[\s\S]/g)) yield token;
}
