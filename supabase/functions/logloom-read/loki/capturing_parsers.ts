import { writtenForExtract } from "../../_shared/linear_regex/regex_syntax.ts";
import { refuse } from "./loki_error.ts";
import { LokiRegex } from "./loki_regex.ts";
import { literalRegex, quotedRegex } from "./string_literals.ts";

/** A parser that names parts of a line. */
export interface CapturingParser {
  readonly names: readonly string[];
  readonly labelsOf: (line: string) => [string, string][];
  /** The stage of our query language that finds the same, if there is one. */
  readonly stage: string | undefined;
}

/** The parsers by their names in LogQL. */
export const capturers: Record<string, ((text: string) => CapturingParser) | undefined> = {
  pattern: patternParser,
  regexp: regexpParser,
};

const stageOf = (expression: string) => `extract_regexp ${quotedRegex(expression)}`;

/** `<ip> - <_> "<method> <path>"`: a part ends where the next text comes first, else with the line. */
function patternParser(pattern: string): CapturingParser {
  const [first, ...pieces] = pattern.split(/(<[A-Za-z_]\w*>)/);
  const parts = pieces.flatMap((piece, n) =>
    n % 2 === 0 ? [{ name: piece.slice(1, -1), end: pieces[n + 1] }] : []
  );
  const fail = (what: string): never => refuse(`pattern ${JSON.stringify(pattern)}: ${what}`);
  const names = parts.map(({ name }) => name).filter((name) => name !== "_");
  if (names.length === 0) fail("at least one capture is required");
  if (new Set(names).size < names.length) fail("duplicate capture name");
  if (parts.slice(0, -1).some(({ end }) => end === "")) fail("found consecutive captures");
  const labelsOf = (line: string) => {
    const found: [string, string][] = [];
    if (line === "" || !line.startsWith(first)) return found;
    let at = first.length;
    for (const { name, end } of parts) {
      const next = end === "" ? -1 : line.indexOf(end, at);
      if (name !== "_") found.push([name, line.slice(at, next === -1 ? undefined : next)]);
      if (next === -1) break;
      at = next + end.length;
    }
    return found;
  };
  return { names, labelsOf, stage: stageOfPattern(first, parts) };
}

/** A part that ends with one character is an expression of all others; a longer end is none. */
function stageOfPattern(
  first: string,
  parts: readonly { readonly name: string; readonly end: string }[],
): string | undefined {
  if (parts.some(({ end }) => [...end].length > 1)) return undefined;
  const rest = parts.reduceRight((after, { name, end }, n) => {
    const one = end === "" ? "." : `[^${literalRegex(end).replace("-", "\\-")}]`;
    const part = name === "_" ? `${one}*` : `(?P<${name}>${one}*)`;
    return n === parts.length - 1 ? part : `${part}(?:${literalRegex(end)}${after})?`;
  }, "");
  return stageOf(`^${literalRegex(first)}${rest}`);
}

/** `took (?P<ms>[0-9]+)ms`: the named groups of the first match. */
function regexpParser(pattern: string): CapturingParser {
  const regex = new LokiRegex(pattern);
  const { names: groups } = regex.syntax;
  const names = groups.filter((name) => name !== "");
  if (names.length === 0) refuse("regexp: at least one named capture must be supplied");
  if (new Set(names).size < names.length) refuse("regexp: duplicate extracted label name");
  const labelsOf = (line: string) => {
    const [, ...texts] = regex.find(line) ?? [];
    return texts.flatMap((text, n): [string, string][] =>
      groups[n] === "" ? [] : [[groups[n], text ?? ""]]
    );
  };
  const written = writtenForExtract(regex.syntax);
  return { names, labelsOf, stage: written && stageOf(written) };
}
