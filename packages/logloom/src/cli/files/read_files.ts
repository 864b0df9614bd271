import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { isMap, isScalar, isSeq, LineCounter, parseDocument, visit } from "yaml";
import type { Node } from "yaml";
import { changes, ExactNumber } from "../../../../../supabase/functions/_shared/exact_numbers.ts";
import type { FileDocument, Json } from "../../read/types.ts";
import { Failure } from "../failure.ts";
import { harmless } from "../format_lines.ts";
import { fileTypes } from "./file_schema.ts";

/** A thing in a file, with variables that are not yet replaced. */
export interface FileItem {
  readonly type: string;
  readonly node: { toJSON(): unknown };
  /** `file:line` of a member; of the thing itself without a name, or if it has no such member. */
  place(member?: string): string;
}

export interface Files {
  readonly items: readonly FileItem[];
  /** The types that the files have, also without a thing. */
  readonly types: readonly string[];
  /** The variables of each tenant. */
  readonly tenants: ReadonlyMap<string, Variables>;
}

export type Variables = Readonly<Record<string, Json>>;

/** Reads all YAML files of a folder. Fails with the line of the first mistake. */
export async function readFiles(folder: string, shown: string): Promise<Files> {
  const names = await readdir(folder).catch(() => {
    throw new Failure(`there is no folder ${shown}: pull makes it.`);
  });
  const items: FileItem[] = [];
  const types = new Set<string>();
  const tenants = new Map<string, Variables>();
  for (const name of names.filter((name) => /\.ya?ml$/.test(name)).sort()) {
    const lines = new LineCounter();
    const document = parseDocument(await textOf(join(folder, name), `${shown}/${name}`), {
      lineCounter: lines,
      prettyErrors: false,
    });
    const at = (offset: number) => `${shown}/${name}:${lines.linePos(offset).line}`;
    const fail = (node: { range?: readonly number[] | null } | null, what: string): never => {
      throw new Failure(`${at(node?.range?.[0] ?? 0)}: ${what}.`);
    };
    if (document.directives?.yaml.version === "1.1") fail(null, "a file is YAML 1.2, not 1.1");
    for (const { pos, message } of [...document.errors, ...document.warnings]) {
      throw new Failure(`${at(pos[0])}: ${message}`);
    }
    visit(document, {
      Alias: (_, alias) => fail(alias, "anchors and aliases are not used here"),
      Map(_, { items }) {
        // To the parser, 404 and "404" are two members.
        const names = new Set<string>();
        for (const { key } of items as { key: Node }[]) {
          if (names.size === names.add(String(key)).size) fail(key, `${key} is there twice`);
        }
      },
      Scalar(role, scalar) {
        const { source = "", value } = scalar;
        if (typeof value === "string") {
          if (!value.includes("\0") && value.isWellFormed()) return;
          fail(scalar, "a text has a NUL or half a surrogate pair");
        }
        const text = `${value ?? ""}`;
        if (role === "key" ? text !== source : typeof value === "number" && !isFinite(value)) {
          fail(scalar, `${source} would become ${text || "empty"}: put it in quotes`);
        }
        if (typeof value === "number") scalar.value = exact(source, value);
      },
    });
    const { contents } = document;
    if (contents === null || isScalar(contents) && contents.value === null) continue;
    if (!isMap<Node, Node>(contents)) {
      return fail(contents, "a file has lists, such as alert_rules:");
    }
    for (const { key, value } of contents.items) {
      const type = String(key);
      if (type === "tenants") {
        if (!isMap<Node, Node>(value)) {
          return fail(key, "tenants has ids and their variables, such as acme: { limit: 10 }");
        }
        for (const { key, value: variables } of value.items) {
          const given = variables === null ? null : withNumbers(variables.toJS(document));
          if (given !== null && typeof given !== "object") fail(key, "a tenant has variables");
          const others = tenants.get(String(key)) ?? {};
          const twice = Object.keys(given ?? {}).find((name) => Object.hasOwn(others, name));
          if (twice !== undefined) fail(key, `the tenant has ${twice} in another file, too`);
          tenants.set(String(key), { ...others, ...given as Variables });
        }
        continue;
      }
      if (!Object.hasOwn(fileTypes, type)) {
        const known = Object.keys(fileTypes).join(", ");
        fail(key, `there is no ${harmless(type)}: the types are ${known}, and tenants`);
      }
      types.add(type);
      const isEmpty = value === null || isScalar(value) && value.value === null;
      if (!isEmpty && !isSeq(value)) fail(value, `${type} is a list`);
      const list = isSeq<Node>(value) ? value.items : [];
      for (const node of list) {
        if (!isMap<Node, Node>(node)) fail(node, `an item of ${type} has members`);
      }
      if (fileTypes[type].row !== undefined) {
        const node = { toJSON: () => ({ name: type, rules: list.map((one) => one.toJSON()) }) };
        items.push({ type, node, place: () => at(key.range?.[0] ?? 0) });
        continue;
      }
      for (const node of list.filter((one) => isMap<Node, Node>(one))) {
        items.push({
          type,
          node,
          place(member) {
            const pair = node.items.find(({ key }) => String(key) === member);
            return at((pair?.key ?? node).range?.[0] ?? 0);
          },
        });
      }
    }
  }
  return { items, types: [...types], tenants };
}

/** The text of a file. Fails unless it is UTF-8. */
export async function textOf(path: string, shown: string): Promise<string> {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(await readFile(path));
  } catch {
    throw new Failure(`${shown} cannot be read: it is not a file with UTF-8.`);
  }
}

/** A number of YAML with more digits than JavaScript keeps. The parser returns it as it is. */
class Digits {
  constructor(readonly text: string) {}
}

function exact(source: string, value: number): number | Digits {
  const decimal = /^0[ox]/.test(source)
    ? `${BigInt(source)}`
    : source.replace("+", "").replace(/^(-?)\./, "$10.").replace(/\.(?!\d)/, "");
  return changes(decimal) ? new Digits(decimal) : value;
}

/** A value of the parser, with its numbers as our JSON writes them. */
function withNumbers(value: unknown): unknown {
  if (value instanceof Digits) return new ExactNumber(value.text);
  if (Array.isArray(value)) return value.map(withNumbers);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, withNumbers(one)]));
}

/** Numbers within objects. The service turns the text of a variable into a number only in a field itself. */
const numbers = ["rules.days", "recurrence.minutes", "baseline.days", "baseline.deviations"];

/**
 * Replaces ${NAME} in all texts of an item: by a variable of the tenant, or else of the environment. A tenant's variable
 * may contain others.
 */
export function documentOf(item: FileItem, variables: Variables): FileDocument {
  const { key } = fileTypes[item.type];
  let count = 0;
  const json = withNumbers(item.node.toJSON()) as Json;
  const { [key]: name, renamed_from = null, ...fields } = replaced(json, "", []) as {
    [member: string]: Json;
  };
  if (name === undefined || name === null) throw new Failure(`${item.place()}: ${key} is missing.`);
  return {
    type: item.type,
    name: identity(name, key),
    ...renamed_from !== null && { renamed_from: identity(renamed_from, "renamed_from") },
    fields,
  };

  function identity(value: Json, member: string): string {
    if (typeof value === "string") return value;
    throw new Failure(`${item.place(member)}: ${member} is a text: put it in quotes.`);
  }

  /** `path`: the members that lead to the value. `names`: the variables that it is within. */
  function replaced(value: Json, path: string, names: readonly string[]): Json {
    if (typeof value === "string") return replacedText(value, path, names);
    if (Array.isArray(value)) return value.map((one) => replaced(one, path, names));
    if (typeof value !== "object" || value === null || value instanceof ExactNumber) return value;
    const within = path === "" ? "" : `${path}.`;
    return Object.fromEntries(
      Object.entries(value).map(([name, one]) => [name, replaced(one, within + name, names)]),
    );
  }

  function replacedText(text: string, path: string, names: readonly string[]): Json {
    const [, whole] = /^\$\{(\w+)\}$/.exec(text) ?? [];
    if (whole !== undefined) {
      const value = valueOf(whole, path, names);
      const isText = typeof value === "string" && /^\d+(\.\d+)?$/.test(value);
      return isText && numbers.includes(path) ? Number(value) : value;
    }
    return text.replace(
      /\$?\$\{(\w+)\}/g,
      (found, name) => found.startsWith("$$") ? found.slice(1) : partOf(name, path, names),
    );
  }

  function partOf(name: string, path: string, names: readonly string[]): string {
    const value = valueOf(name, path, names);
    if (typeof value !== "object" || value instanceof ExactNumber) return String(value);
    return fail(path, `${name} is not a text: it cannot be part of one`);
  }

  function valueOf(name: string, path: string, names: readonly string[]): Json {
    if (++count > 10_000) fail(path, "its variables contain too many others");
    if (names.includes(name)) fail(path, `the variable ${name} contains itself`);
    if (Object.hasOwn(variables, name)) return replaced(variables[name], path, [...names, name]);
    // Else a file that others wrote could send the token of whoever applies it.
    if (/^LOGLOOM_/i.test(name)) fail(path, `${name} is a setting of this command: no file has it`);
    if (/^secrets\b/.test(path) && !name.startsWith("SECRET_")) {
      fail(path, `variables of secrets begin with SECRET_: rename ${name} to SECRET_${name}`);
    }
    return process.env[name] ||
      fail(path, `there is no variable ${name}: set it in the environment, or for the tenant`);
  }

  function fail(path: string, what: string): never {
    throw new Failure(`${item.place(path.split(".")[0])}: ${what}.`);
  }
}
