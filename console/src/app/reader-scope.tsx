import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { type ReactNode, useLayoutEffect, useState } from "react";
import { Places, PlacesContext } from "../address/last-places.ts";
import { ExportContext, ExportJob } from "../search/export-job.ts";
import type { Service } from "../service/client.ts";
import { ServiceContext } from "../service/operation-hooks.ts";

/**
 * Holds what belongs to one reader: cached answers, the screens' addresses, a running export. Give it a key for each
 * reader, so that the next reader sees nothing of the last.
 */
export function ReaderScope({ service, children }: { service: Service; children: ReactNode }) {
  const [{ queries, places, job }] = useState(() => ({
    queries: new QueryClient({
      defaultOptions: {
        queries: {
          // The client of the package retries.
          retry: false,
          staleTime: 15_000,
          refetchOnWindowFocus: false,
        },
      },
    }),
    places: new Places(),
    job: new ExportJob(),
  }));
  // Stops before the next page would be requested with the next reader's token.
  useLayoutEffect(() => () => job.stop(), [job]);
  return (
    <QueryClientProvider client={queries}>
      <ServiceContext value={service}>
        <PlacesContext value={places}>
          <ExportContext value={job}>{children}</ExportContext>
        </PlacesContext>
      </ServiceContext>
    </QueryClientProvider>
  );
}
