import { Fragment, type ReactNode } from "react";
import { count } from "./numbers.ts";
import { partsOf, type Values } from "./words.ts";

/** A sentence with elements for its values, or with its values in bold. */
export function Said<S extends string>({ words, of, strong = false }: {
  words: S;
  of: Values<S, ReactNode>;
  strong?: boolean;
}) {
  const values: Record<string, ReactNode> = of;
  return partsOf(words, values.count).map((part, at) => {
    if (at % 2 === 0) return part;
    const value = values[part];
    const written = typeof value === "number" ? count(value) : value;
    return strong ? <strong key={at}>{written}</strong> : <Fragment key={at}>{written}</Fragment>;
  });
}
