import { addMember, isObject } from "../json_reader.ts";
import { explained, json, type Protocol, receiver } from "../protocol.ts";
import { addJson, defaultsOf } from "./ndjson_and_text.ts";

/** Axiom's ingest: https://axiom.co/docs/restapi/ingest. */
export const axiom: Protocol = {
  ...receiver,
  saysWhatIsStored: true,
  read({ path, query }, content, events) {
    const dataset = datasetPath.exec(path)?.slice(1).find((part) => part !== undefined);
    const timestampField = query.get("timestamp-field");
    const envelope = { defaults: defaultsOf(query) };
    const add = (event: unknown) => {
      if (!isObject(event)) return events.add(event);
      const named = timestampField !== null && Object.hasOwn(event, timestampField)
        ? event[timestampField]
        : undefined;
      if (named !== undefined && timestampField !== null) delete event[timestampField];
      if (dataset !== undefined) addMember(event, "dataset", decoded(dataset).slice(0, 255));
      events.add(event, { ...envelope, ...named !== undefined && { ts: named } });
    };
    return addJson(content, events, add, {
      accepted: ({ ingested, rejected, errors, bytes }) =>
        json(200, {
          ingested,
          failed: rejected,
          failures: errors.map(({ message }) => ({ timestamp: "", error: message })),
          processedBytes: bytes,
          blocksCreated: 0,
          walLength: 0,
        }),
    }, envelope);
  },
  refused: (_incoming, failure) => json(failure.status, { message: explained(failure) }),
};

const datasetPath = /^\/v1\/(?:ingest\/([^/]+)|datasets\/([^/]+)\/ingest)$/;

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
