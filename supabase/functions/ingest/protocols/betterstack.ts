import { failure, success } from "../../_shared/errors.ts";
import { contentType, errorReply, type Protocol, receiver } from "../protocol.ts";
import { addJson } from "./ndjson_and_text.ts";
import { MalformedMsgpack, unmsgpack } from "./msgpack.ts";

/** Better Stack's (Logtail's) ingest: MessagePack from its Node client, JSON from elsewhere. */
export const betterstack: Protocol = {
  ...receiver,
  read({ headers }, content, events) {
    const accepted = { accepted: () => ({ status: 202 }) };
    if (!contentType(headers).includes("msgpack")) {
      return addJson(content, events, (event) => events.add(event), accepted);
    }
    try {
      const sent = unmsgpack(content.bytes);
      for (const event of Array.isArray(sent) ? sent : [sent]) events.add(event);
    } catch (error) {
      if (!(error instanceof MalformedMsgpack || error instanceof RangeError)) throw error;
      return failure(400, "The body is not MessagePack");
    }
    return success(accepted);
  },
  refused: errorReply,
};
