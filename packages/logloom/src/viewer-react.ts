import { createElement, type ReactElement, useEffect, useRef, useSyncExternalStore } from "react";
import { defineViewer } from "./viewer/element.ts";
import type {
  GetToken,
  LogloomViewer as Element,
  QueryChanged,
  ViewerFailure,
  ViewerLabel,
} from "./viewer/element.ts";

export type {
  GetToken,
  QueryChanged,
  ViewerFailure,
  ViewerLabel,
  ViewerToken,
} from "./viewer/element.ts";

export interface LogloomViewerProps {
  src: string;
  getToken: GetToken;
  query?: string;
  /** `24h`, or `FROM/TO`. */
  part?: string;
  range?: string;
  theme?: "light" | "dark" | "auto";
  labels?: Record<string, ViewerLabel>;
  className?: string;
  /** May have the viewer's custom properties too: `{ "--logloom-accent": "#c026d3" }`. */
  style?: Record<string, string | number>;
  onReady?: () => void;
  onError?: (failure: ViewerFailure) => void;
  onQueryChanged?: (changed: QueryChanged) => void;
}

/** Subscribes to nothing: whether the code runs in a page never changes. */
const stays = () => () => {};

/** `<logloom-viewer>` for React. */
export function LogloomViewer(props: LogloomViewerProps): ReactElement {
  const { src, part, query, range, theme, className, style } = props;
  const element = useRef<Element | null>(null);
  const latest = useRef(props);
  latest.current = props;
  // Not a function of its own: components with the same getToken share its token.
  useEffect(() => {
    if (element.current) element.current.getToken = props.getToken;
  }, [props.getToken]);
  useEffect(() => {
    const viewer = element.current;
    if (!viewer) return;
    const stop = new AbortController();
    const on = <Detail>(name: string, tell: (detail: Detail) => void) =>
      viewer.addEventListener(
        name,
        (event) => tell((event as CustomEvent<Detail>).detail),
        { signal: stop.signal },
      );
    on("ready", () => latest.current.onReady?.());
    on<ViewerFailure>("error", (failure) => latest.current.onError?.(failure));
    on<QueryChanged>("query-changed", (changed) => latest.current.onQueryChanged?.(changed));
    // Defined after the listeners are added, because the frame starts at once.
    defineViewer();
    return () => stop.abort();
  }, []);
  useEffect(() => {
    // Sets them even if they are removed.
    if (element.current) element.current.labels = props.labels ?? {};
  }, [props.labels]);
  // A policy without 'unsafe-inline' forbids style attributes in HTML, but a script may set styles.
  const isInPage = useSyncExternalStore(stays, () => true, () => false);
  // React 18 does not pass className to a custom element.
  const attributes = {
    src,
    query,
    part,
    range,
    theme,
    class: className,
    style: isInPage ? style : undefined,
  };
  return createElement("logloom-viewer", { ref: element, ...attributes });
}
