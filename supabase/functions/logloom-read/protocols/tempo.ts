import type { Protocol } from "../protocol.ts";
import { answer } from "../tempo/endpoints.ts";

/** Tempo's API for reading, for Grafana. */
export const tempo: Protocol = { methods: "GET, OPTIONS", answer };
