import { createServer } from "node:http";
import process from "node:process";
import pino from "pino";

const { LOGLOOM_URL: url, LOGLOOM_API_KEY: key, PORT = "3000" } = process.env;

const log = pino(
  pino.transport({
    targets: [
      { target: "logloom/pino", options: { url, key, service: "shop", env: "prod" } },
      { target: "pino/file", options: { destination: 1 } },
    ],
  }),
);

const server = createServer((request, response) => {
  const { method, url: route } = request;
  const requestLog = log.child({ req_id: request.headers["x-request-id"], route });
  response.on("finish", () => {
    requestLog.info({ method, status: response.statusCode }, `${method} ${route}`);
  });
  response.end("Hello\n");
});

server.listen(Number(PORT), () => log.info({ port: PORT }, "listening"));

// Buffered events are sent before the program ends.
process.once("SIGTERM", () => server.close(() => process.exit(0)));
