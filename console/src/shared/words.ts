/** Labels in the language of a page around this one, by the English ones. */
let labels = new Map<string, string>();
const listeners = new Set<() => void>();

/** Told when the labels change. */
export function onLabels(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export const labelsNow = (): unknown => labels;

export function takeLabels(given: Record<string, unknown>): void {
  labels = new Map(
    Object.entries(given).flatMap(([english, label]) =>
      typeof label === "string" ? [[english, label.slice(0, 200)] as const] : []
    ),
  );
  for (const listener of listeners) listener();
}

/** A label of the page. */
export function say(english: string): string {
  return labels.get(english) ?? english;
}
