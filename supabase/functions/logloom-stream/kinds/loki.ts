import { epochSeconds, partsOf } from "../batch.ts";
import type { Kind } from "../stream_kind.ts";
import { post } from "../post_batch.ts";

/** Loki's push: a stream for each service and level. The line is the record as JSON. */
export const loki: Kind = {
  push(batch, secrets, send) {
    const streams = new Map<string, string[]>();
    for (const record of batch.records) {
      const { service, level, ts } = partsOf(record).fields;
      // A stream needs at least one label.
      const labels = JSON.stringify({ source: "logloom", service_name: service, level });
      const values = streams.get(labels) ?? [];
      if (values.length === 0) streams.set(labels, values);
      values.push(`["${epochSeconds(ts).replace(".", "")}000",${JSON.stringify(record)}]`);
    }
    const body = [...streams].map(([labels, values]) =>
      `{"stream":${labels},"values":[${values.join(",\n")}]}`
    );
    return post(batch, secrets, send, `{"streams":[${body.join(",\n")}]}`, {});
  },
};
