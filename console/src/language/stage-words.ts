import {
  type Can,
  fieldKind,
  type Found,
  isBlank,
  type Look,
  quotedAt,
  textOf,
} from "./read-word.ts";
import { namedGroups } from "./regex.ts";

/** The fixed words of a stage. */
const words: Record<string, string[]> = {
  Where: ["where"],
  Having: ["where"],
  Extract: ["json", "logfmt"],
  ExtractText: ["extract"],
  ExtractRegexp: ["extract_regexp"],
  From: ["from"],
  Sort: ["sort"],
  Limit: ["limit"],
  Fields: ["fields"],
  Patterns: ["patterns"],
  Math: ["math"],
  By: ["by"],
  If: ["if"],
  As: ["as"],
  Asc: ["asc"],
  Desc: ["desc"],
  AndOp: ["AND"],
  PlainFunction: ["count", "rate"],
  FieldFunction: ["count_distinct"],
  EdgeFunction: ["min", "max"],
  HavingOp: ["<", ">", "=", "<=", ">=", "!="],
};

const isQuoted = /^"(?:[^"\\]|\\[\s\S])*"$/;
const isName = /^(?:[A-Za-z_][A-Za-z0-9_]{0,59})?$/;

function namesOnce(names: string[] | null): boolean {
  return names !== null && names.length > 0 && new Set(names).size === names.length;
}

/** Whether a text is a pattern of `extract`: names between texts that separate them. */
function isPattern(text: string): boolean {
  if (!isQuoted.test(text)) return false;
  const parts = textOf(text).split(/<([^<>]*)>/);
  const names = parts.filter((_, i) => i % 2 === 1);
  return names.every((name) => isName.test(name)) &&
    parts.every((part, i) => i % 2 === 1 || i === 0 || i === parts.length - 1 || part !== "") &&
    namesOnce(names.filter((name) => name !== "" && name !== "_"));
}

/** Words that are recognised by their form. */
const forms: Record<string, (text: string) => boolean> = {
  NumberFunction: (text) => /^(sum|avg|p(100|\d{1,2}(\.\d{1,4})?))$/.test(text),
  TextFieldName: (text) => /^(msg|text|host|attrs)$/.test(fieldKind(text) ?? ""),
  AttrFieldName: (text) => fieldKind(text) === "attrs",
  EdgeFieldName: (text) => /^(attrs|time)$/.test(fieldKind(text) ?? ""),
  AnyFieldName: (text) => !/^(any)?$/.test(fieldKind(text) ?? ""),
  Pattern: isPattern,
  Expression: (text) => isQuoted.test(text) && namesOnce(namedGroups(text.slice(1, -1))),
  NewName: (text) => /^[A-Za-z_][A-Za-z0-9_]{0,59}$/.test(text),
  Duration: (text) => /^[1-9]\d{0,4}[smhdw]$/.test(text),
  Count: (text) => /^[1-9]\d{0,5}$/.test(text),
  HavingNumber: (text) => isNumber(text.replace(/^-/, "")),
  ColumnName: () => true,
};

/** Tokens that are possible only in a stage, not in a filter. */
const places = [...Object.keys(words), ...Object.keys(forms), "MathOp", "Amount"]
  .filter((name) => name !== "AndOp");

/** Whether a text is a number without a sign that a double holds. */
function isNumber(text: string): boolean {
  return /^\d+(\.\d+)?([eE][+-]?\d{1,3})?$/.test(text) && Number.isFinite(Number(text)) &&
    (Number(text) !== 0 || !/[1-9]/.test(text.replace(/[eE].*/, "")));
}

export function isStagePlace(can: Can): boolean {
  return places.some(can);
}

/** Reads a word of a stage. Quotes are part of a name. Commas, brackets and comparisons end it. */
export function stageWordAt(look: Look, can: Can): Found | null {
  if (can("Amount") || can("MathOp")) return mathWordAt(look, can);
  const length = lengthAt(look);
  if (length === 0) return null;
  let text = "";
  for (let at = 0; at < length; at++) text += look(at);
  for (const [name, known] of Object.entries(words)) {
    if (known.includes(text) && can(name)) return { name, length };
  }
  if (/^[<>=!]/.test(text)) return null;
  for (const [name, fits] of Object.entries(forms)) {
    if (can(name) && fits(text)) return { name, length };
  }
  return null;
}

/** Reads an operator, a number or a name of `math`. */
function mathWordAt(look: Look, can: Can): Found | null {
  const sign = can("Amount") ? "MathSign" : "MathOp";
  if (can(sign) && (sign === "MathOp" ? /[-+*/%]/ : /-/).test(look(0))) {
    return { name: sign, length: 1 };
  }
  let text = "";
  while (/[\w.]/.test(look(text.length)) || isExponent(text, look(text.length))) {
    text += look(text.length);
  }
  if (can("As")) return text === "as" ? { name: "As", length: 2 } : null;
  const name = isNumber(text) ? "Amount" : /^[A-Za-z_]/.test(text) ? "ResultName" : "";
  return can(name) ? { name, length: text.length } : null;
}

/** Whether a sign goes on with the number before it, as in 1e-3. */
function isExponent(text: string, next: string): boolean {
  return /^\d[\w.]*[eE]$/.test(text) && /[-+]/.test(next);
}

function lengthAt(look: Look): number {
  let length = 0;
  for (;;) {
    const character = look(length);
    if (character === '"') {
      const quoted = quotedAt(look, length);
      if (quoted === null) break;
      length += quoted.length;
    } else if (character === "" || isBlank(character) || /[(),|<>=!]/.test(character)) break;
    else length += 1;
  }
  if (length > 0) return length;
  if (/[<>!]/.test(look(0)) && look(1) === "=") return 2;
  return /[<>=]/.test(look(0)) ? 1 : 0;
}
