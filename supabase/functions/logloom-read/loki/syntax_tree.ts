// deno.lock is not deployed: a package's dependency gets the version in deno.json only if it is imported first.
import "@lezer/lr";
import { parser } from "@grafana/lezer-logql";
import type { SyntaxNode } from "@lezer/common";
import { refuse } from "./loki_error.ts";
import { quoted, stringOf } from "./string_literals.ts";

/** A node of LogQL's syntax tree, named as in Grafana's grammar. */
export interface Node {
  readonly name: string;
  readonly text: string;
  readonly from: number;
  readonly children: readonly Node[];
}

/** More than any editor sends. It limits the cost of nested brackets. */
const maxCharacters = 5000;
/** The deepest nesting of nodes, because each level is a nested call. */
const maxDepth = 600;

/** Parses a query and refuses errors. The parser itself never throws, but returns error nodes. */
export function parseLogql(query: string): Node {
  if (query.length > maxCharacters) refuse(`query too long: more than ${maxCharacters} characters`);
  if (query.includes("\0")) refuse("parse error: the query contains a NUL");
  return copy(parser.parse(query).topNode, query, 0);
}

function copy(node: SyntaxNode, query: string, depth: number): Node {
  const { name, from, to } = node;
  if (depth > maxDepth) refuse("query too complex: it is nested too deeply");
  const text = query.slice(from, to);
  if (node.type.isError) {
    const found = text === "" ? "unexpected end" : `unexpected ${shortened(text)}`;
    refuse(`parse error at line 1, col ${from + 1}: syntax error: ${found}`);
  }
  const children: Node[] = [];
  for (let child = node.firstChild; child !== null; child = child.nextSibling) {
    if (child.name !== "LineComment") children.push(copy(child, query, depth + 1));
  }
  return { name, text, from, children };
}

export function shortened(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);
}

export function childOf(node: Node, ...names: string[]): Node | undefined {
  return node.children.find(({ name }) => names.includes(name));
}

export function needed(node: Node, ...names: string[]): Node {
  return childOf(node, ...names) ?? refuse(`parse error at line 1, col ${node.from + 1}`);
}

/** The items of a list such as Matchers, which the grammar nests within itself. */
export function itemsOf(list: Node | undefined, item: string): Node[] {
  if (list === undefined) return [];
  return list.children.flatMap((child) => {
    if (child.name === item) return [child];
    return child.name === list.name ? itemsOf(child, item) : [];
  });
}

/** The texts of a line filter with `or`. */
export function stringsOf(line: Node): string[] {
  const values: string[] = [];
  for (let at: Node | undefined = line; at !== undefined; at = childOf(at, "OrFilter")) {
    if (childOf(at, "FilterOp") !== undefined) refuse("ip() of a line is not supported");
    values.push(stringOf(needed(at, "String").text));
  }
  return values;
}

/** The parts of a label filter, and the operators between them. */
export function filterChainOf(filter: Node): { operands: Node[]; operators: string[] } {
  const [left, ...rest] = filter.children;
  const right = rest[rest.length - 1];
  // A filter in brackets begins before its first part.
  if (left.name !== "LabelFilter" || right?.name !== "LabelFilter" || filter.from !== left.from) {
    return { operands: [filter], operators: [] };
  }
  const first = filterChainOf(left);
  const second = filterChainOf(right);
  return {
    operands: [...first.operands, ...second.operands],
    operators: [
      ...first.operators,
      rest.length > 1 && rest[0].name === "Or" ? "or" : "and",
      ...second.operators,
    ],
  };
}

export function namesIn(node: Node, kind: "Drop" | "Keep"): string[] {
  return itemsOf(childOf(node, `${kind}Labels`), `${kind}Label`).map((label) => {
    const name = childOf(label, "Identifier");
    return name?.text ?? refuse(`| ${kind.toLowerCase()} ${label.text}: only names are supported`);
  });
}

/** `http.method` or `["http"]["method"]`. */
export function pathOf(source: string, kind: string): string {
  const parts = source.match(/[\w-]+|\["(?:[^"\\]|\\.)*"\]/g) ?? [];
  const joined = parts.map((part) => part.startsWith("[") ? part : `.${part}`).join("");
  if (joined.replace(/^\./, "") !== source.replace(/^\./, "") || parts.length > 5) {
    return refuse(`| ${kind} ${JSON.stringify(source)}: only names of members are supported`);
  }
  const names = parts.map((part) => part.startsWith("[") ? stringOf(part.slice(1, -1)) : part);
  return ["attrs", ...names.map((name) => /^[\w-]+$/.test(name) ? name : quoted(name))].join(".");
}

export interface Grouping {
  readonly isWithout: boolean;
  readonly names: readonly string[];
}

export function groupingOf(node: Node): Grouping {
  const grouping = childOf(node, "Grouping");
  if (grouping === undefined) return { isWithout: false, names: [] };
  return {
    isWithout: childOf(grouping, "Without") !== undefined,
    names: [...new Set(itemsOf(childOf(grouping, "Labels"), "Identifier").map(({ text }) => text))],
  };
}
