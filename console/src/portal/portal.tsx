import { Suspense, useEffect, useMemo, useRef, useSyncExternalStore } from "react";
import { ReaderScope } from "../app/reader-scope.tsx";
import { allFeatures, FeaturesContext } from "../search/reader-features.ts";
import { SearchScreen } from "../search/search-screen.tsx";
import type { Config } from "../service/config.ts";
import type { Service } from "../service/client.ts";
import { OperationsContext } from "../service/operation-hooks.ts";
import { LogloomError } from "../service/logloom.ts";
import { Boundary } from "../shared/error-boundary.tsx";
import { Button, Empty, Skeleton } from "../shared/basic-controls.tsx";
import { labelsNow, onLabels, say } from "../shared/translate.ts";
import type { ParentPage } from "./parent-page.ts";
import { createPortalService, type PortalService } from "./portal-service.ts";
import type { PortalSession } from "./portal-session.ts";
import { laterParts, type Part } from "./portal-parts.ts";
import { useAllowedParts, useRefusal } from "./use-allowed-parts.ts";

/** How often an idle view checks its token. */
const heartbeatMs = 40_000;

interface Props {
  config: Config;
  session: PortalSession;
  page: ParentPage;
  part: Part;
}

export function Portal({ config, session, page, part }: Props) {
  useSyncExternalStore(session.subscribe, session.version);
  const labels = useSyncExternalStore(onLabels, labelsNow);
  const set = useRef({ labels, count: 0 });
  if (set.current.labels !== labels) set.current = { labels, count: set.current.count + 1 };
  const { state, reader } = session;
  // Each reader gets a new service.
  const service = useMemo(() => createPortalService(config, session, page), [
    config,
    session,
    page,
    reader,
  ]);
  useEffect(() => {
    if (state !== "ended") return;
    const message = reader === 0 ? say("The page sent no token.") : say("The token was refused.");
    page.tell({ logloom: "error", status: 401, message });
  }, [state, reader, page]);
  if (state === "open") {
    return (
      <ReaderScope key={reader} service={service}>
        {part === "search"
          ? <Search key={set.current.count} service={service} page={page} />
          : <LaterPart key={set.current.count} service={service} page={page} part={part} />}
      </ReaderScope>
    );
  }
  return (
    <main className="portal" id="main">
      <h1 className="hidden">{say("Logs")}</h1>
      {state === "waiting"
        ? <Skeleton lines={8} />
        : (
          <Empty title={reader === 0 ? say("This view did not open") : say("This view has ended")}>
            {session.canAsk
              ? (
                <Button look="primary" onClick={() => page.tell({ logloom: "token-needed" })}>
                  {say("Open it again")}
                </Button>
              )
              : <p>{say("Ask for a new link.")}</p>}
          </Empty>
        )}
    </main>
  );
}

function Search({ service, page }: { service: PortalService; page: ParentPage }) {
  const features = useAllowedParts(service, page);
  useHeartbeat(service, page);
  useHeight(page);
  useEffect(() => page.tell({ logloom: "ready" }), [page]);
  return (
    <main id="main" tabIndex={-1} className="portal">
      {features === null ? <Skeleton lines={8} /> : (
        <FeaturesContext value={features}>
          <Boundary what={say("The search")}>
            <SearchScreen />
          </Boundary>
        </FeaturesContext>
      )}
    </main>
  );
}

const features = { ...allFeatures, saved: false, senders: false, links: false };

/** A screen of the console other than the search. */
function LaterPart({ service, page, part }: {
  service: PortalService;
  page: ParentPage;
  part: Exclude<Part, "search">;
}) {
  const { operations, Screen } = laterParts[part];
  useRefusal(page, operations[0]);
  useHeartbeat(service, page);
  useHeight(page);
  useEffect(() => page.tell({ logloom: "ready" }), [page]);
  return (
    <main id="main" tabIndex={-1} className="portal later">
      <Boundary what={say("This view")}>
        <Suspense fallback={<Skeleton lines={8} />}>
          <FeaturesContext value={features}>
            <OperationsContext value={operations}>
              <Screen />
            </OperationsContext>
          </FeaturesContext>
        </Suspense>
      </Boundary>
    </main>
  );
}

/** Notices a revoked token while the view is idle, and reports other errors to the host. */
function useHeartbeat(service: Service, page: ParentPage): void {
  useEffect(() => {
    const beat = () =>
      service.validate("*").catch((error) => {
        if (!(error instanceof LogloomError)) throw error;
        // 403: the view does not allow this operation. 401: the session reports its end itself.
        if (error.status === 403 || error.status === 401) return;
        page.tell({ logloom: "error", status: error.status, message: error.message });
      });
    const timer = setInterval(() => !document.hidden && void beat(), heartbeatMs);
    const onShown = () => !document.hidden && void beat();
    document.addEventListener("visibilitychange", onShown);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", onShown);
    };
  }, [service, page]);
}

/** Tells the host how high the page would be with all rows visible. */
function useHeight(page: ParentPage): void {
  useEffect(() => {
    let last = 0;
    const timer = setInterval(() => {
      const rows = document.querySelector<HTMLElement>(".rows, .aggregate, .later");
      const inside = [...rows?.children ?? []]
        .reduce((sum, one) => sum + (one as HTMLElement).offsetHeight, 0);
      // A form needs room.
      const least = document.querySelector("dialog[open]") ? 900 : 480;
      const height = Math.max(least, rows ? innerHeight - rows.clientHeight + inside : 0);
      if (Math.abs(height - last) < 8) return;
      last = height;
      page.tell({ logloom: "height", height });
    }, 300);
    return () => clearInterval(timer);
  }, [page]);
}
