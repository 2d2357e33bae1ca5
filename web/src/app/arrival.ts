/** Coming to another page: the tab is named after it, it begins at its top, and it has the focus. */
import { useEffect } from "react";
import { href, type Route } from "./route";

const TITLES: Record<Route["page"], string> = {
  home: "Compass",
  data: "Data · Compass",
  ask: "Ask · Compass",
  answer: "Answer · Compass",
  experiments: "Experiments · Compass",
  experiment: "Experiment · Compass",
  machines: "Machines · Compass",
  synthetic: "Synthetic rows · Compass",
  synthesizer: "Synthetic rows · Compass",
  jobs: "Jobs · Compass",
  history: "History · Compass",
};

const SEEN = { seen: true }; // back or forward to it: the browser knows where on it one was

let last: string | null = null;

export function useArrival(route: Route): void {
  const place = href(route).split("?", 1)[0] ?? ""; // without what was said there
  const title = TITLES[route.page];
  useEffect(() => {
    document.title = title;
  }, [title]);
  useEffect(() => {
    const before = last;
    last = place;
    const again = history.state?.seen === true;
    if (!again) history.replaceState(SEEN, "");
    if (before === null || before === place) return;
    if (!again) window.scrollTo({ top: 0 });
    // The link that led here goes with its page. A field that took the focus itself keeps it.
    if (!document.activeElement?.matches("input, textarea"))
      document.getElementById("main")?.focus({ preventScroll: true });
  }, [place]);
}
