/** Lists of the server. They come in parts; the page puts them together, up to a bound. */
import { useQuery } from "@tanstack/react-query";
import { raw } from "./client";
import type {
  AnswerInfo,
  ChatBrief,
  DatasetBrief,
  EngineBrief,
  ExperimentInfo,
  Job,
  ModelBrief,
  SynthesizerInfo,
} from "./types";

interface Entries {
  "/api/v1/answers": AnswerInfo;
  "/api/v1/chats": ChatBrief;
  "/api/v1/datasets": DatasetBrief;
  "/api/v1/engines": EngineBrief;
  "/api/v1/experiments": ExperimentInfo;
  "/api/v1/jobs": Job;
  "/api/v1/models": ModelBrief;
  "/api/v1/synthesizers": SynthesizerInfo;
}
type Path = keyof Entries;

const PART = 1000; // entries that the server gives at once
const MOST = 5000; // entries that the page takes

/** The entries of a list, part by part. */
export async function entries<P extends Path>(
  path: P,
  signal: AbortSignal,
  most = MOST,
): Promise<Entries[P][]> {
  const found: Entries[P][] = [];
  for (let after = ""; found.length < most; ) {
    const response = await raw(`${path}?count=${PART}${after && `&after=${after}`}`, { signal });
    found.push(...((await response.json()) as Entries[P][]));
    after = response.headers.get("Compass-Next") ?? "";
    if (!after) break;
  }
  return found;
}

interface Options<Entry> {
  /** In milliseconds, or how it depends on what is known. */
  refetchInterval?: number | false | ((known: Entry[] | undefined) => number | false);
  refetchOnMount?: "always";
}

/** A list as a hook, under the key that other requests for its path have too. */
export function useList<P extends Path>(
  path: P,
  { refetchInterval: again = false, ...options }: Options<Entries[P]> = {},
) {
  return useQuery({
    queryKey: ["get", path],
    queryFn: ({ signal }) => entries(path, signal),
    refetchInterval: typeof again === "function" ? ({ state }) => again(state.data) : again,
    ...options,
  });
}
