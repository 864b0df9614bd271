import { clause, exactly } from "../language/edit-query.ts";
import type { ErrorGroup, ErrorGroupDetails } from "../service/logloom.ts";

const day = 86_400_000;

/** The records of a group in the search: query and range. Others may be among them. */
export function placeOf({ group, newest }: ErrorGroupDetails) {
  const last = Date.parse(group.last_seen);
  const text = commonText(group, newest.map(({ msg }) => msg ?? ""));
  return {
    q: [
      "level:error",
      group.fingerprint === "others"
        ? ""
        : group.service === null
        ? "-service:*"
        : exactly("service", group.service),
      text === "" ? "" : clause("msg", text, "in"),
    ].filter(Boolean).join(" "),
    from: new Date(Math.max(Date.parse(group.first_seen), last - 14 * day)).toISOString(),
    // The end of a range is not part of it.
    to: new Date(last + 1).toISOString(),
  };
}

/** The longest part of the title that each of these messages has; empty if there is none. */
function commonText({ title, error_type }: ErrorGroup, messages: string[]): string {
  if (title === null || messages.length === 0) return "";
  const own = title.startsWith(`${error_type}: `) ? title.slice(`${error_type}: `.length) : title;
  const parts = [title, own].flatMap((text) => text.split("<*>")).map((part) => part.trim())
    .filter((part) => messages.every((message) => message.includes(part)));
  return parts.toSorted((a, b) => b.length - a.length)[0] ?? "";
}
