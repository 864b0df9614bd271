import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { type ReactNode, useLayoutEffect, useState } from "react";
import { Places, PlacesContext } from "../address/places.ts";
import { ExportContext, ExportJob } from "../search/export-job.ts";
import type { Service } from "../service/client.ts";
import { ServiceContext } from "../service/hooks.ts";

/**
 * What belongs to one reader: answers, places, the file that is being saved. It ends with them, so that the next one is
 * shown nothing of it: who uses it gives it a key for each reader.
 */
export function ReaderScope({ service, children }: { service: Service; children: ReactNode }) {
  const [{ queries, places, job }] = useState(() => ({
    queries: new QueryClient({
      defaultOptions: {
        queries: {
          // The reader of the package does.
          retry: false,
          staleTime: 15_000,
          refetchOnWindowFocus: false,
        },
      },
    }),
    places: new Places(),
    job: new ExportJob(),
  }));
  // At once: its next page would be asked for with the next reader's token.
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
