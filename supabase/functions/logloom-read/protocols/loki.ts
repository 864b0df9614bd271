import type { Protocol } from "../protocol.ts";
import { answer } from "../loki/endpoints.ts";

/** Loki's API for reading, for Grafana. */
export const loki: Protocol = { methods: "GET, POST, OPTIONS", answer };
