import { type QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import { allFeatures, type Features, FeaturesContext } from "../search/features.ts";
import { SearchScreen } from "../search/search-screen.tsx";
import type { Config } from "../service/config.ts";
import { ServiceContext } from "../service/hooks.ts";
import { LogloomError } from "../service/logloom.ts";
import { Boundary } from "../shared/boundary.tsx";
import { Empty, Skeleton } from "../shared/controls.tsx";
import { labelsNow, onLabels, say } from "../shared/words.ts";
import type { ParentPage } from "./parent-page.ts";
import { createPortalService, type PortalService } from "./portal-service.ts";
import type { PortalSession } from "./portal-session.ts";

/** How often an idle view asks whether it may still be shown. */
const heartbeatMs = 40_000;

interface Props {
  config: Config;
  session: PortalSession;
  page: ParentPage;
  queries: QueryClient;
}

export function Portal({ config, session, page, queries }: Props) {
  useSyncExternalStore(session.subscribe, session.version);
  const labels = useSyncExternalStore(onLabels, labelsNow);
  const set = useRef({ labels, count: 0 });
  if (set.current.labels !== labels) set.current = { labels, count: set.current.count + 1 };
  const { state, reader } = session;
  useEffect(() => {
    if (state !== "ended") return;
    const message = reader === 0 ? say("No token came.") : say("The token was refused.");
    page.tell({ logloom: "error", status: 401, message });
  }, [state, reader, page]);
  if (state === "open") {
    return (
      <Search
        key={`${reader} ${set.current.count}`}
        config={config}
        session={session}
        page={page}
        queries={queries}
      />
    );
  }
  // Nothing of a reader stays behind.
  queries.clear();
  return (
    <main className="portal" id="main">
      <h1 className="hidden">{say("Logs")}</h1>
      {state === "waiting"
        ? <Skeleton lines={8} />
        : (
          <Empty title={reader === 0 ? say("This view did not open") : say("This view has ended")}>
            {session.canAsk
              ? (
                <button
                  type="button"
                  className="button primary"
                  onClick={() => page.tell({ logloom: "token-needed" })}
                >
                  {say("Open it again")}
                </button>
              )
              : <p>{say("Ask for a new link.")}</p>}
          </Empty>
        )}
    </main>
  );
}

function Search({ config, session, page, queries }: Props) {
  useState(() => queries.clear());
  const service = useMemo(() => createPortalService(config, session, page), [
    config,
    session,
    page,
  ]);
  const features = useWhatIsAllowed(service, queries, page);
  useHeartbeat(service, page);
  useHeight(page);
  useEffect(() => page.tell({ logloom: "ready" }), [page]);
  return (
    <QueryClientProvider client={queries}>
      <ServiceContext value={service}>
        <main id="main" tabIndex={-1} className="portal">
          {features === null ? <Skeleton lines={8} /> : (
            <FeaturesContext value={features}>
              <Boundary what={say("The search")}>
                <SearchScreen />
              </Boundary>
            </FeaturesContext>
          )}
        </main>
      </ServiceContext>
    </QueryClientProvider>
  );
}

/** The operations that each part of the search calls. */
const operationsOf = {
  histogram: ["log_histogram"],
  changes: ["log_changes"],
  patterns: ["log_stats"],
  fields: ["list_log_fields"],
  live: ["tail_logs"],
  context: ["get_log_context"],
  export: ["export_logs", "search_logs"],
} satisfies Partial<Record<keyof Features, string[]>>;

/**
 * The parts of the page that the token is for; null until that is known, as nothing is drawn that would then go. Where
 * nobody says it, and where the view closes a part later, what is read goes with its first 403. Without records there is no
 * page, which the host is told.
 */
function useWhatIsAllowed(
  service: PortalService,
  queries: QueryClient,
  page: ParentPage,
): Features | null {
  const [isKnown, setKnown] = useState(false);
  const [refused, setRefused] = useState<ReadonlySet<string>>(new Set());
  useEffect(() => {
    let isOver = false;
    void service.openOperations().then((open) => {
      if (isOver) return;
      const closed = Object.values(operationsOf).flat().filter((one) => open && !open.has(one));
      setRefused(new Set(closed));
      setKnown(true);
    });
    return () => {
      isOver = true;
    };
  }, [service]);
  useEffect(() => {
    let told: unknown = null;
    return queries.getQueryCache().subscribe(({ query }) => {
      const { error } = query.state;
      if (!(error instanceof LogloomError) || error.status !== 403) return;
      const operation = String(query.queryKey[0]);
      setRefused((now) => now.has(operation) ? now : new Set([...now, operation]));
      if (operation !== "search_logs" || told === error) return;
      told = error;
      page.tell({ logloom: "error", status: error.status, message: error.message });
    });
  }, [queries, page]);
  return useMemo(() => isKnown ? featuresWithout(refused) : null, [isKnown, refused]);
}

/** The parts none of whose operations is refused. */
function featuresWithout(refused: ReadonlySet<string>): Features {
  const parts = Object.entries(operationsOf).map(([part, operations]) => {
    const isOpen = !operations.some((operation) => refused.has(operation));
    return [part, isOpen];
  });
  return {
    ...allFeatures,
    saved: false,
    senders: false,
    links: false,
    ...Object.fromEntries(parts),
  };
}

/** A revoked token is noticed while nobody does anything; other errors are for the host. */
function useHeartbeat(service: PortalService, page: ParentPage): void {
  useEffect(() => {
    const beat = () =>
      service.validate("*").catch((error) => {
        if (!(error instanceof LogloomError)) throw error;
        // The view need not open this operation, and the end of the view is told anyway.
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

/** Tells the host how high the page would be if every row were on it. */
function useHeight(page: ParentPage): void {
  useEffect(() => {
    let last = 0;
    const timer = setInterval(() => {
      const rows = document.querySelector<HTMLElement>(".rows, .aggregate");
      const inside = [...rows?.children ?? []]
        .reduce((sum, one) => sum + (one as HTMLElement).offsetHeight, 0);
      const height = rows ? innerHeight - rows.clientHeight + inside : 480;
      if (Math.abs(height - last) < 8) return;
      last = height;
      page.tell({ logloom: "height", height });
    }, 300);
    return () => clearInterval(timer);
  }, [page]);
}
