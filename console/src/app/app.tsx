import { type QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { useMemo, useSyncExternalStore } from "react";
import { createService } from "../service/client.ts";
import type { Config } from "../service/config.ts";
import { ServiceContext } from "../service/hooks.ts";
import { type Session, SessionContext } from "../service/session.ts";
import { NoTenant } from "../signin/no-tenant.tsx";
import { SignIn } from "../signin/sign-in.tsx";
import { Shell } from "./shell.tsx";

export function App({ config, session, queries }: {
  config: Config;
  session: Session;
  queries: QueryClient;
}) {
  useSyncExternalStore(session.subscribe, session.version);
  const service = useMemo(() => createService(config, session), [
    config,
    session,
  ]);
  const claims = session.claims();
  const who = claims ? `${claims.tenant}\n${claims.user}` : null;
  return (
    <SessionContext value={session}>
      <QueryClientProvider client={queries}>
        <ServiceContext value={service}>
          {who === null
            ? <SignIn config={config} session={session} />
            : claims?.tenant === null
            ? <NoTenant session={session} />
            : <Shell key={who} queries={queries} />}
        </ServiceContext>
      </QueryClientProvider>
    </SessionContext>
  );
}
