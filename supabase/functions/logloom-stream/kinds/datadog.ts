import { partsOf } from "../batch.ts";
import type { Kind } from "../stream_kind.ts";
import { post } from "../post_batch.ts";

/** Datadog's log intake: an array of objects, with its own names for our fields. */
export const datadog: Kind = {
  push(batch, secrets, send) {
    const body = batch.records.map((record) => objectOf(record, batch.config.tags)).join(",\n");
    const { api_key: key } = secrets;
    return post(batch, secrets, send, `[${body}]`, key === undefined ? {} : { "DD-API-KEY": key });
  },
};

function objectOf(record: string, tags: string | undefined): string {
  const { fields, attrs } = partsOf(record);
  const { ts, level, msg, host, env, ...others } = fields;
  // A tag must not have commas or spaces.
  const isTag = env !== undefined && /^[\w./-]{1,100}$/.test(env);
  const ddtags = [...tags === undefined ? [] : [tags], ...isTag ? [`env:${env}`] : []];
  const object = JSON.stringify({
    // Milliseconds, because VictoriaLogs accepts nothing else.
    timestamp: Date.parse(ts),
    status: level,
    message: msg,
    hostname: host,
    ddsource: "logloom",
    ...ddtags.length > 0 && { ddtags: ddtags.join(",") },
    ...!isTag && { env },
    ...others,
  });
  return attrs === undefined ? object : `${object.slice(0, -1)},"attrs":${attrs}}`;
}
