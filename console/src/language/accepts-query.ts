import type { SyntaxNodeRef, Tree } from "@lezer/common";
import type { LRParser } from "@lezer/lr";
import { hasWildcard, measureOf, textOf } from "./read-word.ts";
import { stagesAgree } from "./stages.ts";

const most = { bytes: 2048, terms: 64, depth: 16, searched: 512 };
const isTerm = /^(FreeText|Condition|Amount|ResultName)$/;
const isDeeper = /^(Group|Negation|Nested|Negative)$/;
const listed = /^(Time|Id|Level|Search|Text|Network|Signed|Word)Value$|^Star$/;

/** Whether the service would accept the query: checks the grammar and the rules that a grammar cannot express. */
export function accepts(parser: LRParser, query: string): boolean {
  if (new TextEncoder().encode(query).length > most.bytes) return false;
  const tree = parser.parse(query);
  return keepsLimits(tree, query) && stagesAgree(tree, query);
}

function keepsLimits(tree: Tree, query: string): boolean {
  let isRight = true;
  let terms = 0;
  let depth = 0;
  let searched = 0;
  let isListed = false;
  let measure: string | null = null;
  const textAt = ({ from, to }: SyntaxNodeRef) => query.slice(from, to);
  tree.iterate({
    enter(node) {
      const { name, isError } = node.type;
      if (isError) isRight = false;
      if (isTerm.test(name)) terms += 1;
      if (isDeeper.test(name)) depth += 1;
      if (name === "Range" || name === "Comparison") measure = null;
      if (name === "AnyOf") {
        // Each value of a list counts as a term, the condition around the list does not.
        isListed = true;
        terms -= 1;
        if (depth >= most.depth) isRight = false;
      } else if (isListed && listed.test(name)) terms += 1;
      if (name === "NumberValue") {
        const now = measureOf(textAt(node));
        if (measure !== null && measure !== now) isRight = false;
        measure = now;
      }
      searched += searchedBy(node, textAt(node));
      if (depth > most.depth || terms > most.terms || searched > most.searched) isRight = false;
    },
    leave({ type }) {
      if (isDeeper.test(type.name)) depth -= 1;
      if (type.name === "AnyOf") isListed = false;
    },
  });
  return isRight;
}

/** How many characters of this node count towards the limit of searched text. */
function searchedBy(node: SyntaxNodeRef, text: string): number {
  const { name } = node.type;
  const length = [...text].length;
  if (name === "Quoted" || name === "SearchValue") return length;
  if (name === "Word") return text === "*" ? 0 : length;
  if (name === "WordValue") return [...textOf(text)].length;
  if (name === "NetworkValue") return hasWildcard(text) ? length : 0;
  if (name !== "TextValue") return 0;
  const condition = node.node.parent?.name === "AnyOf" ? node.node.parent.parent : node.node.parent;
  return condition?.firstChild?.name === "MsgField" || hasWildcard(text) ? length : 0;
}
