import type { Text } from "./draft.ts";
import { textFields } from "./fields.ts";
import { addMember, type JsonObject, setMember } from "./json.ts";

/** In characters: more than a text of a native request can have. */
export const maxTextLength = 512_000;

/**
 * Cuts texts that are longer than any native request, in place, and notes in `attrs.truncated` how long each was: a
 * sender cannot mend an event, and a page of such records could not be read. Gives back the attributes.
 */
export function cutLongTexts(texts: Text[], attrs: JsonObject | null): JsonObject | null {
  const lengths: JsonObject = {};
  for (const [field, text] of texts.entries()) {
    if (text === null || text.length <= maxTextLength) continue;
    setMember(lengths, textFields[field], text.length);
    texts[field] = text.slice(0, maxTextLength);
  }
  if (attrs !== null) cutIn(attrs, "attrs", lengths);
  if (Object.keys(lengths).length === 0) return attrs;
  const noted = attrs ?? {};
  addMember(noted, "truncated", lengths);
  return noted;
}

/** No deeper than attributes may be, which is bounded before. */
function cutIn(container: JsonObject | unknown[], path: string, lengths: JsonObject): void {
  const members = container as JsonObject;
  for (const key in members) {
    const value = members[key];
    if (typeof value === "string") {
      if (value.length <= maxTextLength) continue;
      setMember(lengths, `${path}.${key}`, value.length);
      setMember(members, key, value.slice(0, maxTextLength));
    } else if (typeof value === "object" && value !== null) {
      cutIn(value as JsonObject, `${path}.${key}`, lengths);
    }
  }
}
