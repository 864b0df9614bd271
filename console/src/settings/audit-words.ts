import type { AuditEvent } from "../service/logloom.ts";
import { plain } from "../shared/safe-text.ts";
import { say } from "../shared/translate.ts";

const nameKeys = ["name", "rule_name", "key_name", "email"];

/** The name of what was changed: from the event itself, or by its id. */
export function subjectOf(
  { subject, details }: Pick<AuditEvent, "subject" | "details">,
  names: ReadonlyMap<string, string>,
): string | null {
  const own = nameKeys.map((key) => details[key]).find((one) => typeof one === "string");
  const name = own ?? names.get(subject) ?? names.get(String(details.rule_id));
  return name === undefined ? null : plain(String(name));
}

/** Members of details that hold a person's id. */
const peopleKeys = ["acknowledged_by", "assigned_to", "maker"];

/** The people whom an event's details name. */
export function peopleOf({ details }: Pick<AuditEvent, "details">): string[] {
  return peopleKeys.flatMap((
    key,
  ) => [details[key], Object(details[key]).from, Object(details[key]).to])
    .filter((one) => typeof one === "string");
}

/** What changed, one text for each member: "retention_days: 7 → 5". */
export function detailsOf(
  { details }: Pick<AuditEvent, "details">,
  nameOf: (person: string) => string,
): string[] {
  const written = (value: unknown, key: string) =>
    typeof value === "string" && peopleKeys.includes(key) ? nameOf(value) : writtenValue(value);
  return Object.entries(details).filter(([key]) => !nameKeys.includes(key))
    .map(([key, value]) => {
      const isChange = Object(value) === value && "from" in Object(value) && "to" in Object(value);
      const { from, to } = Object(value) as { from: unknown; to: unknown };
      return `${key}: ${
        isChange ? `${written(from, key)} → ${written(to, key)}` : written(value, key)
      }`;
    });
}

function writtenValue(value: unknown): string {
  if (value === null || value === undefined || value === "") return say("none");
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
