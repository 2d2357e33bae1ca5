/** The server, by the document it was generated from. */
import createFetch from "openapi-fetch";
import createQueries from "openapi-react-query";
import { Failed, isProblem, OFFLINE, problem } from "./problem";
import type { paths } from "./schema";
import { addKey, keyOfAnyTab, keyRefused, session, tokenRefused } from "./session";

const BASE = new URL("./", document.baseURI).href.replace(/\/$/, "");
const PATIENCE = 5; // times that a busy server is asked again

let making: Promise<string> | null = null;

/** The key of this browser's workspace; the first visit makes one. */
async function key(): Promise<string> {
  const known = keyOfAnyTab();
  if (known !== null) return known;
  making ??= (async () => {
    const made = await plain("/api/v1/workspaces", { method: "POST" });
    if (!made.ok) throw await failure(made);
    const given = (await made.json()) as { key: string };
    addKey(given.key);
    return given.key;
  })().finally(() => {
    making = null;
  });
  return making;
}

function plain(path: string, init: RequestInit): Promise<Response> {
  const headers = new Headers(init.headers);
  const token = session.token();
  if (token !== null) headers.set("Authorization", `Bearer ${token}`);
  return fetch(`${BASE}${path}`, { ...init, headers });
}

/** What a response says went wrong. */
export async function failure(response: Response): Promise<Failed> {
  const text = await response.text();
  let told: unknown = null;
  try {
    told = JSON.parse(text);
  } catch {
    // a proxy in between speaks HTML
  }
  if (isProblem(told) && told.code === "no-token") tokenRefused();
  if (isProblem(told)) return new Failed(told, response.status);
  const said = problem(`the server answered ${response.status}`, "try it again in a moment");
  return new Failed(said, response.status);
}

/** One request with everything that each needs: headers, patience, and failures as problems. */
export async function request(given: Request): Promise<Response> {
  for (let attempt = 1; ; attempt += 1) {
    const again = given.clone();
    const mine = await key();
    again.headers.set("Compass-Workspace", mine);
    const token = session.token();
    if (token !== null) again.headers.set("Authorization", `Bearer ${token}`);
    let response: Response;
    try {
      response = await fetch(again);
    } catch (error) {
      if (given.signal.aborted) throw error;
      throw new Failed(OFFLINE);
    }
    if (response.ok) return response;
    const wait = Number(response.headers.get("Retry-After")); // of a busy server, or a file to come
    if (wait > 0 && attempt < PATIENCE) {
      await new Promise((done) => setTimeout(done, Math.min(wait, 10) * 1000));
      continue;
    }
    const failed = await failure(response);
    if (failed.problem.code === "no-workspace" && attempt < PATIENCE) {
      keyRefused(mine);
      continue;
    }
    throw failed;
  }
}

export const api = createFetch<paths>({ baseUrl: BASE, fetch: request });

/** The same as hooks: `$api.useQuery("get", "/api/v1/engines")`. Errors are thrown as Failed. */
export const $api = createQueries(api);

/** A request whose body is no JSON, such as an export. */
export function raw(path: string, init: RequestInit = {}): Promise<Response> {
  return request(new Request(`${BASE}${path}`, init));
}

/** The data of a response; failures have been thrown before. */
export function data<T>(response: { data?: T }): T {
  return response.data as T;
}

/** Where a path of the API is, and the headers it needs: for uploads that report progress. */
export async function signed(path: string): Promise<{ url: string; headers: [string, string][] }> {
  const headers: [string, string][] = [["Compass-Workspace", await key()]];
  const token = session.token();
  if (token !== null) headers.push(["Authorization", `Bearer ${token}`]);
  return { url: `${BASE}${path}`, headers };
}
