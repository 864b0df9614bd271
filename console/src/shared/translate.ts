import { count } from "./format-number.ts";
import { singular } from "./singular-sentences.ts";

/**
 * A text to translate, without values, that is passed to `say` later. `npm run console:texts` lists the literals of this
 * type and those given to `say` and `Sentence`.
 */
export type Words = string & { readonly said?: never };

type Names<S extends string> = S extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Names<Rest>
  : never;
/** The values of a sentence, by name. */
export type Values<S extends string, Value> = { [Name in Names<S>]: Value };

/** A translation, or one for each plural category of the value `count`. */
type Label = string | Partial<Record<Intl.LDMLPluralRule, string>>;

const longest = 500;
const english = new Intl.PluralRules("en");

/** Translations from the page around a frame, by the English text. */
let labels = new Map<string, Label>();
let plurals = english;
const listeners = new Set<() => void>();

/** Calls the listener when the labels change. */
export function onLabels(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export const labelsNow = (): unknown => labels;

/** Sets the labels, and the language whose plural rules apply. */
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

/** The translated sentence, or the English one, in the plural form of `count`. */
function sentenceFor(sentence: string, count: unknown): string {
  const label = labels.get(sentence);
  if (typeof label === "string") return label;
  const of = (rules: Intl.PluralRules) => typeof count === "number" ? rules.select(count) : "other";
  const form = label?.[of(plurals)] ?? label?.other;
  if (form !== undefined) return form;
  return of(english) === "one" ? singular[sentence] ?? sentence : sentence;
}

/** The sentence split at its values: every second part is the name of a value. */
export function partsOf(sentence: string, count: unknown): string[] {
  return sentenceFor(sentence, count).split(/\{(\w+)\}/);
}

type Given<S extends string, Value> = [Names<S>] extends [never] ? [] : [Values<S, Value>];

/** The translated sentence with its values. Numbers are written in the reader's locale. */
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
