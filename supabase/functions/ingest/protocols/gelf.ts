import { addMember, isObject, type JsonObject } from "../json_reader.ts";
import { errorReply, type Protocol, receiver } from "../protocol.ts";
import { addJson } from "./ndjson_and_text.ts";

/** GELF over HTTP: https://go2docs.graylog.org/current/getting_in_log_data/gelf.html. */
export const gelf: Protocol = {
  ...receiver,
  read(_incoming, content, events) {
    const add = (event: unknown) => {
      if (!isObject(event)) return events.add(event);
      const members: JsonObject = {};
      // Custom fields begin with an underscore.
      for (const key in event) {
        if (key === "version") continue;
        if (!key.startsWith("_") || key === "__proto__") addMember(members, key, event[key]);
      }
      for (const key in event) {
        if (!key.startsWith("_") || key === "__proto__") continue;
        const name = key.slice(1);
        addMember(members, name === "" || Object.hasOwn(members, name) ? key : name, event[key]);
      }
      events.add(members, { isSyslog: true });
    };
    return addJson(content, events, add, { accepted: () => ({ status: 202 }) }, { isSyslog: true });
  },
  refused: errorReply,
};
