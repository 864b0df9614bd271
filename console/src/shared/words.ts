import { count } from "./numbers.ts";
import { singular } from "./singular.ts";

/**
 * A text without values that `say` says later. `npm run console:texts` finds texts by their types: the literals that
 * have this one, and those that `say` and `Said` are given.
 */
export type Words = string & { readonly said?: never };

type Names<S extends string> = S extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Names<Rest>
  : never;
/** The values of a sentence, by their names. */
export type Values<S extends string, Value> = { [Name in Names<S>]: Value };

/** A label, or one for each plural category of the value `count`. */
type Label = string | Partial<Record<Intl.LDMLPluralRule, string>>;

const longest = 500;
const english = new Intl.PluralRules("en");

/** Labels in the language of a page around this one, by the English ones. */
let labels = new Map<string, Label>();
let plurals = english;
const listeners = new Set<() => void>();

/** Told when the labels change. */
export function onLabels(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export const labelsNow = (): unknown => labels;

/** Takes labels, and the language by whose rules the forms of a label are chosen. */
export function takeLabels(given: Record<string, unknown>, language: unknown): void {
  labels = new Map(
    Object.entries(given).flatMap(([english, label]) => {
      const taken = labelOf(label);
      return taken === null ? [] : [[english, taken] as const];
    }),
  );
  plurals = rulesOf(language) ?? english;
  for (const listener of listeners) listener();
}

function labelOf(given: unknown): Label | null {
  if (typeof given === "string") return given.slice(0, longest);
  if (Object(given) !== given) return null;
  const forms = Object.entries(given as object)
    .filter(([, form]) => typeof form === "string")
    .map(([category, form]) => [category, form.slice(0, longest)] as const);
  return forms.length === 0 ? null : Object.fromEntries(forms);
}

function rulesOf(language: unknown): Intl.PluralRules | null {
  try {
    return typeof language === "string" && language !== "" ? new Intl.PluralRules(language) : null;
  } catch {
    return null;
  }
}

/** The sentence to fill: the label of the page around this one, or the English one; of a count the form for it. */
function sentenceFor(sentence: string, count: unknown): string {
  const label = labels.get(sentence);
  if (typeof label === "string") return label;
  const of = (rules: Intl.PluralRules) => typeof count === "number" ? rules.select(count) : "other";
  const form = label?.[of(plurals)] ?? label?.other;
  if (form !== undefined) return form;
  return of(english) === "one" ? singular[sentence] ?? sentence : sentence;
}

/** A sentence cut at its values: texts and, every second, the name of a value. */
export function partsOf(sentence: string, count: unknown): string[] {
  return sentenceFor(sentence, count).split(/\{(\w+)\}/);
}

type Given<S extends string, Value> = [Names<S>] extends [never] ? [] : [Values<S, Value>];

/** What the page says, with its values; numbers as the reader's locale writes them. */
export function say<S extends string>(
  sentence: S,
  ...[given]: Given<S, string | number>
): string {
  const values: Record<string, string | number> = given ?? {};
  return partsOf(sentence, values.count).map((part, at) => {
    if (at % 2 === 0) return part;
    const value = values[part] ?? "";
    return typeof value === "number" ? count(value) : value;
  }).join("");
}
