import { success } from "../../_shared/errors.ts";
import { isObject } from "../json.ts";
import { errorReply, json, type Protocol, receiver } from "../protocol.ts";
import { addJson, defaultsOf, shortParameter } from "./lines.ts";

/** LogDNA's (Mezmo's) ingest: `{"lines": [{line, timestamp, level, app, meta}]}`. */
export const logdna: Protocol = {
  ...receiver,
  read({ query }, content, events) {
    const envelope = { defaults: defaultsOf(query) };
    const tags = shortParameter(query, "tags")?.split(",").filter((tag) => tag !== "") ?? [];
    addJson(content, events, (sent) => {
      const lines = isObject(sent) && Array.isArray(sent.lines) ? sent.lines : [sent];
      for (const line of lines) {
        if (isObject(line)) {
          // Some senders write what is beside the line as JSON in a text.
          if (typeof line.meta === "string") line.meta = content.parse(line.meta) ?? line.meta;
          if (tags.length > 0 && line.tags === undefined) line.tags = tags;
        }
        events.add(line, envelope);
      }
    }, envelope);
    return success({ accepted: () => json(200, { status: "ok" }) });
  },
  refused: errorReply,
};
