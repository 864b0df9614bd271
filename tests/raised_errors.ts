import { checkout } from "../local/stack.ts";

/** An error that a function of the database raises; … stands for what differs from case to case. */
export interface RaisedError {
  code: string;
  message: string;
}

/** What the migrations can raise, read from their text: each code with each message, once. */
export async function raisedErrors(): Promise<RaisedError[]> {
  const folder = `${checkout}/supabase/migrations`;
  const found = new Map<string, RaisedError>();
  for await (const { name } of Deno.readDir(folder)) {
    for (const error of errorsIn(await Deno.readTextFile(`${folder}/${name}`))) {
      found.set(`${error.code} ${error.message}`, error);
    }
  }
  return [...found.values()];
}

/**
 * Functions that raise for others: what they are called with, and what they put before it. Where
 * code is null, the first argument is the status.
 */
const carriers: Record<string, { code: string | null; argument: number; prefix: string }> = {
  "private.query_refuse": { code: "PT400", argument: 1, prefix: "" },
  "private.query_regex_refuse": { code: "PT400", argument: 1, prefix: "Regular expression: " },
  "private.refuse_ingest": { code: null, argument: 1, prefix: "" },
  "private.refuse_rate": { code: "PT429", argument: 0, prefix: "Rate limit reached: … " },
};

const handedThrough = ["", ...Object.values(carriers).map(({ prefix }) => prefix)]
  .map((prefix) => `${prefix}…`);

export function errorsIn(sql: string): RaisedError[] {
  const errors: RaisedError[] = [];
  const add = (code: string, expression: string, prefix = "") => {
    for (const template of templates(expression)) {
      const message = (prefix + template).replace(/…+/g, "…");
      // What is only handed through is found where it is handed in.
      if (!handedThrough.includes(message)) errors.push({ code, message });
    }
  };
  for (const raise of sql.matchAll(/raise sqlstate '(PT\d{3})' using\s+message = /g)) {
    add(raise[1], splitAtCommas(sql.slice(raise.index + raise[0].length))[0]);
  }
  for (const [name, { code, argument, prefix }] of Object.entries(carriers)) {
    const call = new RegExp(`perform ${name.replace(".", "\\.")}\\(`, "g");
    for (const { 0: text, index } of sql.matchAll(call)) {
      const given = splitAtCommas(sql.slice(index + text.length));
      add(code ?? `PT${given[0]}`, given[argument], prefix);
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
