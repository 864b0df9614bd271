import { ExternalTokenizer } from "@lezer/lr";
import {
  type Can,
  colonIn,
  conditionAt,
  fieldKind,
  type Found,
  hasWildcard,
  isBlank,
  isBoundary,
  isBracket,
  isLevel,
  isNoNetwork,
  isTime,
  isUuid,
  type Look,
  measureOf,
  quotedAt,
  runAt,
  textOf,
} from "./read-word.ts";
import { isRegex } from "./regex.ts";
import { isStagePlace, stageWordAt } from "./stage-words.ts";

const fieldTokens = {
  time: "TimeField",
  id: "IdField",
  level: "LevelField",
  any: "AnyField",
  msg: "MsgField",
  text: "TextField",
  host: "HostField",
  attrs: "AttrField",
};

const values: [string, (token: string) => boolean][] = [
  ["TimeValue", isTime],
  ["IdValue", isUuid],
  ["LevelValue", isLevel],
  ["NumberValue", (token) => measureOf(token) !== null],
  ["PlainValue", (token) => !hasWildcard(token)],
  ["SearchValue", (token) => token !== "*" && token !== '""'],
  ["NetworkValue", (token) => !isNoNetwork(token)],
  ["WordValue", (token) => textOf(token) !== ""],
  ["SignedValue", () => true],
  ["TextValue", () => true],
];

const signs = [["i=", "CaseSign"], ["w=", "WordSign"], ["=", "ExactSign"]] as const;

/** Reads the words of a query. What a word means depends on its position. */
export function wordTokenizer(terms: Record<string, number>): ExternalTokenizer {
  return new ExternalTokenizer((input, stack) => {
    const can: Can = (name) => stack.canShift(terms[name] ?? -1);
    const look: Look = (offset) => {
      const code = input.peek(offset);
      return code < 0 ? "" : String.fromCharCode(code);
    };
    const found = tokenAt(look, can);
    if (found) input.acceptToken(terms[found.name] ?? -1, found.length);
  }, { contextual: true });
}

function tokenAt(look: Look, can: Can): Found | null {
  if (isBlank(look(0)) || isBracket(look(0))) return null;
  if (isStagePlace(can)) return stageWordAt(look, can);
  if (can("Regex")) return regexAt(look);
  if (can("To")) return exactly(look, "TO", "To");
  if (values.some(([name]) => can(name))) return valueAt(look, can);
  return termAt(look, can);
}

/** Reads a word of a filter: an operator, a field, or free text. */
function termAt(look: Look, can: Can): Found | null {
  if (!isApart(look)) return null;
  if (look(0) === '"') {
    const quoted = quotedAt(look, 0);
    return quoted !== null && quoted.length > 2 ? { name: "Quoted", length: quoted.length } : null;
  }
  const run = runAt(look, 0);
  if (run === null) return null;
  const isFollowedByQuote = look(run.length) === '"';
  if (run === "AND" || run === "OR" || run === "NOT") {
    const name = `${run[0]}${run.slice(1).toLowerCase()}Op`;
    return can(name) && !isFollowedByQuote ? { name, length: run.length } : null;
  }
  if (run.startsWith("-")) {
    const follows = look(1);
    const isNegating = run.length > 1 || follows === "(" || follows === '"';
    return isNegating ? { name: "Minus", length: 1 } : null;
  }
  const condition = conditionAt(look, 0);
  if (condition !== null) return fieldAt(look, condition);
  if (colonIn(run) >= 0 || isFollowedByQuote || /^[<>~]/.test(run)) return null;
  return { name: "Word", length: run.length };
}

function fieldAt(look: Look, condition: string): Found | null {
  const kind = fieldKind(condition.slice(0, -1));
  const follows = look(condition.length);
  if (kind === null || isBlank(follows) || /[)\]}|]/.test(follows)) return null;
  return { name: fieldTokens[kind], length: condition.length };
}

/** Reads a field's value: after the colon, a sign or an operator, or in a list or range. */
function valueAt(look: Look, can: Can): Found | null {
  // Signs and operators are possible only directly after the colon.
  const isFirst = can("Tilde") || can("ExactSign");
  if (look(0) === '"') {
    const quoted = quotedAt(look, 0);
    return quoted !== null && isBoundary(look(quoted.length)) ? named(quoted, can) : null;
  }
  const run = runAt(look, 0);
  if (run === null) return null;
  if (isFirst) {
    const sign = signs.find(([text]) => run.startsWith(text));
    if (sign) return can(sign[1]) ? { name: sign[1], length: sign[0].length } : null;
    if (/^[<>]/.test(run)) {
      return can("CompareOp") ? { name: "CompareOp", length: run[1] === "=" ? 2 : 1 } : null;
    }
    if (run.startsWith("~")) {
      return can("Tilde") && run === "~" ? { name: "Tilde", length: 1 } : null;
    }
  }
  if (!isBoundary(look(run.length))) return null;
  if (can("OrOp") && run === "OR") return { name: "OrOp", length: 2 };
  if (isInList(look) && /^(AND|OR|NOT)$/.test(run)) return null;
  if (run === "*" && can("Star")) return { name: "Star", length: 1 };
  if (run === "*" && can("OpenBound")) return { name: "OpenBound", length: 1 };
  return named(run, can);
}

/** Whether this value is in a list, which is the only use of round brackets around values. */
function isInList(look: Look): boolean {
  let before = -1;
  while (isBlank(look(before)) && look(before) !== "") before -= 1;
  if (look(before) === "(") return true;
  // Later values of a list follow white space or a bracket.
  return before < -1 && !isOperator(look, before) && !isRangeBound(look, before);
}

/** White space may follow `>` and `=`: the value after it is not in a list. */
function isOperator(look: Look, at: number): boolean {
  return /[<>=]/.test(look(at));
}

function isRangeBound(look: Look, at: number): boolean {
  if (/[[{]/.test(look(at))) return true;
  return look(at) === "O" && look(at - 1) === "T" && isBoundary(look(at - 2));
}

function named(token: string, can: Can): Found | null {
  const fit = values.find(([name, test]) => can(name) && test(token));
  return fit ? { name: fit[0], length: token.length } : null;
}

function regexAt(look: Look): Found | null {
  if (look(0) !== '"') return null;
  const quoted = quotedAt(look, 0);
  if (quoted === null || !isBoundary(look(quoted.length))) return null;
  return isRegex(quoted.slice(1, -1)) ? { name: "Regex", length: quoted.length } : null;
}

function exactly(look: Look, word: string, name: string): Found | null {
  const isThere = runAt(look, 0) === word && isBoundary(look(word.length));
  return isThere ? { name, length: word.length } : null;
}

/** Whether a boundary precedes the term and its minus signs. */
function isApart(look: Look): boolean {
  let before = -1;
  while (look(before) === "-") before -= 1;
  return isBoundary(look(before));
}
