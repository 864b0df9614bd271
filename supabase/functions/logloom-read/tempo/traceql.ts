import { keyOf } from "../loki/label_names.ts";
import { refuse } from "../loki/loki_error.ts";
import { all, any, not, nothing, ofFirst, ofLabel, ofQuantity } from "../loki/matchers.ts";
import { stringOf } from "../loki/string_literals.ts";
import { shortened } from "../loki/syntax_tree.ts";
import { goSecondsOf, numberOf } from "../loki/times_and_durations.ts";

/** Every span, in our query language. */
export const spans = "attrs.kind:span";

/** TraceQL's own names. The trace of a request with an id of its own is not its req_id. */
export const intrinsics: ReadonlyMap<string, readonly string[]> = new Map([
  ["name", ["msg"]],
  ["status", ["level"]],
  ["statusMessage", ["attrs.status_message"]],
  ["kind", ["attrs.span_kind"]],
  ["duration", ["attrs.duration_ms"]],
  ["span:id", ["attrs.span_id"]],
  ["span:parentID", ["attrs.parent_id"]],
  ["trace:id", ["attrs.trace_id", "req_id"]],
]);

const kinds = ["unspecified", "internal", "server", "client", "producer", "consumer"];

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

/** The fields that a name such as `duration` or `.http.method` stands for. A span has the first of them that it has. */
export function fieldsOf(name: string): readonly string[] {
  const intrinsic = intrinsics.get(name.replace(/^span:(?!id|parentID)/, ""));
  if (intrinsic !== undefined) return intrinsic;
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
  if (inner.trim() === "") return spans;
  let filter = "";
  let depth = 0;
  let isOpen = true;
  const wanted = () => isOpen ? "a comparison" : depth > 0 ? "&&, || or )" : "&& or ||";
  term.lastIndex = 0;
  for (let at = 0; at < inner.length; at = term.lastIndex) {
    const [whole, sign, name, operator, value] = term.exec(inner) ?? [];
    // A comparison or `(` follows an operator or `(`; an operator or `)` follows a comparison or `)`.
    const opens = sign === undefined || sign === "(";
    if (whole === undefined || opens !== isOpen || sign === ")" && depth === 0) {
      refuse(`parse error: ${wanted()} expected at ${shortened(inner.slice(at))}`);
    }
    depth += sign === "(" ? 1 : sign === ")" ? -1 : 0;
    isOpen = sign === "(" || sign === "&&" || sign === "||";
    filter += sign === undefined ? compared(whole.trim(), name, operator, value) : signs[sign];
  }
  if (isOpen || depth > 0) refuse(`parse error: ${wanted()} expected at the end`);
  return `${spans} (${filter})`;
}

function compared(whole: string, name: string, operator: string, value: string): string {
  const fail = (need: string) => refuse(`${shortened(whole)} is not supported: ${need}`);
  const fields = fieldsOf(name);
  const isNegative = operator.startsWith("!");
  const isEquality = /^!?=$/.test(operator);
  const filter = fields[0] === "level"
    ? ofStatus()
    : fields[0] === "attrs.span_kind" && isEquality
    ? ofKind(fields[0])
    : value === "nil" && isEquality
    ? isNegative ? any(fields.map(has)) : all(fields.map((field) => `-${has(field)}`))
    // In TraceQL a span without the attribute matches no comparison.
    : ofFirst(fields, made, nothing);
  return filter.includes(" ") ? `(${filter})` : filter;

  function ofStatus(): string {
    const status = (isEquality ? statuses.get(value) : undefined) ??
      fail("compare with = or != error, ok or unset");
    return isNegative ? not(status) : status;
  }

  /** Every span has a kind: one of none is unspecified. */
  function ofKind(field: string): string {
    if (!kinds.includes(value)) fail(`compare with ${kinds.join(", ")}`);
    return ofLabel(field, operator, value === "unspecified" ? "" : value);
  }

  function made(field: string): string {
    if (field === "attrs.duration_ms") {
      const seconds = goSecondsOf(value) ?? fail("a duration has a unit, such as 100ms");
      return ofQuantity(field, operator, String(Number((seconds * 1000).toFixed(6))));
    }
    const isQuoted = /^["`]/.test(value);
    const text = isQuoted ? ofId(stringOf(value)) : value;
    const isOrder = /[<>]/.test(operator);
    const isAttribute = name.includes(".") && field.startsWith("attrs.");
    const isNumber = isAttribute && numberOf(text) !== undefined;
    if (isOrder && !isNumber) fail("only numbers of attributes have an order");
    if (isNumber && (isOrder || isEquality && !isQuoted)) return ofQuantity(field, operator, text);
    const isBoolean = isAttribute && isEquality && /^(?:true|false)$/.test(value);
    if (!isQuoted && !isBoolean) fail("a text is written in quotes");
    return ofLabel(field, operator, text);
  }

  /** Ids are stored in lower case. */
  function ofId(text: string): string {
    const isId = /^(?:span|trace):/.test(name) && /^(?:[\da-f]{16}|[\da-f]{32})$/i.test(text);
    return isId ? text.toLowerCase() : text;
  }
}

function has(field: string): string {
  return `${field}:*`;
}
