import { lookup } from "node:dns/promises";
import type { OutgoingOptions } from "./outgoing_request.ts";

/** Real DNS and TCP for requests to addresses that tenants chose; tests give their own. */
export function realConnections(
  get: (name: string) => string | undefined,
): Pick<OutgoingOptions, "allowLocal" | "resolve" | "connect"> {
  return {
    allowLocal: get("LOGLOOM_ALLOW_LOCAL_WEBHOOKS") === "1",
    resolve: async (hostname) =>
      (await lookup(hostname, { all: true })).map(({ address }) => address),
    connect: async (hostname, port, tlsName) => {
      const conn = await Deno.connect({ hostname, port });
      return tlsName === undefined ? conn : await Deno.startTls(conn, {
        hostname: tlsName,
        alpnProtocols: ["http/1.1"],
      });
    },
  };
}
