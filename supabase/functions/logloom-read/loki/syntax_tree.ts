// A deploy leaves deno.lock behind: what a package needs has the version of deno.json if it is imported before it.
import "@lezer/lr";
import { parser } from "@grafana/lezer-logql";
import type { SyntaxNode } from "@lezer/common";
import { refuse } from "./refusal.ts";
import { quoted, stringOf } from "./texts.ts";

/** A node of LogQL's syntax, as the grammar of Grafana names it. */
export interface Node {
  readonly name: string;
  readonly text: string;
  readonly from: number;
  readonly children: readonly Node[];
}

/** More than any editor sends; it bounds what a text in brackets within brackets can cost. */
const maxCharacters = 5000;
/** Of nodes within nodes: each level is a call within a call. */
const maxDepth = 600;

/** The parser never throws: what it does not understand is a node whose type is an error. */
export function parseLogql(query: string): Node {
  if (query.length > maxCharacters) refuse(`query too long: more than ${maxCharacters} characters`);
  if (query.includes("\0")) refuse("parse error: the query contains a NUL");
  return copy(parser.parse(query).topNode, query, 0);
}

function copy(node: SyntaxNode, query: string, depth: number): Node {
  const { name, from, to } = node;
  if (depth > maxDepth) refuse("query too complex: too much stands within something else");
  const text = query.slice(from, to);
  if (node.type.isError) {
    const found = text === "" ? "unexpected end of a part" : `unexpected ${shortened(text)}`;
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

/** A list, such as Matchers, holds itself as long as there is more than one item. */
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

/** The parts of a label filter, and what stands between them. */
export function filterChainOf(filter: Node): { operands: Node[]; operators: string[] } {
  const [left, ...rest] = filter.children;
  const right = rest[rest.length - 1];
  // In brackets the text begins before the first part.
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
    names: [
      ...new Set(itemsOf(childOf(grouping, "Labels"), "Identifier").map(({ text }) => text)),
    ],
  };
}
