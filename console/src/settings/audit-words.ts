import type { AuditEvent, AuditTrailEvent, AuditVerdict } from "../service/logloom.ts";
import { plain } from "../shared/safe-text.ts";
import { say, type Words } from "../shared/translate.ts";

/** An event of the trail as the words below take it. Old and new values of a row become changes. */
export function wordedEvent(
  { targets, context: { old, new: now, ...context } }: Pick<AuditTrailEvent, "targets" | "context">,
) {
  const rows = { ...Object(old), ...Object(now) };
  const changes = Object.keys(rows).map((key) =>
    [key, { from: Object(old)[key], to: Object(now)[key] }] as const
  );
  const subject = targets.map(({ type, id }) => [type, id].filter(Boolean).join(" ")).join(", ");
  return { subject, details: { ...context, ...Object.fromEntries(changes) } };
}

const faults: Record<string, Words> = {
  event_missing: "the event is missing",
  event_changed: "the event was changed",
  link_changed: "the event's link was changed",
  digest_changed: "the day's digest was changed",
  day_missing: "the day before is missing",
};

/** What verify_audit_trail found. Its days are in UTC. */
export function verdictWords({ fault, ...found }: AuditVerdict): string {
  const { events, erased, day_from: from, day_to: to, fault_day: day, next_day } = found;
  if (fault !== null && day !== null) {
    const values = {
      day,
      event: found.fault_position ?? "–",
      fault: say(faults[fault] ?? "it does not fit"),
    };
    return say("The chain is broken on {day} at event {event}: {fault}.", values);
  }
  if (from === null || to === null) return say("No event of the last year is in the chain yet.");
  const values = { from, to, events, erased };
  const words = say(
    "The chain is whole from {from} to {to}. Events: {events}, erased: {erased}.",
    values,
  );
  if (next_day === null) return words;
  return [words, say("Later days were not verified: there are too many events.")].join(" ");
}

/** Members of details that hold the subject's name. */
export const nameKeys = ["name", "rule_name", "key_name", "email"];

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
  hidden: readonly string[] = nameKeys,
): string[] {
  const written = (value: unknown, key: string) =>
    typeof value === "string" && peopleKeys.includes(key) ? nameOf(value) : writtenValue(value);
  return Object.entries(details).filter(([key]) => !hidden.includes(key))
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
