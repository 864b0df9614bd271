// A deploy leaves deno.lock behind: what a package needs has the version of deno.json if it is imported before it.
import "@lezer/lr";
import { parser } from "@grafana/lezer-logql";
import type { SyntaxNode } from "@lezer/common";
import { refuse } from "./refusal.ts";

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
