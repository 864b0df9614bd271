import type { Metric } from "./metric_tree.ts";
import { refuse } from "./loki_error.ts";
import { keyOf, type Series } from "./vector_arithmetic.ts";

/** The longest value that an expression is matched against. */
const maxReplaced = 300;

/** label_replace. Refuses expressions that could take long. */
export function replaced(
  { target, replacement, source, pattern }: Metric & { kind: "label_replace" },
  series: readonly Series[],
): Series[] {
  const regex = quickRegex(pattern);
  const found = series.map(({ labels, points }) => {
    const value = labels[source] ?? "";
    if (value.length > maxReplaced) refuse(`label_replace: a value of ${source} is too long`);
    const match = regex.exec(value);
    if (match === null) return { labels, points };
    const { [target]: _, ...others } = labels;
    const text = replacement.replace(
      /\$(?:(\$)|(\w+)|\{(\w+)\})/g,
      (_all, dollar?: string, plain?: string, braced?: string) =>
        dollar ?? match[Number(plain ?? braced)] ?? match.groups?.[plain ?? braced ?? ""] ?? "",
    );
    return { labels: text === "" ? others : { ...others, [target]: text }, points };
  });
  if (new Set(found.map(({ labels }) => keyOf(labels))).size < found.length) {
    refuse("label_replace: two series would have the same labels");
  }
  return found;
}

/** Allows two repetitions, and none of a group: the time is then at most the square of the value's length. */
function quickRegex(pattern: string): RegExp {
  const plain = pattern.replace(/\\[\s\S]|\[\^?\]?[^\]]*\]/g, "x")
    .replace(/\(\?(?::|P?<\w+>)/g, "(").replace(/([*+?}])\?/g, "$1");
  const count = (sign: RegExp) => (plain.match(sign) ?? []).length;
  const isQuick = pattern.length <= 256 && count(/[*+?{]/g) <= 2 && count(/\|/g) <= 8 &&
    !/\)[*+?{]|\(\?/.test(plain) && !/\\(?![dDwWsSbBnrtfv])[0-9A-Za-z]/.test(pattern);
  try {
    if (isQuick) return new RegExp(`^(?:${pattern.replaceAll("(?P<", "(?<")})$`, "s");
  } catch {
    // An invalid expression is refused below.
  }
  return refuse(
    `label_replace: ${
      JSON.stringify(pattern)
    } is not supported: at most two of * + ? {}, none of a group`,
  );
}
