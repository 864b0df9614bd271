import type { Metric } from "./metric_tree.ts";
import { refuse } from "./loki_error.ts";
import { LokiRegex } from "./loki_regex.ts";
import { keyOf, type Series } from "./vector_arithmetic.ts";

export function replaced(
  { target, replacement, source, pattern }: Metric & { kind: "label_replace" },
  series: readonly Series[],
): Series[] {
  const regex = new LokiRegex(pattern, { isWhole: true });
  const found = series.map(({ labels, points }) => {
    const match = regex.find(labels[source] ?? "");
    if (match === undefined) return { labels, points };
    const { [target]: _, ...others } = labels;
    const text = replacement.replace(
      /\$(?:(\$)|(\w+)|\{(\w+)\})/g,
      (_all, dollar?: string, plain?: string, braced?: string) =>
        dollar ?? match[Number(plain ?? braced)] ??
          match[regex.syntax.names.indexOf(plain ?? braced ?? "") + 1 || -1] ?? "",
    );
    return { labels: text === "" ? others : { ...others, [target]: text }, points };
  });
  if (new Set(found.map(({ labels }) => keyOf(labels))).size < found.length) {
    refuse("label_replace: two series would have the same labels");
  }
  return found;
}
