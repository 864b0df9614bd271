import type { Protocol } from "./protocol.ts";
import { operation } from "./protocols/operation.ts";

/** The protocol of each path below the function's name. Rarely used ones are loaded on their first request. */
const routes: readonly (readonly [RegExp, () => Protocol | Promise<Protocol>])[] = [
  [/^\/v1\/export$/, async () => (await import("./protocols/export.ts")).exported],
  [
    /^\/v1\/audit\/export$/,
    async () => (await import("./protocols/audit_export.ts")).auditExported,
  ],
  [/^\/v1\/[a-z_]{1,60}$/, () => operation],
  [/^\/v1\/portal\/session$/, async () => (await import("./protocols/portal.ts")).portal],
  [
    /^\/v1\/portal\/operations$/,
    async () => (await import("./protocols/portal.ts")).portalOperations,
  ],
  [/^\/loki\/api\/v1\//, async () => (await import("./protocols/loki.ts")).loki],
  [
    /^\/api\/(?:echo$|(?:v2\/)?(?:traces|search)(?:\/|$))/,
    async () => (await import("./protocols/tempo.ts")).tempo,
  ],
  [
    /^\/mcp(?:\/\.well-known\/oauth-protected-resource)?$/,
    async () => (await import("./protocols/mcp.ts")).mcp,
  ],
];

export function protocolOf(path: string): Protocol | Promise<Protocol> | undefined {
  return routes.find(([pattern]) => pattern.test(path))?.[1]();
}
