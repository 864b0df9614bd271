import { keyOf } from "../loki/label_names.ts";
import { refuse } from "../loki/loki_error.ts";
import { all, any, not, ofLabel } from "../loki/matchers.ts";
import { stringOf } from "../loki/string_literals.ts";
import { shortened } from "../loki/syntax_tree.ts";
import { goSecondsOf, numberOf } from "../loki/times_and_durations.ts";

/** Every span, in our query language. */
export const spans = "attrs.kind:span";

/** TraceQL's own names. */
export const intrinsics: ReadonlyMap<string, string> = new Map([
  ["name", "msg"],
  ["status", "level"],
  ["statusMessage", "attrs.status_message"],
  ["kind", "attrs.span_kind"],
  ["duration", "attrs.duration_ms"],
  ["span:id", "attrs.span_id"],
  ["span:parentID", "attrs.parent_id"],
  ["trace:id", "req_id"],
]);

/** Attributes that are fields of a record. */
export const attributes: ReadonlyMap<string, string> = new Map([
  ["resource.service.name", "service"],
  ["resource.host.name", "host"],
  ["resource.deployment.environment.name", "env"],
  ["span.http.route", "route"],
]);

const statuses = new Map([
  ["error", "level:error"],
  ["ok", "(attrs.status:ok -level:error)"],
  ["unset", "(-attrs.status:ok -level:error)"],
]);

/** The fields that a name such as `resource.service.name`, `.http.method` or `duration` stands for. */
export function fieldsOf(name: string): string[] {
  const intrinsic = intrinsics.get(name.replace(/^span:(?!id|parentID)/, ""));
  if (intrinsic !== undefined) return [intrinsic];
  const [, scope, key] = /^(span|resource|)\.(.+)$/s.exec(name.replaceAll('"', "")) ??
    refuse(
      `${shortened(name)} is not supported: use ${[...intrinsics.keys()].join(", ")} or an ` +
        "attribute, such as span.http.method",
    );
  const scopes = scope === "" ? ["span", "resource"] : [scope];
  const known = scopes.flatMap((one) => attributes.get(`${one}.${key}`) ?? []);
  const path = key.split(".").map(keyOf).join(".");
  return known.length > 0
    ? known
    : scopes.map((one) => one === "span" ? `attrs.${path}` : `attrs.resource.${keyOf(key)}`);
}

const term =
  /\s*(?:(&&|\|\||[()])|((?:[^\s{}()=!<>~&|"`]|(?<=[.\w])"[^"]*")+)\s*(=~|!~|!=|>=|<=|[=<>])\s*("(?:[^"\\]|\\.)*"|`[^`]*`|[^\s{}()&|"`]+))\s*/gsy;
const signs: Record<string, string> = { "&&": " AND ", "||": " OR ", "(": "(", ")": ")" };

/** Turns TraceQL of one pair of braces into our query language, which has the same brackets and precedence. */
export function translated(query: string): string {
  const [, inner] = /^\s*\{(.*)\}\s*$/s.exec(query) ??
    refuse('TraceQL of one pair of braces is supported: { resource.service.name = "shop" }');
  let filter = "";
  term.lastIndex = 0;
  for (let at = 0; inner.trim() !== "" && at < inner.length; at = term.lastIndex) {
    const [whole, sign, name, operator, value] = term.exec(inner) ?? [];
    if (whole === undefined || sign === undefined && /[^ (]$/.test(filter)) {
      refuse(`parse error: a comparison expected at ${shortened(inner.slice(at))}`);
    }
    filter += sign === undefined ? compared(whole.trim(), name, operator, value) : signs[sign];
  }
  return filter === "" ? spans : `${spans} (${filter})`;
}

function compared(whole: string, name: string, operator: string, value: string): string {
  const fail = (need: string) => refuse(`${shortened(whole)} is not supported: ${need}`);
  const isNegative = operator.startsWith("!");
  const made = fieldsOf(name).map((field) => {
    const isOrder = /[<>]/.test(operator);
    if (field === "level") {
      const status = /^!?=$/.test(operator) ? statuses.get(value) : undefined;
      const filter = status ?? fail("compare with = or != error, ok or unset");
      return isNegative ? not(filter) : filter;
    }
    if (value === "nil" && !isOrder) return isNegative ? `${field}:*` : `-${field}:*`;
    const seconds = field === "attrs.duration_ms" &&
      (goSecondsOf(value) ?? fail("a duration has a unit, such as 100ms"));
    const written = /^["`]/.test(value) ? stringOf(value) : value;
    const text = seconds === false ? written : String(Number((seconds * 1000).toFixed(6)));
    if (isOrder && (numberOf(text) === undefined || !field.startsWith("attrs."))) {
      fail("only numbers of attributes have an order");
    }
    if (isOrder) return `${field}:${operator}${text}`;
    // In TraceQL a span without the attribute matches no comparison.
    return all([...isNegative ? [`${field}:*`] : [], ofLabel(field, operator, text)]);
  });
  const filter = isNegative ? all(made) : any(made);
  return filter.includes(" ") ? `(${filter})` : filter;
}
