import { say } from "./shared/words.ts";
import { QueryClient } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app/app.tsx";
import { loadConfig, StartError } from "./service/config.ts";
import { openSession } from "./signin/open-session.ts";
import { Boundary } from "./shared/boundary.tsx";
import { showTheme } from "./shared/preferences.ts";
import "./styles/index.css";

const root = createRoot(document.getElementById("root") as HTMLElement);
showTheme();

try {
  const config = await loadConfig();
  const session = await openSession(config);
  const queries = new QueryClient({
    defaultOptions: {
      queries: {
        // The reader does.
        retry: false,
        staleTime: 15_000,
        refetchOnWindowFocus: false,
      },
    },
  });
  root.render(
    <StrictMode>
      <Boundary what={say("The console")}>
        <App config={config} session={session} queries={queries} />
      </Boundary>
    </StrictMode>,
  );
} catch (error) {
  const words = error instanceof StartError ? error.message : say("The console could not start.");
  root.render(
    <main className="start-error">
      <p role="alert">{words}</p>
    </main>,
  );
}
