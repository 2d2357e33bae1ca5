/** Work that a request waits for: begun by a click, ended by another one or by leaving. */
import { useCallback, useEffect, useRef, useState } from "react";

interface State<Given, Found> {
  /** What is being worked on; null: nothing is. */
  running: { given: Given } | null;
  /** What came of the last time, and what it was asked with. */
  found: { given: Given; value: Found } | null;
  problem: unknown;
}

/** `work` is one request, or several, that end with the signal. What came of it before stays until
 * there is something new. */
export function useTask<Given, Found>(
  work: (given: Given, signal: AbortSignal) => Promise<Found>,
): State<Given, Found> & { start: (given: Given) => void; cancel: () => void } {
  const [state, set] = useState<State<Given, Found>>({ running: null, found: null, problem: null });
  const control = useRef<AbortController | null>(null);
  const latest = useRef(work);
  useEffect(() => {
    latest.current = work;
  });
  useEffect(() => () => control.current?.abort(), []);
  const start = useCallback((given: Given) => {
    control.current?.abort();
    const own = new AbortController();
    control.current = own;
    set((before) => ({ ...before, running: { given }, problem: null }));
    void latest
      .current(given, own.signal)
      .then((value) => {
        if (!own.signal.aborted) set({ running: null, found: { given, value }, problem: null });
      })
      .catch((problem) => {
        if (!own.signal.aborted) set((before) => ({ ...before, running: null, problem }));
      });
  }, []);
  const cancel = useCallback(() => {
    control.current?.abort();
    set((before) => ({ ...before, running: null }));
  }, []);
  return { ...state, start, cancel };
}
