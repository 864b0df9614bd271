import { Fragment, type ReactNode } from "react";
import { count } from "./format-number.ts";
import { partsOf, type Values } from "./translate.ts";

/** A translated sentence whose values are elements, or bold. */
export function Sentence<S extends string>({ text, values, strong = false }: {
  text: S;
  values: Values<S, ReactNode>;
  strong?: boolean;
}) {
  const given: Record<string, ReactNode> = values;
  return partsOf(text, given.count).map((part, at) => {
    if (at % 2 === 0) return part;
    const value = given[part];
    const written = typeof value === "number" ? count(value) : value;
    return strong ? <strong key={at}>{written}</strong> : <Fragment key={at}>{written}</Fragment>;
  });
}
