import { hasKeyPrefix } from "../../_shared/auth.ts";
import { addMember, isObject, type JsonObject } from "../json_reader.ts";
import { errorReply, json, type Protocol, receiver } from "../protocol.ts";
import { addJson, defaultsOf, shortParameter, takenApart } from "./ndjson_and_text.ts";

/**
 * LogDNA's (Mezmo's) ingest: `{"lines": [{line, timestamp, level, app, meta}]}`. Its own client sends `{"e": "ls", "ls":
 * [...]}`, with the key in the header `apikey`, which is Supabase's elsewhere.
 */
export const logdna: Protocol = {
  ...receiver,
  ownKey({ headers }) {
    const key = headers.get("apikey") ?? "";
    return hasKeyPrefix(key) ? key : undefined;
  },
  read({ query }, content, events) {
    const envelope = { defaults: defaultsOf(query) };
    const tags = shortParameter(query, "tags")?.split(",").filter((tag) => tag !== "") ?? [];
    const add = (sent: unknown) => {
      for (const line of isObject(sent) ? linesIn(sent) : [sent]) {
        if (!isObject(line)) {
          events.add(line, envelope);
          continue;
        }
        // Some senders put the other members into a string of JSON.
        if (typeof line.meta === "string") line.meta = content.parse(line.meta) ?? line.meta;
        if (tags.length > 0) addMember(line, "tags", tags);
        const { line: text, ...beside } = line;
        const { members = line, ...said } = takenApart(text, beside, content) ?? {};
        events.add(members, { ...envelope, ...said });
      }
    };
    return addJson(content, events, add, { accepted: () => json(200, { status: "ok" }) }, envelope);
  },
  refused: errorReply,
};

function linesIn(sent: JsonObject): readonly unknown[] {
  if (Array.isArray(sent.lines)) return sent.lines;
  return sent.e === "ls" && Array.isArray(sent.ls) ? sent.ls : [sent];
}
