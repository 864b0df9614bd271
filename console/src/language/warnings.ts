import { topTerms } from "./edit.ts";

/** Words of other languages, which here are searched in msg and silently find nothing. */
export function otherLanguage(query: string): string[] {
  const warnings: string[] = [];
  const words = topTerms(query).map(({ text }) => text);
  const lower = words.find((word) => /^(and|or|not)$/.test(word));
  if (lower) {
    warnings.push(
      `"${lower}" is looked for as a word; the operator is ${lower.toUpperCase()}.`,
    );
  }
  const equals = words.find((word) => /^-?[A-Za-z_][\w.]*=/.test(word));
  if (equals) {
    const [field, value] = equals.split("=", 2);
    warnings.push(
      `"${equals}" is looked for in msg; a field is written ${field}:${value ?? "…"}.`,
    );
  }
  if (/^select$/i.test(words[0] ?? "")) {
    warnings.push(
      "This is no SQL: write conditions side by side, then | count() by service.",
    );
  }
  return warnings;
}
