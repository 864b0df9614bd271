import { useMemo, useSyncExternalStore } from "react";
import { createService } from "../service/client.ts";
import type { Config } from "../service/config.ts";
import { readerOf, type Session, SessionContext } from "../service/session.ts";
import { NoTenant } from "../signin/no-tenant.tsx";
import { SignIn } from "../signin/sign-in.tsx";
import { ReaderScope } from "./reader-scope.tsx";
import { Shell } from "./shell.tsx";

export function App({ config, session }: { config: Config; session: Session }) {
  useSyncExternalStore(session.subscribe, session.version);
  const claims = session.claims();
  const reader = readerOf(claims);
  const service = useMemo(() => createService(config, session, reader), [config, session, reader]);
  return (
    <SessionContext value={session}>
      <ReaderScope key={reader} service={service}>
        {reader === null
          ? <SignIn config={config} session={session} />
          : claims?.tenant === null
          ? <NoTenant session={session} />
          : <Shell />}
      </ReaderScope>
    </SessionContext>
  );
}
